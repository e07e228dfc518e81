package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// taken returns the texts that a reader takes.
func (w *world) taken(reader string, continued *bool) []bridge.Steering {
	w.t.Helper()
	all, err := w.engine.Sessions.Take(w.t.Context(), bridge.Taking{
		Agent: "ci", Session: "s", Reader: reader, Lease: time.Minute, Continued: continued,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return texts(all)
}

// texts returns the texts of people among messages.
func texts(all []bridge.Message) (out []bridge.Steering) {
	for _, m := range all {
		out = append(out, *m.Steering)
	}
	return out
}

// TestSteerReply checks that a reply of a responder reaches the agent once, and
// that no one else's does.
func TestSteerReply(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	id := w.open(agentCI, run("ls")).Interaction.ID
	if v := w.replies("eve", "1", "rm -rf /", id, true); v.Kind != bridge.VerdictInvalid || !strings.Contains(v.Note, "Only people who may answer") {
		t.Errorf("a stranger is told %+v", v)
	}
	for _, want := range []bridge.VerdictKind{bridge.VerdictNoted, ""} { // the platform delivers it twice
		if v := w.replies("ana", "2", "use \u202eport 8080\x07", id, true); v.Kind != want || v.Note != "" {
			t.Errorf("a responder is told %+v", v)
		}
	}
	if v := w.replies("ana", "3", strings.Repeat("x", bridge.MaxSteering+1), id, true); v.Kind != bridge.VerdictInvalid || !strings.Contains(v.Note, "at most 4000") {
		t.Errorf("the author of a long text is told %+v", v)
	}
	all := w.taken("r", nil)
	if len(all) != 1 || all[0].By.Person != "ana" || all[0].Where.Ref.Message != "2" {
		t.Fatalf("the agent takes %+v", all)
	}
	if got := all[0].Words(); !strings.Contains(got, "ana wrote in chat at ") || !strings.HasSuffix(got, ": 'use ⟨U+202E⟩port 8080⟨U+0007⟩'") {
		t.Errorf("the agent reads %q", got)
	}
	if same := w.taken("r", nil); len(same) != 1 || !same[0].Again || all[0].Again {
		t.Errorf("the same reader takes %+v", same)
	}
	if more := w.taken("other", nil); len(more) != 0 {
		t.Errorf("another reader takes %+v", more)
	}
	if err := w.engine.Sessions.Acknowledge(t.Context(), "ci", "s", all[0].ID); err != nil {
		t.Fatal(err)
	}
	got, err := w.engine.Sessions.Sent(t.Context(), person("ana"), "s", all[0].ID)
	if err != nil || got.Fate != bridge.FateDelivered || !strings.HasPrefix(got.Status(), "Delivered to ci at ") {
		t.Errorf("the message is %+v, %v", got, err)
	}
	if _, err := w.engine.Sessions.Sent(t.Context(), person("eve"), "s", all[0].ID); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("a stranger reads it: %v", err)
	}
	if rest := w.taken("other", nil); len(rest) != 0 {
		t.Errorf("the agent takes %+v again", rest)
	}
	if got := w.audited(bridge.AuditSteer); len(got) != 1 || !strings.Contains(string(got[0].Data), "port 8080") {
		t.Errorf("the audit log has %+v", got)
	}
}

// TestSteerRefused checks who may send messages to a session, and when.
func TestSteerRefused(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	mine := run("ls")
	mine.Requester = "ana"
	w.open(agentCI, mine)
	send := func(who, agent string) error {
		_, err := w.engine.Sessions.Steer(t.Context(), bridge.Steering{Agent: agent, Session: "s", By: person(who), Text: "hi"})
		return err
	}
	for who, want := range map[string]bridge.Code{"eve": bridge.CodeNotFound, "cy": bridge.CodeNotFound, "ana": bridge.CodeForbidden} {
		for _, agent := range []string{"", "ci"} {
			if err := send(who, agent); bridge.ErrorCode(err) != want {
				t.Errorf("%s to %q: %v", who, agent, err)
			}
		}
	}
	if got := w.taken("r", nil); len(got) != 0 {
		t.Errorf("the agent takes %+v", got)
	}
	if err := send("bo", ""); err != nil {
		t.Error(err)
	}
	if _, err := w.engine.Sessions.Stop(t.Context(), person("bo"), "ci", "s"); err != nil {
		t.Fatal(err)
	}
	if err := send("bo", ""); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("to a stopped session: %v", err)
	}
	if got := w.taken("r", nil); len(got) != 0 {
		t.Errorf("a stopped agent takes %+v", got)
	}
	if err := w.engine.Sessions.Ended(t.Context(), "ci", "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Sessions.Resume(t.Context(), person("bo"), "ci", "s"); err != nil {
		t.Fatal(err)
	}
	if got := w.taken("r", nil); len(got) != 0 {
		t.Errorf("after its end, the session takes %+v", got)
	}
	for n := range bridge.MaxSteerings + 1 {
		if err := send("bo", ""); (n == bridge.MaxSteerings) != (bridge.ErrorCode(err) == bridge.CodeRateLimited) {
			t.Fatalf("message %d: %v", n, err)
		}
	}
}

// TestSteerContinued checks that no message is taken when the agent no longer
// continues its turn.
func TestSteerContinued(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.open(agentCI, run("ls"))
	first, again := false, true
	for n := range 2 * bridge.MaxContinued {
		text := fmt.Sprint(n)
		if _, err := w.engine.Sessions.Steer(t.Context(), bridge.Steering{Session: "s", By: person("ana"), Text: text}); err != nil {
			t.Fatal(err)
		}
		how := &again
		if n == 0 {
			how = &first
		}
		got := w.taken("r", how)
		if n >= bridge.MaxContinued {
			if len(got) != 0 {
				t.Errorf("stop %d takes %+v", n+1, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Text != text {
			t.Fatalf("stop %d takes %+v", n+1, got)
		}
		if err := w.engine.Sessions.Acknowledge(t.Context(), "ci", "s", got[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.taken("r", &first); len(got) != bridge.MaxContinued {
		t.Errorf("the next turn takes %d messages", len(got))
	}
}

// readers are agents at several daemons that take the messages of one session.
type readers struct {
	daemons []*world
	seed    uint64
	want    int
	took    chan struct{} // signals that messages were taken

	mu   sync.Mutex
	seen []string
}

// read takes messages until all were seen. Some readers die before they pass
// messages on: their lease ends soon.
func (r *readers) read(ctx context.Context, n int) error {
	w, random := r.daemons[n%len(r.daemons)], rand.New(rand.NewPCG(r.seed, uint64(n)))
	for ctx.Err() == nil {
		dies, lease := random.IntN(8) == 0, time.Hour
		if dies {
			lease = time.Duration(1+random.IntN(20)) * time.Millisecond
		}
		changed := w.bell.Next()
		all, err := w.engine.Sessions.Take(ctx, bridge.Taking{
			Agent: "ci", Session: "s", Reader: fmt.Sprintf("%d-%d", n, random.Uint64()), Lease: lease,
		})
		if err != nil {
			return err
		}
		if len(all) > 0 && !dies {
			r.mu.Lock()
			for _, s := range all {
				r.seen = append(r.seen, s.Steering.Text)
			}
			r.mu.Unlock()
			if err := w.engine.Sessions.Acknowledge(ctx, "ci", "s", all[len(all)-1].ID); err != nil {
				return err
			}
			select {
			case r.took <- struct{}{}:
			default: // the sender knows
			}
		}
		r.mu.Lock()
		done := len(r.seen) >= r.want
		r.mu.Unlock()
		if done {
			return nil
		}
		if len(all) == 0 {
			select {
			case <-changed:
			case <-time.After(20 * time.Millisecond): // the lease of a dead reader ends
			}
		}
	}
	return ctx.Err()
}

// TestSteerExactlyOnce checks that an agent sees each message once and in order,
// with readers at two daemons that run at the same time and die before they
// pass messages on, and with daemons that restart.
func TestSteerExactlyOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	ctx, stop := context.WithTimeout(t.Context(), await.Limit)
	defer stop()
	daemons := []*world{newGovernedOn(t, server.Client(t)), newGovernedOn(t, server.Client(t))}
	r := &readers{daemons: daemons, seed: seed.Of(t), want: 60, took: make(chan struct{}, 1)}
	daemons[0].open(agentCI, run("ls"))
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			if err := r.read(ctx, n); err != nil {
				t.Errorf("reader %d: %v", n, err)
			}
		})
	}
	for n := range r.want {
		if n == r.want/2 {
			daemons = []*world{daemons[0], newGovernedOn(t, server.Client(t))} // a daemon that starts later
		}
		s := bridge.Steering{Agent: "ci", Session: "s", By: person("ana"), Text: fmt.Sprint(n)}
		_, err := daemons[n%2].engine.Sessions.Steer(t.Context(), s)
		for bridge.ErrorCode(err) == bridge.CodeRateLimited { // too many wait for the agent
			await.Receive(t, "a reader", r.took)
			_, err = daemons[n%2].engine.Sessions.Steer(t.Context(), s)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if rest := daemons[0].taken("last", nil); len(rest) != 0 {
		t.Errorf("still there: %+v", rest)
	}
	var want []string
	for n := range r.want {
		want = append(want, fmt.Sprint(n))
	}
	if !slices.Equal(r.seen, want) {
		t.Errorf("the agent has seen %v, want %v", r.seen, want)
	}
}
