package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestRecentLimits checks that only what may be used is remembered, and within the
// limits, whatever is read, opened and ended, up to records of the largest size.
func TestRecentLimits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 18))
	re := newRecent()
	texts := []string{"", "x", strings.Repeat("x", 5000), strings.Repeat("x", recentBytes/3), strings.Repeat("x", recentBytes-1), strings.Repeat("x", recentBytes), strings.Repeat("x", recentBytes+1)}
	fits := []int{1, 1, 1, 1, 1, 1, 0}
	approval := &bridge.Approval{Tool: "t"}
	for n := range 30_000 {
		id := bridge.ID(fmt.Sprint("i", r.IntN(2*recentMany)))
		k := r.IntN(3)
		if r.IntN(50) == 0 {
			k = r.IntN(len(texts))
		}
		rec := bridge.Record{State: bridge.StatePending, Stored: texts[k], Interaction: bridge.Interaction{ID: id, Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: approval}}}
		switch r.IntN(8) {
		case 0:
			rec.State = bridge.StateApproved
			re.keep(rec, nil)
		case 1:
			rec.Unverified = "forged"
			re.keep(rec, nil)
		case 2:
			re.keep(rec, errors.New("unreachable"))
		case 3:
			rec.Stored, rec.Interaction.Prompt = "", texts[k]
			re.opened(rec)
			continue
		default:
			re.keep(rec, nil)
			if got := re.get(id); (got != nil) != (fits[k] == 1) {
				t.Fatalf("after %d: remembered %v with %d bytes", n, got != nil, len(rec.Stored))
			}
			continue
		}
		if re.get(id) != nil {
			t.Fatal("it remembers a record that it must not use")
		}
	}
	if re.kept.Len() > recentMany {
		t.Errorf("%d records are remembered", re.kept.Len())
	}
}

// TestDelayIsBounded checks that one response with an absurd time does not delay a
// card until its request is over.
func TestDelayIsBounded(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{math.MaxInt64: time.Hour, time.Minute: time.Minute, -1: firstBackoff} {
		e := bridge.Errorf(bridge.CodeRateLimited, "later")
		e.RetryAfter = given
		if got := delayAfter(bridge.Job{Attempt: 1}, e); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
