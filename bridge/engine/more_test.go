package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// longer is a request that offers every decision.
func longer(command string) bridge.Request {
	r := shell(command)
	r.Session, r.Approval.Decisions = "s", []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason,
		bridge.DecideDenyAlways, bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways}
	return r
}

// more opens the menu of a card.
func (w *world) more(who string, v bridge.View, channel string) (bridge.Form, bridge.Verdict) {
	w.t.Helper()
	return w.form(who, channel, v.Token(bridge.ActionMore, 0, 0))
}

func (w *world) form(who, channel, token string) (bridge.Form, bridge.Verdict) {
	w.t.Helper()
	f, v, err := w.engine.Form(w.t.Context(), bridge.Click{Token: token, Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
		Ref: bridge.MessageRef{Channel: channel}})
	if err != nil {
		w.t.Fatal(err)
	}
	return f, v
}

// decide clicks a decision below its text.
func (w *world) decide(who string, v bridge.View, channel string, d bridge.Decision, typed string) bridge.Verdict {
	w.t.Helper()
	i := v.Record.Interaction
	n := slices.Index(i.Decisions(), d)
	return w.click(who, channel, v.Token(bridge.ActionSubmit, n, bridge.OptionDecide), typed, i.ID)
}

// TestMoreDecides checks that a decision below its text counts, and that a
// button that decides at once does too.
func TestMoreDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	for d, want := range map[bridge.Decision]bridge.Response{
		bridge.DecideSession:    {State: bridge.StateApproved, Scope: bridge.ScopeSession},
		bridge.DecideAlways:     {State: bridge.StateApproved, Scope: bridge.ScopeAlways},
		bridge.DecideDenyAlways: {State: bridge.StateDenied, Scope: bridge.ScopeAlways},
		bridge.DecideDenyStop:   {State: bridge.StateDenied, Stop: true},
	} {
		for _, atOnce := range []bool{false, true} {
			req := longer("make " + string(d))
			req.Approval.Where = map[bool]string{true: "/once", false: "/menu"}[atOnce] // which no grant covers
			req.Session = string(d) + req.Approval.Where                                // which a stop does not reach
			id := w.open(agentCI, req).Interaction.ID
			v := w.drawn(id, "C1")
			f, verdict := w.more("ana", v, "C1")
			if verdict.Kind != "" || f.DenyOnly {
				t.Fatalf("the menu: %+v, %+v", f.DenyOnly, verdict)
			}
			if atOnce {
				n := slices.Index(v.Record.Interaction.Decisions(), d)
				w.click("ana", "C1", v.Token(bridge.ActionChoose, 0, n), "", id)
			} else {
				w.decide("ana", f.View, "C1", d, "")
			}
			r := w.state(id, want.State).Response
			if r.Scope != want.Scope || r.Stop != want.Stop || d == bridge.DecideSession && len(r.Covers) == 0 {
				t.Errorf("%s, at once %t: %+v", d, atOnce, r)
			}
		}
	}
}

// TestMoreConfirm checks that a longer approval needs the typed confirmation, and
// that its denials do not.
func TestMoreConfirm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	req := longer("make x")
	req.Approval.Confirm = "prod"
	id := w.open(agentCI, req).Interaction.ID
	v := w.drawn(id, "C1")
	for _, typed := range []string{"", "pro"} {
		w.said(w.decide("ana", v, "C1", bridge.DecideSession, typed), bridge.VerdictInvalid, "Type exactly")
	}
	w.said(w.click("ana", "C1", v.Token(bridge.ActionChoose, 0, 5), "", id), bridge.VerdictUnknown, "")
	w.state(id, bridge.StatePending)
	w.decide("ana", v, "C1", bridge.DecideSession, "prod")
	w.state(id, bridge.StateApproved)
	id = w.open(agentCI, func() bridge.Request { req.Approval.Where = "/two"; return req }()).Interaction.ID
	w.decide("ana", w.drawn(id, "C1"), "C1", bridge.DecideDenyAlways, "not <here>")
	if r := w.state(id, bridge.StateDenied).Response; r.Reason != "not <here>" {
		t.Errorf("the reason is %q", r.Reason)
	}
}

// TestMoreOfStrangers checks who can open the menu and decide in it: no one who
// may not respond, and people who may only deny get only denials.
func TestMoreOfStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	req := longer("make x")
	req.Requester = "ana"
	id := w.open(agentCI, req).Interaction.ID
	v := w.drawn(id, "C1")
	_, verdict := w.more("eve", v, "C1")
	w.said(verdict, bridge.VerdictForbidden, "")
	_, verdict = w.more("bo", v, "C2")
	w.said(verdict, bridge.VerdictUnknown, "")
	if f, verdict := w.more("ana", v, "C1"); verdict.Kind != "" || !f.DenyOnly {
		t.Errorf("the requester's menu: deny only %t, %+v", f.DenyOnly, verdict)
	}
	if f, verdict := w.more("bo", v, "C1"); verdict.Kind != "" || f.DenyOnly {
		t.Errorf("another one's menu: deny only %t, %+v", f.DenyOnly, verdict)
	}
	for _, d := range []bridge.Decision{bridge.DecideSession, bridge.DecideAlways} {
		n := slices.Index(v.Record.Interaction.Decisions(), d)
		_, verdict = w.form("ana", "C1", v.Token(bridge.ActionInput, n, bridge.OptionDecide))
		w.said(verdict, bridge.VerdictForbidden, "your own request")
		w.said(w.decide("ana", v, "C1", d, ""), bridge.VerdictForbidden, "your own request")
		w.said(w.decide("eve", v, "C1", d, ""), bridge.VerdictForbidden, "")
	}
	w.state(id, bridge.StatePending)
	w.decide("ana", v, "C1", bridge.DecideDenyStop, "")
	w.state(id, bridge.StateDenied)
}

// TestMoreWithoutDenials checks that the menu stays closed to people for whom it
// would be empty.
func TestMoreWithoutDenials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	req := longer("make x")
	req.Requester, req.Approval.Decisions = "ana", []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideSession}
	v := w.drawn(w.open(agentCI, req).Interaction.ID, "C1")
	_, verdict := w.more("ana", v, "C1")
	w.said(verdict, bridge.VerdictForbidden, "your own request")
	req.Requester, req.Approval.Decisions = "", []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce}
	v = w.drawn(w.open(agentCI, req).Interaction.ID, "C1")
	_, verdict = w.more("ana", v, "C1")
	w.said(verdict, bridge.VerdictUnknown, "")
}

// TestMoreOutdated checks that requirements which change between the menu and
// the decision refuse an approval with the reason, and not a denial.
func TestMoreOutdated(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = ruledBy(bridge.Ruling{})
	w := newWorld(t, s)
	id := w.open(agentCI, longer("make x")).Interaction.ID
	v := w.drawn(id, "C1")
	f, _ := w.more("ana", v, "C1")
	next := newSetup()
	next.policy = ruledBy(bridge.Ruling{GrantFor: bridge.Duration(time.Hour), Risk: "critical"})
	w.reload(next)
	w.said(w.decide("ana", f.View, "C1", bridge.DecideSession, ""), bridge.VerdictForbidden, "rules changed")
	w.said(w.decide("ana", f.View, "C1", bridge.DecideSession, ""), bridge.VerdictForbidden, "requirements have changed")
	if f, verdict := w.more("ana", v, "C1"); verdict.Kind != "" || !f.DenyOnly {
		t.Errorf("the menu of the old card: deny only %t, %+v", f.DenyOnly, verdict)
	}
	w.state(id, bridge.StatePending)
	f, _ = w.more("ana", w.drawn(id, "C1"), "C1")
	w.decide("ana", f.View, "C1", bridge.DecideSession, "")
	if r := w.state(id, bridge.StateApproved).Response; len(r.Covers) != 1 || !strings.HasPrefix(r.Covers[0], "For 1 hour") {
		t.Errorf("it covers %q", r.Covers)
	}
}

// TestMessageOfMenu checks that a decision on a private message names the card.
func TestMessageOfMenu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	rec := w.open(agentCI, longer("make x"))
	v := w.drawn(rec.Interaction.ID, "C1")
	n := slices.Index(rec.Interaction.Decisions(), bridge.DecideSession)
	_, err := w.engine.Click(t.Context(), bridge.Click{Token: v.Token(bridge.ActionSubmit, n, bridge.OptionDecide),
		Actor: bridge.Actor{Platform: "chat", User: "U-ana"}, Ref: bridge.MessageRef{Channel: "C1"}})
	if err != nil {
		t.Fatal(err)
	}
	if m := w.state(rec.Interaction.ID, bridge.StateApproved).Response.Message; m == nil || *m != rec.Messages[0] {
		t.Errorf("the message is %+v; want %+v", m, rec.Messages[0])
	}
}
