package discord

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest"
)

// TestStartsOfADay checks that a gateway which ends every session soon never
// uses up the starts of a day, and that a few starts are made soon.
func TestStartsOfADay(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, life := range []time.Duration{0, time.Second, time.Minute, 10 * time.Minute} {
		begin := time.Unix(1_800_000_000, 0)
		limit := startLimit{Total: 1000}
		var now, last time.Time
		now = begin
		used := 0
		for now.Sub(begin) < day {
			limit.Remaining, limit.ResetAfter = limit.Total-used, (day - now.Sub(begin)).Milliseconds()
			if wait := limit.wait(now, last, startGap); wait > 0 {
				now = now.Add(wait)
				continue
			}
			if used++; used == 100 && now.Sub(begin) > 100*(life+startGap) {
				t.Errorf("with sessions of %v, the first 100 starts took %v", life, now.Sub(begin))
			}
			last, now = now, now.Add(life+time.Millisecond)
		}
		if used > 990 {
			t.Errorf("with sessions of %v, %d sessions were started in a day", life, used)
		}
	}
	if wait := (startLimit{Total: 1000, Remaining: 3, ResetAfter: 60_000}).wait(time.Now(), time.Time{}, startGap); wait != time.Minute {
		t.Errorf("the last starts are used after %v", wait)
	}
}

// TestStartGap checks that a session starts no sooner than Discord allows after
// the last one, unless the gateway is not paced.
func TestStartGap(t *testing.T) {
	t.Parallel()
	for unpaced, want := range map[bool]time.Duration{false: startGap, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			const address = `{"url":"wss://gateway","session_start_limit":{"total":1000,"remaining":999}}`
			a, err := newAPI("token", "", platformtest.Answering(address), &platforms.HealthBox{})
			if err != nil {
				t.Fatal(err)
			}
			last := time.Now()
			url, err := (&gateway{api: a, unpaced: unpaced}).start(t.Context(), last)
			if waited := time.Since(last); err != nil || url != "wss://gateway" || waited != want {
				t.Errorf("unpaced %t: %q after %v, %v", unpaced, url, waited, err)
			}
		})
	}
}
