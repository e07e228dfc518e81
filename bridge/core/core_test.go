package core_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// opener opens another daemon on the database of a test.
type opener = stored.Opener

var (
	bubble, each, onRedis = stored.Bubble, stored.Each, stored.OnRedis
	noError, opening      = stored.NoError, stored.Opening
	open, yes             = stored.Open, stored.Yes
	pass                  = stored.Pass
)

func must[T any](t *testing.T) func(T, error) T { return stored.Must[T](t) }

// approve approves a request, which no one has decided before.
func approve(t *testing.T, s core.Port, id bridge.ID) {
	t.Helper()
	if _, won, err := s.Resolve(t.Context(), yes(id, "U1")); err != nil || !won {
		t.Fatalf("approve: won %v, %v", won, err)
	}
}

func mark(t *testing.T, s core.Port, id bridge.ID, m life.Mark) bridge.Record {
	t.Helper()
	return must[bridge.Record](t)(s.Mark(t.Context(), id, m))
}

// posted records a message at a destination.
func posted(t *testing.T, s core.Port, r bridge.Record, destination int) bridge.Record {
	t.Helper()
	ref := bridge.MessageRef{Channel: "C", Message: "m" + string(rune('0'+destination))}
	return mark(t, s, r.Interaction.ID, life.Posted{Destination: destination, Ref: ref, Revision: r.Revision})
}

// claimAll claims n jobs.
func claimAll(t *testing.T, s *stored.Store, n int) []core.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	var all []core.Job
	for len(all) < n {
		jobs, err := s.Claim(ctx, n-len(all), time.Minute)
		if err != nil {
			t.Fatalf("%d jobs, want %d: %v", len(all), n, err)
		}
		if all = append(all, jobs...); len(jobs) == 0 {
			s.Wait(ctx, 50*time.Millisecond)
		}
	}
	return all
}

// work finishes all jobs that are due, and returns how many there were of each kind.
func work(t *testing.T, s *stored.Store) map[life.JobKind]int {
	t.Helper()
	kinds := map[life.JobKind]int{}
	for {
		jobs := must[[]core.Job](t)(s.Claim(t.Context(), 100, time.Minute))
		if len(jobs) == 0 {
			return kinds
		}
		for _, j := range jobs {
			kinds[j.Kind]++
			noError(t, s.Finish(t.Context(), j))
		}
	}
}

// TestPendingNotices checks that the requests of a session do not include notices, such as
// the message of the session while it is being posted.
func TestPendingNotices(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, opens opener) {
		s := opens("a")
		asked := open(t, s, func(i *bridge.Interaction) { i.Session = "s" }).Interaction.ID
		notice := open(t, s, func(i *bridge.Interaction) { i.Session, i.Kind, i.Approval = "s", bridge.KindNotice, nil }).Interaction.ID
		for session, want := range map[string]int{"s": 1, "": 2} {
			got := must[[]bridge.ID](t)(s.Pending(t.Context(), "", session))
			if len(got) != want || !slices.Contains(got, asked) || slices.Contains(got, notice) != (want == 2) {
				t.Errorf("pending in session %q: %v, want %d", session, got, want)
			}
		}
	})
}
