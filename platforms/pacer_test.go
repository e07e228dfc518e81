package platforms

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// turns records the calls of a pacer.
type turns struct {
	delay time.Duration
	err   error
	asked []bridge.Call
	holds []string
}

func (t *turns) Turn(_ context.Context, c bridge.Call) (time.Duration, error) {
	t.asked = append(t.asked, c)
	return t.delay, t.err
}

func (t *turns) HoldTurns(_ context.Context, c bridge.Call, limit int, d time.Duration) error {
	t.holds = append(t.holds, fmt.Sprintf("%s %q %s", c.Limits[limit].Line, c.Key, d))
	return t.err
}

func paced(store bridge.Turns, off bool) *Pacer {
	return NewPacer(Pace{
		Platform: "chat", Turns: store, Off: off,
		Channel: []bridge.Limit{{Line: "post ", Calls: 5, Period: 5 * time.Second}},
		All:     []bridge.Limit{{Line: "all", Calls: 30, Period: time.Second}},
	})
}

// TestPacer checks when a pacer makes a call, and which limits it asks for.
func TestPacer(t *testing.T) {
	t.Parallel()
	turn, called := Turn{Key: "k", Rank: RankEdit, Calls: 2}, 0
	call := func() error { called++; return nil }
	store := &turns{}
	if err := paced(store, false).Do(t.Context(), "C", turn, call); err != nil || called != 1 {
		t.Fatalf("%d calls, %v", called, err)
	}
	c := store.asked[0]
	if len(c.Limits) != 2 || c.Platform != "chat" || c.Key != "k" || !c.Edit || c.Calls != 2 {
		t.Fatalf("it asked for %+v", c)
	}
	each, all := c.Limits[0], c.Limits[1]
	if each.Line != "post C" || each.Calls != 5 || each.Margin != 100*time.Millisecond ||
		all.Line != "all" || all.Margin != 50*time.Millisecond {
		t.Errorf("it asked for %+v", c.Limits)
	}
	store.delay = 9 * time.Second
	err := paced(store, true).Do(t.Context(), "C", turn, call)
	limited, _ := errors.AsType[*bridge.Error](err)
	if !errors.Is(err, bridge.ErrPaced) || limited.RetryAfter != 9*time.Second || called != 1 {
		t.Errorf("before its turn: %d calls, %v", called, err)
	}
	for _, l := range store.asked[1].Limits {
		if l.Calls != 0 {
			t.Errorf("off, but it asked for %+v", l)
		}
	}
	store.delay, store.err = 0, bridge.Errorf(bridge.CodeUnavailable, "away")
	if err := paced(store, false).Do(t.Context(), "C", turn, call); !errors.Is(err, store.err) || called != 1 {
		t.Errorf("without a store: %d calls, %v", called, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, p := range []*Pacer{paced(&turns{}, false), paced(nil, false)} {
		if err := p.Do(gone, "C", turn, call); !errors.Is(err, context.Canceled) || called != 1 {
			t.Errorf("after the caller has left: %d calls, %v", called, err)
		}
		p.Hold(t.Context(), "C", time.Second)
	}
}

// TestPacerHolds checks what holds up further calls.
func TestPacerHolds(t *testing.T) {
	t.Parallel()
	limited := bridge.Errorf(bridge.CodeRateLimited, "slow down")
	limited.RetryAfter = 7 * time.Second
	everywhere := bridge.Wrap(bridge.CodeRateLimited, ErrAllChannels, "slow down")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"limited":               {limited, `post C "k" 7s`},
		"limited in all":        {everywhere, `all "k" 1s`},
		"paced by another call": {bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "later"), ""},
		"away":                  {bridge.Errorf(bridge.CodeUnavailable, "away"), ""},
		"done":                  {nil, ""},
	} {
		store := &turns{}
		err := paced(store, false).Do(t.Context(), "C", Turn{Key: "k"}, func() error { return c.err })
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := fmt.Sprint(store.holds); got != "["+c.want+"]" {
			t.Errorf("%s: the holds are %s, want %s", name, got, c.want)
		}
	}
	store := &turns{}
	wide := paced(store, false)
	wide.o.Wide = true
	if err := wide.Do(t.Context(), "C", Turn{Key: "k"}, func() error { return limited }); !errors.Is(err, limited) ||
		fmt.Sprint(store.holds) != `[all "k" 7s]` {
		t.Errorf("limited in all by the platform: the holds are %s, %v", store.holds, err)
	}
	store = &turns{}
	paced(store, false).Hold(t.Context(), "C", time.Minute)
	if got := fmt.Sprint(store.holds); got != `[post C "" 1m0s]` {
		t.Errorf("the holds are %s", got)
	}
}
