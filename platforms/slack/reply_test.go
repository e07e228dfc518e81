package slack_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestReplyToCard checks that what a person writes in the thread of a card
// reaches the engine as it was written, and that the person is told privately
// in the thread. Nothing else that is written in the channel reaches it.
func TestReplyToCard(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	ref := s.posts(approval("make deploy"), "")
	write := func(do, message, text string) {
		t.Helper()
		if _, err := s.Sandbox.Act(t.Context(), sandbox.Action{
			Service: "slack", As: "ana", Do: do, Channel: ref.Channel, Message: message, Text: text,
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("send", "", "good morning")
	all := s.Messages()
	write("reply", all[len(all)-1]["ts"].(string), "in the thread of a person")
	const text = `a <b> & "c" *d* &amp; @bo`
	write("reply", ref.Message, text)
	s.Eventually("the reply arrives", func() bool { return len(s.sink.Replies()) > 0 })
	got := s.sink.Replies()
	want := bridge.MessageRef{Channel: ref.Channel, Thread: ref.Message}
	if len(got) != 1 || got[0].Text != text || got[0].Card != want || got[0].Actor.User != "U0ANA00001" || got[0].Message == "" ||
		!got[0].After(ref) || got[0].After(bridge.MessageRef{Message: got[0].Message}) {
		t.Errorf("the engine gets %+v", got)
	}
	s.Eventually("ana is told", func() bool { return strings.Contains(s.notes("ana"), "not that") })
	for _, c := range s.Sandbox.Chats("slack") {
		for _, p := range c.Private {
			if p.Message["thread_ts"] != ref.Message {
				t.Errorf("the note is in the thread %v", p.Message["thread_ts"])
			}
		}
	}
	s.sink.Shows(bridge.Form{}, errors.New("no store"))
	write("reply", ref.Message, "again")
	s.Eventually("ana is told", func() bool { return strings.Contains(s.notes("ana"), bridge.NoteNotRecorded) })
}
