package slack_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// homeDesk is a sink that shows one person an overview.
type homeDesk struct {
	*platformtest.Recorder
	mu      sync.Mutex
	all     bridge.Overview
	changes int
	revoked []string
}

// Overview implements bridge.Desk.
func (d *homeDesk) Overview(_ context.Context, who bridge.Actor, _ int) (bridge.Overview, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if who.User != "U0ANA00001" {
		return bridge.Overview{}, nil
	}
	return d.all, nil
}

// Changes implements bridge.Desk.
func (d *homeDesk) Changes(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprint(d.changes), nil
}

// RevokeAs implements bridge.Desk.
func (d *homeDesk) RevokeAs(_ context.Context, _ bridge.Actor, grant string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.revoked = append(d.revoked, grant)
	d.all.Grants = nil
	return "Revoked.", nil
}

// set changes what ana sees.
func (d *homeDesk) set(change func(*bridge.Overview)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.all)
	d.changes++
}

// atHome starts a workspace whose sink shows an overview.
func atHome(t *testing.T) (*stage, *homeDesk) {
	t.Helper()
	s := newStage(t)
	d := &homeDesk{Recorder: s.sink}
	s.Rig.Run(d)
	s.Connected()
	return s, d
}

// waits returns a request as the Home tab gets it.
func (s *stage) waits(r bridge.Record) bridge.Waiting {
	return bridge.Waiting{View: s.view(r), Card: bridge.MessageRef{Channel: sandbox.SlackChannel, Message: "1795356000.000100"}}
}

// tab returns the Home tab of a person.
func (s *stage) tab(user string) sandbox.ViewState {
	s.Helper()
	for _, v := range s.Sandbox.State().Slack.Homes {
		if v.User == user {
			return v
		}
	}
	s.Fatalf("%s has no Home tab", user)
	return sandbox.ViewState{}
}

// press clicks a button of ana's Home tab.
func (s *stage) pressHome(label string) sandbox.Reaction {
	s.Helper()
	tab := s.tab("U0ANA00001")
	for _, c := range sandbox.Controls("slack", tab.View) {
		if c.Label == label {
			r, err := s.Sandbox.Act(s.Context(), sandbox.Action{Service: "slack", As: "ana", Do: "press", View: tab.ID, Control: c.ID})
			if err != nil || r.Warning != "" {
				s.Fatalf("%s: %v %s", label, err, r.Warning)
			}
			return r
		}
	}
	s.Fatalf("no button %q in %s", label, sandbox.Texts(tab.View))
	return sandbox.Reaction{}
}

// home returns everything that a person reads in the Home tab when it is opened.
func (s *stage) home(who string) string {
	s.Helper()
	said, err := s.Sandbox.Person(who).Home(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return said
}

// TestHome checks that the Home tab shows the requests, the grants and the
// decisions of the person who opens it, and of no one else.
func TestHome(t *testing.T) {
	t.Parallel()
	s, d := atHome(t)
	grant := bridge.Grant{
		Agent: "tester", Key: "exact:1", Origin: "o", Covers: "tester may run make test.", Expires: time.Now().Add(time.Hour),
		At: time.Now(), Givers: []bridge.Actor{{Person: "ana"}}, Actor: bridge.Actor{Person: "ana"},
	}
	d.set(func(o *bridge.Overview) {
		o.Waiting = []bridge.Waiting{s.waits(approval("make deploy"))}
		o.Grants, o.Decided = []bridge.Grant{grant}, []bridge.Record{approved(approval("make build"))}
	})
	said := s.home("ana")
	for _, want := range []string{"1 pending request", "make deploy", "may run make test", "Approved by ana", "make build"} {
		if !strings.Contains(said, want) {
			t.Errorf("ana does not read %q in %s", want, said)
		}
	}
	if said := s.home("mal"); !strings.Contains(said, "No pending requests") || strings.Contains(said, "make") {
		t.Errorf("mal reads %s", said)
	}
	s.pressHome("Revoke…")
	s.Eventually("ana reads the reply", func() bool { return strings.Contains(sandbox.Texts(s.tab("U0ANA00001").View), "Revoked.") })
	if !slices.Equal(d.revoked, []string{grant.ID()}) || strings.Contains(sandbox.Texts(s.tab("U0ANA00001").View), "may run make test") {
		t.Errorf("revoked %q", d.revoked)
	}
}

// TestDecideAtHome checks that a click in the Home tab decides its request, and
// that the tab shows the outcome of it.
func TestDecideAtHome(t *testing.T) {
	t.Parallel()
	s, d := atHome(t)
	r := approval("make deploy")
	d.set(func(o *bridge.Overview) { o.Waiting = []bridge.Waiting{s.waits(r)} })
	s.home("ana")
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "Not *you* <b>."}, nil
	})
	s.pressHome(render.LabelRun)
	s.Eventually("ana reads the note", func() bool { return strings.Contains(sandbox.Texts(s.tab("U0ANA00001").View), "Not *you* <b>.") })
	c := s.sink.Clicks()[0]
	control, err := s.Keys.Verify(c.Token)
	if err != nil || control.Interaction != r.Interaction.ID || c.Ref != (bridge.MessageRef{}) || c.Actor.User != "U0ANA00001" {
		t.Errorf("the click is %+v, %v", c, err)
	}
	s.sink.Shows(bridge.Form{View: s.view(r), Control: bridge.Control{Interaction: r.Interaction.ID, Option: bridge.OptionReason}}, nil)
	if opened := s.pressHome(render.LabelDenyReason); opened.Modal == "" {
		t.Error("no dialog opens")
	}
}

// TestInputsAtHome checks that a click sends the values of its own request, and
// not those of the others on the tab.
func TestInputsAtHome(t *testing.T) {
	t.Parallel()
	s, d := atHome(t)
	var both []bridge.Waiting
	for _, prompt := range []string{"Where first?", "Where then?"} {
		r := approval("")
		r.Interaction.Kind, r.Interaction.Approval, r.Interaction.Prompt = bridge.KindAsk, nil, prompt
		r.Interaction.Questions = []bridge.Question{{ID: "q", Text: prompt, Widget: bridge.WidgetRadio, Options: []bridge.Option{
			{Value: "a", Label: "Staging"}, {Value: "b", Label: "Production"},
		}}}
		both = append(both, s.waits(r))
	}
	d.set(func(o *bridge.Overview) { o.Waiting = both })
	s.home("ana")
	tab := s.tab("U0ANA00001")
	var submits, inputs []string
	for _, c := range sandbox.Controls("slack", tab.View) {
		switch {
		case c.Kind == "select":
			inputs = append(inputs, c.ID)
		case c.Label == render.LabelSubmit, c.Label == render.LabelOK:
			submits = append(submits, c.ID)
		}
	}
	if len(submits) != 2 || len(inputs) != 2 {
		t.Fatalf("buttons %q, inputs %q", submits, inputs)
	}
	if _, err := s.Sandbox.Act(t.Context(), sandbox.Action{
		Service: "slack", As: "ana", Do: "press", View: tab.ID, Control: submits[1],
		Values: map[string][]string{inputs[0]: {"0"}, inputs[1]: {"1"}},
	}); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the click arrives", func() bool { return len(s.sink.Clicks()) > 0 })
	c := s.sink.Clicks()[0]
	want := both[1].View.Record.Interaction.ID
	if control, _ := s.Keys.Verify(c.Token); control.Interaction != want || !slices.Equal(c.Inputs[0].Options, []int{1}) {
		t.Errorf("the click is %+v", c)
	}
}

// TestHomeShowsWhole checks that the Home tab offers a decision only for what it
// shows in full, and offers none when Slack drops a part of it.
func TestHomeShowsWhole(t *testing.T) {
	t.Parallel()
	s, d := atHome(t)
	elsewhere, long := s.waits(approval("make elsewhere")), s.waits(approval(strings.Repeat("make long; ", 400)))
	elsewhere.Elsewhere = true
	d.set(func(o *bridge.Overview) { o.Waiting = []bridge.Waiting{elsewhere, long} })
	s.home("ana")
	for _, c := range sandbox.Controls("slack", s.tab("U0ANA00001").View) {
		if c.Label != "Open request" {
			t.Errorf("the tab offers %q", c.Label)
		}
	}
	d.set(func(o *bridge.Overview) { o.Waiting = []bridge.Waiting{s.waits(approval("make deploy"))} })
	s.Fault(sandbox.Fault{Method: "views.publish", Kind: "strip"})
	s.home("ana")
	s.Sandbox.ClearFaults()
	for _, c := range sandbox.Controls("slack", s.tab("U0ANA00001").View) {
		if c.Label != "Open request" {
			t.Errorf("the tab does not show everything, but offers %q", c.Label)
		}
	}
}

// TestHomeIsKept checks that the Home tab of a person who has it open follows
// changes, even if Slack limits the rate.
func TestHomeIsKept(t *testing.T) {
	t.Parallel()
	s, d := atHome(t)
	s.home("ana")
	d.set(func(o *bridge.Overview) { o.Waiting = []bridge.Waiting{s.waits(approval("make later"))} })
	s.Fault(sandbox.Fault{Method: "views.publish", Kind: "rate_limit", RetryAfter: 1, Count: 1})
	s.Eventually("the tab follows", func() bool { return strings.Contains(sandbox.Texts(s.tab("U0ANA00001").View), "make later") })
}

// TestLongHome checks that Slack accepts the Home tab however much there is.
func TestLongHome(t *testing.T) {
	t.Parallel()
	s, d := atHome(t)
	d.set(func(o *bridge.Overview) {
		o.More = true
		for n := range 40 {
			o.Waiting = append(o.Waiting, s.waits(approval(fmt.Sprintf("make %d # %s", n, strings.Repeat("&<>", 300)))))
			o.Decided = append(o.Decided, approved(approval("make "+strings.Repeat("<", 2000))))
			o.Grants = append(o.Grants, bridge.Grant{
				Agent: "tester", Key: fmt.Sprintf("exact:%d", n), Covers: strings.Repeat("<covers> ", n*4), At: time.Now(),
				Givers: []bridge.Actor{{Person: "ana"}},
			})
		}
	})
	said := ""
	s.Eventually("ana reads the tab", func() bool { // a busy machine may need longer than a click has
		said = s.home("ana")
		return said != ""
	})
	for _, want := range []string{"Run this command?", "More requests wait", "more are not shown", "Recent decisions", "As of"} {
		if !strings.Contains(said, want) {
			t.Errorf("ana does not read %q in %d characters", want, len(said))
		}
	}
	if n := len(s.tab("U0ANA00001").View["blocks"].([]any)); n > 100 {
		t.Errorf("%d blocks", n)
	}
}
