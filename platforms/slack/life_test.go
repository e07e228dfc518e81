package slack_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
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
	sandbox *sandbox.Sandbox
	url     string
	slack   *slack.Platform
	sink    *platformtest.Recorder
	keys    bridge.Keyring
}

// newStage starts a workspace. If limited, it applies Slack's limits and nod's
// own pace.
func newStage(t *testing.T, limited bool) *stage {
	t.Helper()
	keys, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	s := sandbox.New(sandbox.Options{NoLimits: !limited, Clock: sandbox.NewClock()})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	p, err := newPlatform(platformtest.Setup{URL: server.URL, Sandbox: s, Paced: limited, Turns: platformtest.NewTurns(t)})
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t, s, server.URL, p.(*slack.Platform), &platformtest.Recorder{}, keys}
}

// connect receives clicks until the test ends.
func (s *stage) connect() *stage {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.slack.Run(ctx, s.sink) }()
	s.Cleanup(func() { stop(); <-ended })
	s.until("the platform connects", func() bool { return s.slack.Health().State == bridge.HealthUp })
	return s
}

// until waits until ok holds.
func (s *stage) until(what string, ok func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for !ok() {
		if !bridge.Pause(ctx, 5*time.Millisecond) {
			s.Fatalf("%s: not in time", what)
		}
	}
}

func (s *stage) fault(f sandbox.Fault) {
	f.Service = "slack"
	s.sandbox.AddFault(f)
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

func (s *stage) view(r bridge.Record) bridge.View { return bridge.NewView(r, 0, nil, s.keys.Sign) }

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

// messages are those in the channel, oldest first.
func (s *stage) messages() []map[string]any { return s.channel(sandbox.SlackChannel) }

// channel returns the messages of a channel, oldest first.
func (s *stage) channel(id string) []map[string]any {
	all := s.sandbox.State().Slack.Channels
	n := slices.IndexFunc(all, func(c sandbox.ChatState) bool { return c.ID == id })
	return all[n].Messages
}

func (s *stage) at(ref bridge.MessageRef) sandbox.Place {
	return sandbox.Place{Service: "slack", Channel: ref.Channel, Message: ref.Message}
}

// TestThreadIsGone checks that cards and reminders reach the channel if their
// thread does not take them.
func TestThreadIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, false)
	root := s.posts(approval("one"), "")
	in, err := s.slack.Thread(s.Context(), bridge.Destination{Platform: "slack", Channel: root.Channel}, root, "")
	if err != nil {
		t.Fatal(err)
	}
	if ref := s.posts(approval("two"), in.Thread); ref.Thread != root.Message {
		t.Errorf("the second card is in the thread %q", ref.Thread)
	}
	s.fault(sandbox.Fault{Kind: "thread_locked", Method: sandbox.SlackChannel})
	ref := s.posts(approval("three"), in.Thread)
	if ref.Thread != "" || s.sandbox.Message(s.at(ref))["thread_ts"] != nil {
		t.Errorf("with a locked thread, the card is at %+v", ref)
	}
	before := len(s.messages())
	err = s.slack.Remind(s.Context(), in, root, bridge.Reminder{Users: []string{"U0ANA00001"}, Text: "still waiting"})
	if err != nil || len(s.messages()) != before+1 {
		t.Errorf("the reminder of a card with a locked thread: %v", err)
	}
	s.sandbox.ClearFaults()
	lone := s.posts(approval("four"), "")
	if _, err := s.sandbox.Act(t.Context(), sandbox.Action{
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
	return strings.Join(s.sandbox.Person(who).Notes("slack"), "\n")
}

// TestAcknowledgesFirst checks that Slack has the acknowledgment of a click
// before nod tells the person anything: Slack may be slow to take a note, and
// the person would be warned that the app did not answer.
func TestAcknowledgesFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, false).connect()
	at := s.at(s.posts(approval("make deploy"), ""))
	s.fault(sandbox.Fault{Method: "chat.postEphemeral", Kind: "delay", Delay: 3500 * time.Millisecond, Count: 3})
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "not you"}, nil
	})
	r, err := s.sandbox.Person("mal").Press(t.Context(), at, render.LabelRun)
	for n := 0; n < 2 && r.Unanswered(); n++ { // on a busy machine, a click may fail for another reason
		r, err = s.sandbox.Person("mal").Press(t.Context(), at, render.LabelRun)
	}
	if err != nil || r.Warning != "" {
		t.Errorf("the client warns %q, %v", r.Warning, err)
	}
	s.until("the note arrives", func() bool { return strings.Contains(s.notes("mal"), "not you") })
}

// TestNoteToOutsider checks that a person who is not in the channel is told
// what became of the click, in the words that were meant.
func TestNoteToOutsider(t *testing.T) {
	t.Parallel()
	s := newStage(t, false).connect()
	at := s.at(s.posts(approval("make deploy"), ""))
	const note = "Not *you*: run `rm -rf _x_` & <@U0ANA00001>"
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note + "\u202e"}, nil
	})
	s.fault(sandbox.Fault{Kind: "not_member", Method: "U0MAL00004"})
	for _, who := range []string{"mal", "bo"} {
		if _, err := s.sandbox.Person(who).Press(t.Context(), at, render.LabelRun); err != nil {
			t.Fatal(err)
		}
		s.until(who+" is told", func() bool { return strings.Contains(s.notes(who), note) })
	}
	if n := len(s.messages()); n != 1 {
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
	s := newStage(t, false).connect()
	r := approval("")
	r.Interaction.Kind, r.Interaction.Approval = bridge.KindAsk, nil
	r.Interaction.Questions = []bridge.Question{{ID: "q", Text: "Where?", Widget: bridge.WidgetRadio, Options: []bridge.Option{
		{Value: "a", Label: "Staging"}, {Value: "b", Label: "Production"},
	}}}
	ref := s.posts(r, "")
	input := sandbox.Controls("slack", s.sandbox.Message(s.at(ref)))[0]
	if _, err := s.sandbox.Act(t.Context(), sandbox.Action{
		Service: "slack", As: "ana", Do: "enter", Channel: ref.Channel, Message: ref.Message,
		Values: map[string][]string{input.ID: {"1"}},
	}); err != nil {
		t.Fatal(err)
	}
	r.Revision++
	if err := s.slack.Update(t.Context(), ref, s.view(r), bridge.NewParts(nil, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.sandbox.Person("ana").Press(t.Context(), s.at(ref), "Submit"); err != nil {
		t.Fatal(err)
	}
	s.until("the click arrives", func() bool { return len(s.sink.Clicks()) > 0 })
	if got := s.sink.Clicks()[0].Inputs[0].Options; !slices.Equal(got, []int{1}) {
		t.Errorf("the click sends the options %v", got)
	}
}
