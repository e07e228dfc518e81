package broker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// TestLines checks that a line has its cards in the order of their openings,
// whichever daemon opened them, and that they leave it with their jobs.
func TestLines(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx := t.Context()
		a, b := newBroker(t, c, "a"), newBroker(t, c, "b")
		first, second, third := open(t, a, nil), open(t, b, nil), open(t, a, nil)
		line := first.Interaction.Line(1)
		ahead := func(r bridge.Record) []bridge.ID {
			t.Helper()
			ids, in, err := b.Ahead(ctx, line, r.Interaction.ID)
			if err != nil || !in {
				t.Fatalf("in the line: %v, %v", in, err)
			}
			return ids
		}
		if got := ahead(third); !slices.Equal(got, []bridge.ID{first.Interaction.ID, second.Interaction.ID}) {
			t.Errorf("ahead of the third: %v", got)
		}
		if lost, err := b.Overtake(ctx, line, first.Interaction.ID); lost || err != nil {
			t.Errorf("a card whose job is due is lost: %v, %v", lost, err)
		}
		jobs, err := a.Claim(ctx, 10, time.Minute)
		if err != nil || len(jobs) != 6 {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		for _, j := range jobs {
			if j.Interaction == first.Interaction.ID && j.Destination == 1 {
				j.Line = line
				noError(t, a.Finish(ctx, j))
			}
		}
		if got := ahead(third); !slices.Equal(got, []bridge.ID{second.Interaction.ID}) {
			t.Errorf("after the first, ahead of the third: %v", got)
		}
		lose(t, b, line, second, jobs)
		if len(ahead(third)) > 0 {
			t.Errorf("ahead of the third: %v", ahead(third))
		}
		for name, o := range map[string]bridge.Opening{
			"decided": {Interaction: opening(t, a, "", nil).Interaction, Response: &bridge.Response{State: bridge.StateDenied}},
		} {
			if _, _, err := a.Open(ctx, o); err != nil {
				t.Fatal(err)
			}
			if _, in, err := a.Ahead(ctx, line, o.Interaction.ID); in || err != nil {
				t.Errorf("%s: in the line: %v, %v", name, in, err)
			}
		}
		held := open(t, a, func(i *bridge.Interaction) { i.Grace = bridge.Duration(time.Second) })
		if ids, in, err := a.Ahead(ctx, held.Interaction.Line(1), held.Interaction.ID); !in || len(ids) > 0 || err != nil {
			t.Errorf("a card with a grace period: %v, in its line: %v, %v", ids, in, err)
		}
		again := opening(t, a, "key", nil)
		repeat := again
		repeat.Interaction.ID, _ = bridge.NewID()
		for _, o := range []bridge.Opening{again, repeat} {
			if _, _, err := a.Open(ctx, o); err != nil {
				t.Fatal(err)
			}
		}
		if _, in, _ := a.Ahead(ctx, line, repeat.Interaction.ID); in {
			t.Error("a repeat is in the line")
		}
	})
}

// lose checks that a card counts as lost only once it has no job anymore, whether
// that one is leased or waits.
func lose(t *testing.T, b *broker.Broker, line string, r bridge.Record, jobs []bridge.Job) {
	t.Helper()
	id := r.Interaction.ID
	overtake := func(when string, want bool) {
		t.Helper()
		if lost, err := b.Overtake(t.Context(), line, id); lost != want || err != nil {
			t.Errorf("%s: lost is %v, %v; want %v", when, lost, err, want)
		}
	}
	overtake("leased", false)
	for _, j := range jobs {
		if j.Interaction == id && j.Destination == 1 {
			noError(t, b.Retry(t.Context(), j, time.Hour, ""))
			overtake("to be tried later", false)
			noError(t, b.Finish(t.Context(), j))
			overtake("without a job", true)
		}
	}
	id = "unknown"
	overtake("without a record", true)
}
