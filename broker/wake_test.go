package broker_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// TestTurn checks that a card that waits for its turn is due as soon as it is the
// first of its line, and neither the other jobs of its request nor those of other
// cards that wait for another reason are.
func TestTurn(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]func(*testing.T, *broker.Broker, string, bridge.Job){
		"the first is posted": func(t *testing.T, b *broker.Broker, line string, j bridge.Job) {
			j.Line = line
			noError(t, b.Finish(t.Context(), j))
		},
		"the first fails": func(t *testing.T, b *broker.Broker, line string, j bridge.Job) {
			j.Line = line
			noError(t, b.Retry(t.Context(), j, time.Hour, "the platform is down"))
		},
		"the first is lost": func(t *testing.T, b *broker.Broker, line string, j bridge.Job) {
			noError(t, b.Finish(t.Context(), j)) // it has no job, and is still in the line
			lost, err := b.Overtake(t.Context(), line, j.Interaction)
			if noError(t, err); !lost {
				t.Error("the first is not lost")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
				w := newWaiting(t, c)
				w.yield(w.second)
				w.none("the second waits")
				leaves(t, w.b, w.line, w.first)
				if got := claimAll(t, w.b, 1); got[0].ID != w.second.ID || got[0].Attempt != 1 {
					t.Errorf("due is %+v, want %s", got[0], w.second.ID)
				}
				w.none("only the second is due")
			})
		})
	}
}

// TestTurnInBetween checks that a card is not left behind if the card ahead of it
// leaves the line, or its daemon dies, before the wait begins.
func TestTurnInBetween(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		w := newWaiting(t, c)
		w.first.Line = w.line
		noError(t, w.b.Finish(t.Context(), w.first))
		w.yield(w.second)
		again := claimAll(t, w.b, 1)
		if again[0].ID != w.second.ID {
			t.Errorf("due is %+v, want %s", again[0], w.second.ID)
		}
		noError(t, w.b.Retry(t.Context(), again[0], time.Hour, "")) // nobody wakes it
		w.none("it sleeps")
		third := open(t, w.b, nil)
		for _, j := range claimAll(t, w.b, 2) {
			if j.Interaction == third.Interaction.ID && j.Destination == w.second.Destination {
				w.yield(j)
			}
		}
		if got := claimAll(t, w.b, 1); got[0].ID != w.second.ID {
			t.Errorf("due is %+v, want %s", got[0], w.second.ID)
		}
	})
}

// waiting is a line of two cards whose jobs are leased. The other jobs of their
// requests are to be tried again in an hour.
type waiting struct {
	t             *testing.T
	b             *broker.Broker
	line          string
	first, second bridge.Job
}

func newWaiting(t *testing.T, c redis.UniversalClient) *waiting {
	t.Helper()
	w := &waiting{t: t, b: newBroker(t, c, "a")}
	first, second := open(t, w.b, nil), open(t, w.b, nil)
	w.line = first.Interaction.Line(1)
	for _, j := range claimAll(t, w.b, 4) {
		switch {
		case j.Destination == 0:
			noError(t, w.b.Retry(t.Context(), j, time.Hour, ""))
		case j.Interaction == first.Interaction.ID:
			w.first = j
		case j.Interaction == second.Interaction.ID:
			w.second = j
		}
	}
	return w
}

func (w *waiting) yield(j bridge.Job) {
	w.t.Helper()
	noError(w.t, w.b.Yield(w.t.Context(), w.line, j, time.Hour))
}

// none checks that no job is due.
func (w *waiting) none(when string) {
	w.t.Helper()
	if jobs, err := w.b.Claim(w.t.Context(), 10, time.Minute); err != nil || len(jobs) > 0 {
		w.t.Errorf("%s: due are %v, %v", when, jobs, err)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
