package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

func person(name string) bridge.Actor {
	return bridge.Actor{Platform: bridge.PlatformAPI, User: name, Name: name, Person: name}
}

// stopped fails the test unless a request was refused because of a stop.
func (w *world) stopped(r bridge.Request, want bridge.State) {
	w.t.Helper()
	rec := w.open(agentCI, r)
	if rec.State != want || !rec.Response.Stops() || !strings.HasPrefix(rec.Response.Reason, "stopped by ana at ") {
		w.t.Errorf("in a stopped session, the request is %s with %+v", rec.State, rec.Response)
	}
}

// TestStopSession checks that a stop ends pending requests, and denies later
// ones, also those that a rule allows, until a responder resumes the session.
func TestStopSession(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	w := newGovernedOn(t, server.Client(t))
	ctx, sessions := t.Context(), w.engine.Sessions
	w.rule = func(a bridge.Act) bridge.Ruling {
		if a.Tool == "free" {
			return bridge.Ruling{Effect: bridge.EffectAllow, Rule: "free"}
		}
		return bridge.Ruling{Effect: bridge.EffectAsk}
	}
	mine := run("ls")
	mine.Requester = "cy"
	first := w.open(agentCI, mine)
	other := run("ls")
	other.Session = "other"

	if _, err := sessions.Stop(ctx, person("eve"), "", "s"); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("a stranger stops it: %v", err)
	}
	if got, err := sessions.Stop(ctx, person("ana"), "", "s"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	rec, err := w.engine.Get(ctx, first.Interaction.ID)
	if err != nil || rec.State != bridge.StateCancelled || rec.Response.WithdrawnBy.Person != "ana" || !rec.Response.Stops() {
		t.Errorf("the pending request is %s with %+v, %v", rec.State, rec.Response, err)
	}
	w.stopped(run("ls"), bridge.StateDenied)
	w.stopped(ask("May I?", "free", `{}`), bridge.StateDenied)
	w.stopped(bridge.Request{Ask: bridge.Ask{Prompt: "Which?", Session: "s", Questions: []bridge.Question{
		{ID: "q", Widget: bridge.WidgetText},
	}}}, bridge.StateCancelled)
	if rec := w.open(agentCI, bridge.Request{Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: "Done", Session: "s"}}); rec.State == bridge.StateCancelled {
		t.Errorf("a notice is %s", rec.State)
	}
	if rec := w.open(agentCI, other); rec.State != bridge.StatePending {
		t.Errorf("a request of another session is %s", rec.State)
	}

	again := newGovernedOn(t, server.Client(t)) // another daemon
	again.stopped(run("ls"), bridge.StateDenied)
	all, err := sessions.ListFor(ctx, person("ana"))
	if err != nil || len(all.Items) != 2 || (all.Items[0].Stopped == nil) == (all.Items[1].Stopped == nil) {
		t.Errorf("the sessions are %+v, %v", all, err)
	}

	for name, want := range map[string]bridge.Code{"eve": bridge.CodeNotFound, "cy": bridge.CodeForbidden} {
		if _, err := sessions.Resume(ctx, person(name), "", "s"); bridge.ErrorCode(err) != want {
			t.Errorf("%s resumes it: %v", name, err)
		}
	}
	w.stopped(run("ls"), bridge.StateDenied)
	if got, err := sessions.Resume(ctx, person("bo"), "", "s"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if rec := w.open(agentCI, run("ls")); rec.State != bridge.StatePending {
		t.Errorf("after the resumption, a request is %s", rec.State)
	}
	log := w.audited(bridge.AuditStop, bridge.AuditResume)
	if len(log) != 2 || log[0].Type != bridge.AuditStop || log[1].Type != bridge.AuditResume || log[1].Agent != "ci" || log[1].Session != "s" {
		t.Errorf("the audit log has %+v", log)
	}
	events, _, err := w.store.Events(ctx, "", bridge.EventFilter{Session: "s"})
	found := 0
	for _, e := range events {
		if e.Type == bridge.EventStopped || e.Type == bridge.EventResumed {
			found++
		}
	}
	if err != nil || found != 2 {
		t.Errorf("%d events about the session, %v", found, err)
	}
}

// TestStopBeforeWait checks that an agent in the same process does not get an
// approval that was given before its session was stopped.
func TestStopBeforeWait(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	id := w.open(agentCI, run("ls")).Interaction.ID
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Sessions.Stop(t.Context(), person("ana"), "", "s"); err != nil {
		t.Fatal(err)
	}
	rec, err := w.engine.As(agentCI).Wait(t.Context(), id)
	if bridge.ErrorCode(err) != bridge.CodeForbidden || rec.State == bridge.StateApproved {
		t.Errorf("the agent gets %s, %v", rec.State, err)
	}
}

// TestStopRetention checks that a session whose requests are no longer kept can
// be resumed by the responders of its route.
func TestStopRetention(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	for _, route := range []string{"", "prod"} {
		s := bridge.Stop{Agent: "ci", Session: "old" + route, By: person("ana"), At: time.Now(), Route: route}
		if _, err := session.NewStops(w.store.Documents()).Put(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.engine.Sessions.Resume(t.Context(), person("ana"), "", "oldprod"); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("a responder of another route resumes it: %v", err)
	}
	for name, session := range map[string]string{"ana": "old", "cy": "oldprod"} {
		if got, err := w.engine.Sessions.Resume(t.Context(), person(name), "", session); err != nil || len(got) != 1 {
			t.Error(got, err)
		}
	}
}

// TestDenyStop checks that the decision to deny and stop also stops the
// session.
func TestDenyStop(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	r := run("ls")
	r.Approval.Scopes, r.Approval.Decisions = nil, []bridge.Decision{bridge.DecideDenyStop, bridge.DecideOnce}
	waits := w.open(agentCI, run("pwd"))
	if rec := w.decided(r, bridge.DecideDenyStop, "ana"); rec.State != bridge.StateDenied || rec.Response.Stops() {
		t.Fatalf("the request is %s with %+v", rec.State, rec.Response)
	}
	if rec, err := w.engine.Get(t.Context(), waits.Interaction.ID); err != nil || rec.State != bridge.StateCancelled {
		t.Errorf("another pending request is %s, %v", rec.State, err)
	}
	w.stopped(run("ls"), bridge.StateDenied)
}

// TestSessionCommands checks the chat commands for sessions.
func TestSessionCommands(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.open(agentCI, run("ls"))
	for _, step := range []struct{ who, text, want string }{
		{"eve", "sessions", "No sessions."},
		{"ana", "sessions", "s  ci: 1 pending request"},
		{"eve", "stop s", "Session not found"},
		{"ana", "stop", "Name a session"},
		{"eve", "stop all", "No session to stop."},
		{"ana", "stop all", "Stopped: ci s."},
		{"ana", "sessions", "s  ci: stopped by ana at "},
		{"ana", "stop s", "Stopped: ci s."},
		{"eve", "resume s", "No stopped session"},
		{"bo", "resume s", "Resumed: ci s."},
		{"bo", "resume s", "No stopped session"},
	} {
		got, err := w.engine.Command(t.Context(), bridge.Command{Actor: bridge.Actor{Platform: "chat", User: "U-" + step.who, Name: step.who}, Text: step.text})
		if err != nil || !strings.Contains(got, step.want) {
			t.Errorf("%s sends %q: %q, %v; want %q", step.who, step.text, got, err, step.want)
		}
	}
}

// unlisted is a store that cannot list the pending requests of a session.
type unlisted struct {
	core.Port
	session string
}

func (u unlisted) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	if session == u.session {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the store is unavailable")
	}
	return u.Port.Pending(ctx, agent, session)
}

// TestStopAllButOne checks that a session that cannot be stopped completely
// does not keep the others running, and that the person learns of both.
func TestStopAllButOne(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	for _, session := range []string{"s", "broken", "first"} {
		r := run("ls")
		r.Session = session
		w.open(agentCI, r)
	}
	w.between = unlisted{w.store, "broken"}
	w.reload(w.setup)
	got, err := w.engine.Command(t.Context(), bridge.Command{Actor: bridge.Actor{Platform: "chat", User: "U-ana", Name: "ana"}, Text: "stop all"})
	if err != nil || !strings.HasPrefix(got, "Stopped: ") || !strings.Contains(got, "Not everything was stopped: the store is unavailable.") {
		t.Errorf("ana reads %q, %v", got, err)
	}
	for _, session := range []string{"s", "first"} {
		if left, err := w.store.Pending(t.Context(), "ci", session); err != nil || len(left) > 0 {
			t.Errorf("%s has the pending requests %v, %v", session, left, err)
		}
	}
}

// TestNoCallAfterStop checks, in random interleavings of requests, answers,
// stops and resumptions, that no request that is opened or answered after a
// stop has returned is approved, until someone resumes the session.
func TestNoCallAfterStop(t *testing.T) {
	t.Parallel()
	w, runs, first := newGovernedOn(t, redistest.Shared(t).Client(t)), level.Often(40, 15), seed.Of(t)
	for n := range runs {
		if err := w.interleave(fmt.Sprintf("run-%d", n), rand.New(rand.NewPCG(first, uint64(n)))); err != nil {
			t.Fatalf("run %d: %v", n, err)
		}
	}
}

// interleave runs one random interleaving in a session.
func (w *world) interleave(session string, r *rand.Rand) error {
	ctx := w.t.Context()
	pauses := make([]time.Duration, 12)
	for n := range pauses {
		pauses[n] = time.Duration(r.IntN(3000)) * time.Microsecond
	}
	request := run("ls")
	request.Session = session
	w.open(agentCI, request) // the session exists
	var wg sync.WaitGroup
	var mu sync.Mutex
	off := false // a stop has returned, and no resumption has begun
	errs := make(chan error, 20)
	// approves opens a request and has it approved. It fails if the approval
	// was given although the session was off from its start to its end.
	approves := func(pause time.Duration) error {
		rec, err := w.engine.Open(ctx, agentCI, request, "")
		if err != nil {
			return err
		}
		bridge.Pause(ctx, pause)
		mu.Lock()
		was := off
		mu.Unlock()
		_, err = w.engine.Answer(ctx, rec.Interaction.ID, person("ana"), bridge.Reply{Decision: bridge.DecideOnce})
		if code := bridge.ErrorCode(err); err != nil && code != bridge.CodeConflict && code != bridge.CodeForbidden {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		got, err := w.engine.Get(context.WithoutCancel(ctx), rec.Interaction.ID)
		if err == nil && was && off && got.State == bridge.StateApproved {
			err = fmt.Errorf("%s was approved in a stopped session", rec.Interaction.ID)
		}
		return err
	}
	for _, p := range pauses[:8] {
		wg.Go(func() {
			bridge.Pause(ctx, p)
			errs <- approves(p / 2)
		})
	}
	stop := func() error {
		_, err := w.engine.Sessions.Stop(ctx, person("bo"), "", session)
		mu.Lock()
		off = err == nil
		mu.Unlock()
		return err
	}
	wg.Go(func() {
		bridge.Pause(ctx, pauses[8])
		errs <- stop()
		if r.IntN(2) == 0 {
			bridge.Pause(ctx, pauses[9])
			mu.Lock()
			off = false
			mu.Unlock()
			_, err := w.engine.Sessions.Resume(ctx, person("bo"), "", session)
			errs <- err
			bridge.Pause(ctx, pauses[10])
			errs <- stop()
		}
	})
	wg.Wait()
	errs <- approves(0)
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	if rec := w.open(agentCI, request); rec.State != bridge.StateDenied {
		return fmt.Errorf("at the end, a request is %s", rec.State)
	}
	return nil
}
