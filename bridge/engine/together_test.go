package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// opens lets something happen right before a request is stored.
type opens struct {
	core.Port
	first func()
}

func (o *opens) Open(ctx context.Context, x life.Opening, on ...broker.Version) (bridge.Record, bool, error) {
	if f := o.first; f != nil {
		o.first = nil
		f()
	}
	return o.Port.Open(ctx, x, on...)
}

func (w *world) revokeAll() {
	w.t.Helper()
	for _, g := range w.grants() {
		if _, err := w.engine.Grants.Revoke(w.t.Context(), g.Agent, g.ID(), "ana"); err != nil {
			w.t.Error(err)
		}
	}
}

// TestRevokedDuringOpening checks that a grant approves nothing that is stored after it
// was revoked.
func TestRevokedDuringOpening(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.decided(run("ls"), bridge.DecideAlways, "ana")
	w.mustPass("before", run("ls"))
	w.between = &opens{Port: w.store, first: func() { w.revokeAll() }}
	w.reload(w.setup)
	w.mustAsk("while the grant is revoked", run("ls"))
}

// settles lets something happen at resolutions whose nonce has a prefix: before
// them, or right before they are stored.
type settles struct {
	core.Port
	prefix       string
	before, last func()
}

func (o *settles) Resolve(ctx context.Context, s life.Resolution, also ...core.Also) (bridge.Record, bool, error) {
	if strings.HasPrefix(s.Nonce, o.prefix) {
		o.before()
		also = append(also, func(context.Context, bridge.Record) (broker.Change, error) {
			o.last()
			return broker.Change{}, nil
		})
	}
	return o.Port.Resolve(ctx, s, also...)
}

// TestRevokedDuringRelease checks that a new grant approves the pending requests that it
// covers, unless it is revoked before their approval is stored.
func TestRevokedDuringRelease(t *testing.T) {
	t.Parallel()
	nothing := func(*world) {}
	for name, c := range map[string]struct {
		before, last func(*world)
		want         bridge.State
	}{
		"kept":                       {nothing, nothing, bridge.StateApproved},
		"revoked before":             {(*world).revokeAll, nothing, bridge.StatePending},
		"revoked at the last moment": {nothing, (*world).revokeAll, bridge.StatePending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			w.between = &settles{w.store, "grant:", func() { c.before(w) }, func() { c.last(w) }}
			w.reload(w.setup)
			first, second := w.open(agentCI, run("ls")).Interaction.ID, w.open(agentCI, run("ls")).Interaction.ID
			if err := w.answer("ana", first, bridge.Reply{Decision: bridge.DecideAlways}); err != nil {
				t.Fatal(err)
			}
			w.state(second, c.want)
		})
	}
}

// lists lets something happen after the first list of pending requests.
type lists struct {
	core.Port
	first func()
}

func (l *lists) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	ids, err := l.Port.Pending(ctx, agent, session)
	if f := l.first; f != nil && session != "" {
		l.first = nil
		f()
	}
	return ids, err
}

// TestAloneOnSlowStore checks that a session has one pending request although the lease of
// its opening ends before the store has answered.
func TestAloneOnSlowStore(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	r := run("ls")
	r.OneAtATime = true
	between := &lists{Port: w.store}
	w.between = between
	w.reload(w.setup)
	between.first = func() {
		w.pass(10 * time.Second)
		if _, err := w.engine.Open(t.Context(), agentCI, r, ""); err != nil {
			t.Error(err)
		}
	}
	if rec, err := w.engine.Open(t.Context(), agentCI, r, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("the second request is %s, %v", rec.State, err)
	}
}

// TestReleaseDespiteOthers checks that an approval with a grant succeeds, and approves what
// the grant covers, although another pending request cannot be evaluated anymore.
func TestReleaseDespiteOthers(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	elsewhere := run("ls")
	elsewhere.Route = "prod"
	left := w.open(agentCI, elsewhere).Interaction.ID
	first, second := w.open(agentCI, run("ls")).Interaction.ID, w.open(agentCI, run("ls")).Interaction.ID
	delete(w.setup.routes, "prod")
	w.reload(w.setup)
	if err := w.answer("ana", first, bridge.Reply{Decision: bridge.DecideAlways}); err != nil {
		t.Error(err)
	}
	w.state(second, bridge.StateApproved)
	w.state(left, bridge.StatePending)
}

// TestResumedDuringDenial checks that a denial with a stop stops the session even if the
// session was stopped before, and is resumed right before the denial is stored.
func TestResumedDuringDenial(t *testing.T) {
	t.Parallel()
	w, ctx := newGoverned(t), t.Context()
	stops := session.NewStops(w.store.Documents())
	resume := sync.OnceFunc(func() { _, _ = stops.Drop(ctx, "ci", "s", person("bo")) })
	w.between = &settles{w.store, "", func() {}, resume}
	w.reload(w.setup)
	r := run("ls")
	r.Approval.Scopes, r.Approval.Decisions = nil, []bridge.Decision{bridge.DecideDenyStop, bridge.DecideOnce}
	id := w.open(agentCI, r).Interaction.ID
	if _, err := stops.Put(ctx, bridge.Stop{Agent: "ci", Session: "s", By: person("bo"), At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideDenyStop}); err != nil {
		t.Fatal(err)
	}
	w.stopped(run("ls"), bridge.StateDenied)
}

// TestApprovedBeforeRule checks that a person whose click a rule refuses is not told that
// nothing was approved, if another daemon stores an approval before the denial of the rule.
func TestApprovedBeforeRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.open(agentCI, shell("make x")).Interaction.ID
	card := w.drawn(id, "C1")
	w.between = &settles{w.store, "rule", func() {
		if _, won, err := w.store.Resolve(t.Context(), stored.Yes(id, "U-bo")); !won || err != nil {
			t.Errorf("approved: %t, %v", won, err)
		}
	}, func() {}}
	next := newSetup()
	next.policy = ruledBy(bridge.Ruling{Effect: bridge.EffectDeny, Reason: "frozen"})
	w.reload(next)
	w.said(w.pressOn("ana", card, "C1", bridge.DecideOnce, ""), bridge.VerdictLate, "approved")
	w.state(id, bridge.StateApproved)
}

// dying is the store of a daemon that ends right after it has stored a decision.
type dying struct{ core.Port }

func (d dying) Resolve(ctx context.Context, s life.Resolution, also ...core.Also) (bridge.Record, bool, error) {
	if _, _, err := d.Port.Resolve(ctx, s, also...); err != nil {
		return bridge.Record{}, false, err
	}
	return bridge.Record{}, false, bridge.Errorf(bridge.CodeUnavailable, "the daemon ended")
}

// TestOneChange checks that a decision is stored with all that follows from it: the stop
// of a session, and a grant, each with its entry of the audit log.
func TestOneChange(t *testing.T) {
	t.Parallel()
	for d, entry := range map[bridge.Decision]bridge.AuditType{bridge.DecideDenyStop: bridge.AuditStop, bridge.DecideAlways: bridge.AuditGrant} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			w.between = dying{w.store}
			w.reload(w.setup)
			r := run("ls")
			if d == bridge.DecideDenyStop {
				r.Approval.Scopes, r.Approval.Decisions = nil, []bridge.Decision{d, bridge.DecideOnce}
			}
			id := w.open(agentCI, r).Interaction.ID
			pending := w.open(agentCI, run("make x")).Interaction.ID
			if err := w.answer("ana", id, bridge.Reply{Decision: d}); bridge.ErrorCode(err) != bridge.CodeUnavailable {
				t.Fatal(err)
			}
			if all := w.audited(entry); len(all) != 1 {
				t.Errorf("the audit log has %+v", all)
			}
			w.between = nil
			w.reload(w.setup)
			if d == bridge.DecideAlways {
				w.mustPass("the same again", run("ls"))
				return
			}
			w.stopped(run("ls"), bridge.StateDenied)
			if _, err := w.engine.Await(t.Context(), id); err != nil { // what the stop cancels is over before the agent goes on
				t.Error(err)
			}
			w.state(pending, bridge.StateCancelled)
		})
	}
}

// TestStoppedDuringApproval checks that nothing approves or answers a request of a session
// that is stopped before the approval is stored, even if the daemon that stopped it ended
// before it cancelled the pending requests.
func TestStoppedDuringApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prefix string // of the resolution before which the session is stopped
		first  bridge.State
	}{
		"by a person": {"", bridge.StateCancelled},
		"by a grant":  {"grant:", bridge.StateApproved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ctx := newGoverned(t), t.Context()
			stops := session.NewStops(w.store.Documents())
			stop := sync.OnceFunc(func() {
				if _, err := stops.Put(ctx, bridge.Stop{Agent: "ci", Session: "s", By: person("bo"), At: time.Now()}); err != nil {
					t.Error(err)
				}
			})
			w.between = &settles{w.store, c.prefix, func() {}, stop}
			w.reload(w.setup)
			first, second := w.open(agentCI, run("ls")).Interaction.ID, w.open(agentCI, run("ls")).Interaction.ID
			question := w.asked(nil, versions).Interaction.ID
			err := w.answer("ana", first, bridge.Reply{Decision: bridge.DecideAlways})
			if (err == nil) != (c.first == bridge.StateApproved) {
				t.Errorf("the first approval: %v", err)
			}
			w.state(first, c.first)
			if err := w.answer("ana", second, bridge.Reply{Decision: bridge.DecideOnce}); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("the second approval: %v", err)
			}
			reply := bridge.Reply{Answers: map[string]bridge.Answer{"version": bridge.TextAnswer("1.0")}}
			if err := w.answer("ana", question, reply); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("the answer: %v", err)
			}
			w.state(second, bridge.StateCancelled)
			w.state(question, bridge.StateCancelled)
		})
	}
}

// unreadable is a store in which the list of pending requests or a request cannot be read.
type unreadable struct {
	core.Port
	list bool
	id   bridge.ID
}

func (u *unreadable) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	if u.list {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "no list")
	}
	return u.Port.Pending(ctx, agent, session)
}

func (u *unreadable) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	if id == u.id {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInternal, "a newer nod wrote it")
	}
	return u.Port.Load(ctx, id)
}

// TestReleaseDespiteUnreadable checks that a stored approval with a grant succeeds although
// other pending requests cannot be read, and that the grant approves those that can.
func TestReleaseDespiteUnreadable(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	between := &unreadable{Port: w.store}
	w.between = between
	w.reload(w.setup)
	var ids []bridge.ID
	for range 5 {
		ids = append(ids, w.open(agentCI, run("ls")).Interaction.ID)
	}
	between.list = true
	if err := w.answer("ana", ids[0], bridge.Reply{Decision: bridge.DecideSession}); err != nil {
		t.Error(err)
	}
	between.list, between.id = false, ids[2]
	if err := w.answer("ana", ids[4], bridge.Reply{Decision: bridge.DecideAlways}); err != nil {
		t.Error(err)
	}
	for n, want := range []bridge.State{bridge.StateApproved, bridge.StateApproved, bridge.StatePending, bridge.StateApproved, bridge.StateApproved} {
		if rec := w.get(ids[n]); rec.State != want {
			t.Errorf("request %d is %s, want %s", n, rec.State, want)
		}
	}
}

// TestJoinUnderRule checks that a request joins a pending duplicate only if the same
// people decide about it in the same way, and that another answer has its own entry in
// the audit log.
func TestJoinUnderRule(t *testing.T) {
	t.Parallel()
	ruled := func(v bridge.Ruling) func(*world, *bridge.Request) {
		return func(w *world, _ *bridge.Request) { w.rule = func(bridge.Act) bridge.Ruling { return v } }
	}
	for name, c := range map[string]struct {
		change func(*world, *bridge.Request)
		want   bridge.State
		joins  bool
	}{
		"unchanged": {func(*world, *bridge.Request) {}, bridge.StatePending, true},
		"denied":    {ruled(bridge.Ruling{Effect: bridge.EffectDeny}), bridge.StateDenied, false},
		"allowed":   {ruled(bridge.Ruling{Effect: bridge.EffectAllow}), bridge.StateApproved, false},
		"stopped": {func(w *world, _ *bridge.Request) {
			stop := bridge.Stop{Agent: "ci", Session: "s", By: person("bo"), At: time.Now()}
			if _, err := session.NewStops(w.store.Documents()).Put(w.t.Context(), stop); err != nil {
				w.t.Error(err)
			}
		}, bridge.StateDenied, false},
		"for a responder":     {func(_ *world, r *bridge.Request) { r.Requester = "bo" }, bridge.StatePending, false},
		"on another route":    {func(_ *world, r *bridge.Request) { r.Route = "both" }, bridge.StatePending, false},
		"with a quorum":       {ruled(bridge.Ruling{Effect: bridge.EffectAsk, Rule: "r", Quorum: 2}), bridge.StatePending, false},
		"on a route of rules": {ruled(bridge.Ruling{Effect: bridge.EffectAsk, Rule: "r", Routes: []string{"prod"}}), bridge.StatePending, false},
		"with a passkey":      {ruled(bridge.Ruling{Effect: bridge.EffectAsk, Rule: "r", StepUp: bridge.AssurancePasskey}), bridge.StatePending, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			r := run("ls")
			r.Join = true
			first := w.open(agentCI, r).Interaction.ID
			c.change(w, &r)
			second := w.open(agentCI, r)
			if second.State != c.want || (second.Interaction.ID == first) != c.joins {
				t.Fatalf("the duplicate is %s, %s", second.Interaction.ID, second.State)
			}
			if len(w.audited(bridge.AuditDecision)) == 0 && c.want != bridge.StatePending {
				t.Error("the answer is not in the audit log")
			}
			w.state(first, bridge.StatePending)
		})
	}
}
