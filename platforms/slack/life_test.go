package slack_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/render"
)

// stage is a workspace on the sandbox whose clicks go to a sink of the test.
type stage struct {
	*testing.T
	*platformtest.Rig
	slack *slack.Platform
	sink  *platformtest.Recorder
}

// newStage starts a workspace.
func newStage(t *testing.T) *stage {
	t.Helper()
	sink := &platformtest.Recorder{}
	r := platformtest.New(t, harness, platformtest.Options{Sink: sink, Still: true})
	return &stage{t, r, r.Platform.(*slack.Platform), sink}
}

// through replaces the platform with one whose calls take another path.
func (s *stage) through(transport http.RoundTripper) {
	s.Helper()
	p, err := slack.New(slack.Options{
		Name: "slack", BotToken: sandbox.SlackBotToken, AppToken: sandbox.SlackAppToken, APIURL: s.Base + "/slack/api/",
		HTTPClient: &http.Client{Transport: transport}, NoPacing: true,
	})
	if err != nil {
		s.Fatal(err)
	}
	s.slack, s.Platform = p, p
}

// connect receives clicks until the test ends.
func (s *stage) connect() *stage {
	s.Helper()
	s.Rig.Run(s.sink)
	s.Connected()
	return s
}

// approval is a pending request to run a command.
func approval(command string) bridge.Record {
	input, _ := json.Marshal(map[string]string{"command": command}) // a string always marshals
	return bridge.Record{State: bridge.StatePending, Revision: 1, Interaction: bridge.Interaction{
		ID: bridge.ID(uuid.NewString()),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?",
			Approval: &bridge.Approval{Tool: "bash", Input: input, Scopes: []bridge.Scope{bridge.ScopeOnce}},
		},
		Agent:     "tester",
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "slack", Channel: sandbox.SlackChannel}}},
		Schedule:  bridge.Schedule{Created: time.Now(), Deadline: time.Now().Add(time.Hour)},
		Digest:    strings.Repeat("0123456789abcdef", 4),
	}}
}

// approved is the record once a person has approved it.
func approved(r bridge.Record) bridge.Record {
	r.State, r.Revision = bridge.StateApproved, r.Revision+1
	r.Response = &bridge.Response{
		State: bridge.StateApproved, At: time.Now(), Digest: r.Interaction.Digest, Scope: bridge.ScopeOnce,
		Actor: &bridge.Actor{Platform: "slack", User: "U0ANA00001", Name: "Ana", Person: "ana"},
	}
	return r
}

func (s *stage) view(r bridge.Record) bridge.View { return bridge.NewView(r, 0, nil, s.Keys.Sign) }

// posts posts the card of a record to a thread, or to the channel if thread is
// empty.
func (s *stage) posts(r bridge.Record, thread string) bridge.MessageRef {
	s.Helper()
	d := r.Interaction.Destinations[0]
	d.Thread = thread
	return s.post(d, r)
}

// post posts the card of a record to a destination.
func (s *stage) post(d bridge.Destination, r bridge.Record) bridge.MessageRef {
	s.Helper()
	ref, err := s.slack.Post(s.Context(), d, s.view(r), bridge.NewParts(nil, nil))
	if err != nil {
		s.Fatal(err)
	}
	return ref
}

// TestThreadIsGone checks that cards and reminders reach the channel if their
// thread does not take them.
func TestThreadIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	root := s.posts(approval("one"), "")
	in, err := s.slack.Thread(s.Context(), bridge.Destination{Platform: "slack", Channel: root.Channel}, root, "")
	if err != nil {
		t.Fatal(err)
	}
	if ref := s.posts(approval("two"), in.Thread); ref.Thread != root.Message {
		t.Errorf("the second card is in the thread %q", ref.Thread)
	}
	s.Fault(sandbox.Fault{Kind: "thread_locked", Method: sandbox.SlackChannel})
	ref := s.posts(approval("three"), in.Thread)
	if ref.Thread != "" || s.Sandbox.Message(s.Place(ref))["thread_ts"] != nil {
		t.Errorf("with a locked thread, the card is at %+v", ref)
	}
	before := len(s.Messages())
	err = s.slack.Remind(s.Context(), in, root, bridge.Reminder{Users: []string{"U0ANA00001"}, Text: "still waiting"})
	if err != nil || len(s.Messages()) != before+1 {
		t.Errorf("the reminder of a card with a locked thread: %v", err)
	}
	s.Sandbox.ClearFaults()
	lone := s.posts(approval("four"), "")
	if _, err := s.Sandbox.Act(t.Context(), sandbox.Action{
		Service: "slack", As: "ana", Do: "delete", Channel: lone.Channel, Message: lone.Message,
	}); err != nil {
		t.Fatal(err)
	}
	if ref := s.posts(approval("five"), lone.Message); ref.Thread != "" {
		t.Errorf("Slack put the card into the channel, and nod into the thread %q", ref.Thread)
	}
	if ref := s.posts(approval("six"), "1.000001"); ref.Thread != "" {
		t.Errorf("with a thread that never was, the card is in %q", ref.Thread)
	}
}

// notes are the ephemeral replies to a person.
func (s *stage) notes(who string) string {
	return strings.Join(s.Sandbox.Person(who).Notes("slack"), "\n")
}

// TestAcknowledgesFirst checks that Slack has the acknowledgment of a click
// before nod tells the person anything: Slack may be slow to take a note, and
// the person would be warned that the app did not answer.
func TestAcknowledgesFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	notes := &held{until: make(chan struct{})}
	s.through(notes)
	s.connect()
	at := s.Place(s.posts(approval("make deploy"), ""))
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "not you"}, nil
	})
	s.Press("mal", at, render.LabelRun)
	if notes.lost.Load() {
		t.Error("nod told the person first")
	}
	close(notes.until)
	s.Eventually("the note arrives", func() bool { return strings.Contains(s.notes("mal"), "not you") })
}

// held is a transport that holds notes back.
type held struct {
	until chan struct{}
	lost  atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (h *held) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "chat.postEphemeral") {
		select {
		case <-h.until:
		case <-r.Context().Done():
			h.lost.Store(true)
			return nil, r.Context().Err()
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestNoteToOutsider checks that a person who is not in the channel is told
// the outcome of the click, in the words that were meant.
func TestNoteToOutsider(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	at := s.Place(s.posts(approval("make deploy"), ""))
	const note = "Not *you*: run `rm -rf _x_` & <@U0ANA00001>"
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note + "\u202e"}, nil
	})
	s.Fault(sandbox.Fault{Kind: "not_member", Method: "U0MAL00004"})
	for _, who := range []string{"mal", "bo"} {
		if _, err := s.Sandbox.Person(who).Press(t.Context(), at, render.LabelRun); err != nil {
			t.Fatal(err)
		}
		s.Eventually(who+" is told", func() bool { return strings.Contains(s.notes(who), note) })
	}
	if n := len(s.Messages()); n != 1 {
		t.Errorf("the channel has %d messages", n)
	}
	if strings.Contains(s.notes("mal")+s.notes("bo"), "\u202e") {
		t.Error("a note has a character that people cannot see")
	}
}

// TestRedrawKeepsChoice checks that a card which is drawn again, for instance
// after a vote, keeps what a person has chosen and not sent yet.
func TestRedrawKeepsChoice(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := approval("")
	r.Interaction.Kind, r.Interaction.Approval = bridge.KindAsk, nil
	r.Interaction.Questions = []bridge.Question{{ID: "q", Text: "Where?", Widget: bridge.WidgetRadio, Options: []bridge.Option{
		{Value: "a", Label: "Staging"}, {Value: "b", Label: "Production"},
	}}}
	ref := s.posts(r, "")
	input := s.Controls(s.Place(ref))[0]
	if _, err := s.Sandbox.Act(t.Context(), sandbox.Action{
		Service: "slack", As: "ana", Do: "enter", Channel: ref.Channel, Message: ref.Message,
		Values: map[string][]string{input.ID: {"1"}},
	}); err != nil {
		t.Fatal(err)
	}
	r.Revision++
	if err := s.slack.Update(t.Context(), ref, s.view(r), bridge.NewParts(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sandbox.Person("ana").Press(t.Context(), s.Place(ref), "Submit"); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the click arrives", func() bool { return len(s.sink.Clicks()) > 0 })
	if got := s.sink.Clicks()[0].Inputs[0].Options; !slices.Equal(got, []int{1}) {
		t.Errorf("the click sends the options %v", got)
	}
}
