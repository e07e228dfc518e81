package slack_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestEveryMessage checks that what a person writes to nod reaches the sink or is
// answered, whatever kind of message it is.
func TestEveryMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	ref := s.posts(approval("make deploy"), "")
	act := func(do, channel, message, text string, subtype ...string) {
		t.Helper()
		a := sandbox.Action{Service: "slack", As: "ana", Do: do, Channel: channel, Message: message, Text: text}
		if len(subtype) > 0 {
			a.Values = map[string][]string{"subtype": subtype}
		}
		if _, err := s.Sandbox.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	replies := func(n int) []bridge.Said {
		t.Helper()
		s.Eventually("the reply arrives", func() bool { return len(s.sink.Replies()) == n })
		return s.sink.Replies()
	}
	act("reply", ref.Channel, ref.Message, "with a picture", "file_share")
	act("reply", ref.Channel, ref.Message, "", "file_share")
	act("reply", ref.Channel, ref.Message, "thinks so", "me_message")
	act("reply", ref.Channel, ref.Message, "to all", "thread_broadcast")
	got := replies(4)
	texts := ""
	for _, said := range got {
		texts += said.Text + ";"
	}
	if texts != "with a picture;;thinks so;to all;" {
		t.Errorf("the sink gets %q", texts)
	}
	act("edit", ref.Channel, got[0].Message, "something else")
	if edited := replies(5)[4]; edited.Standing != bridge.StandingEdited || edited.Message != got[0].Message || edited.Card != got[0].Card {
		t.Errorf("an edit is %+v", edited)
	}
	act("reply", ref.Channel, ref.Message, "it joined the channel", "channel_join")
	direct := s.post(bridge.Destination{Platform: "slack", Channel: "U0ANA00001"}, approval("ls")).Channel
	s.Fault(sandbox.Fault{Kind: "event_duplicate", Count: 1}) // Slack repeats what it has no acknowledgment of
	act("send", direct, "", "hello nod")
	s.Eventually("ana is told what nod takes", func() bool { return strings.Contains(s.notes("ana"), bridge.NoteToBot) })
	told := func() (n int) {
		for _, note := range s.Sandbox.Person("ana").Notes("slack") {
			n += strings.Count(note, bridge.NoteToBot) / 2 // in the text and in the blocks
		}
		return n
	}
	if n := told(); n != 1 {
		t.Errorf("ana is told %d times", n)
	}
	act("send", ref.Channel, "", "what is this, <@"+sandbox.SlackBotUser+">?")
	s.Eventually("ana is told again", func() bool { return told() == 2 })
	if n := len(s.sink.Replies()); n != 5 {
		t.Errorf("the sink gets %d replies", n)
	}
}

// TestDeletions checks that the sink learns which cards were deleted, and that no
// message from a person counts as one.
func TestDeletions(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	lone, root := s.posts(approval("ls"), ""), s.posts(approval("make"), "")
	s.posts(approval("make test"), root.Message)
	send := func(do, message string) {
		t.Helper()
		a := sandbox.Action{Service: "slack", As: "ana", Do: do, Channel: lone.Channel, Message: message, Text: "hello"}
		if _, err := s.Sandbox.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	send("send", "")
	all := s.Messages()
	send("delete", all[len(all)-1]["ts"].(string))
	send("delete", lone.Message)
	send("delete", root.Message) // a tombstone stays
	s.Eventually("both are reported", func() bool { return len(s.sink.Gone()) == 2 })
	for n, ref := range []bridge.MessageRef{lone, root} {
		if got := s.sink.Gone()[n]; got.Channel != ref.Channel || got.Message != ref.Message {
			t.Errorf("%+v was deleted, the sink gets %+v", ref, got)
		}
	}
}

// TestRivalSocket checks that the health names another program that takes a part of
// the clicks.
func TestRivalSocket(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a second look")
	}
	s := newStage(t)
	rival, err := newPlatform(platformtest.Setup{URL: s.Base, Sandbox: s.Sandbox})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rival.Run(ctx, platformtest.Refusing{}) }()
	s.Eventually("the rival connects", func() bool { return s.Sandbox.Connections("slack") == 1 })
	s.connect()
	s.Eventually("health names the rival", func() bool {
		h := s.slack.Health()
		return h.State == bridge.HealthDegraded && strings.Contains(h.Reason, "another program")
	})
	cancel()
	<-ended
}

// TestConvertedChannel checks that a card goes on in a channel that was made private:
// its ID stays, and the message that says so is no one's answer.
func TestConvertedChannel(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	ref := s.posts(approval("make deploy"), "")
	act := func(do, message, text string) {
		t.Helper()
		a := sandbox.Action{Service: "slack", As: "ana", Do: do, Channel: ref.Channel, Message: message, Text: text}
		if _, err := s.Sandbox.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	act("convert", "", "")
	act("reply", ref.Message, "and the tests?")
	s.Eventually("the reply arrives", func() bool { return len(s.sink.Replies()) > 0 })
	if got := s.sink.Replies(); len(got) != 1 || got[0].Text != "and the tests?" || got[0].Card.Thread != ref.Message {
		t.Errorf("the sink gets %+v", got)
	}
	if r, err := s.Sandbox.Person("ana").Press(t.Context(), s.Place(ref), render.LabelDeny); err != nil || !r.OK {
		t.Errorf("a click: %+v, %v", r, err)
	}
	next := s.posts(approval("make clean"), "")
	for _, at := range []bridge.MessageRef{ref, next} {
		if err := s.slack.Update(t.Context(), at, s.view(approval("make deploy")), nil); err != nil {
			t.Error(err)
		}
	}
}
