package measure

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// Limits on a cycle over HTTP, including the client and background work.
const (
	costly       = 100  // cycles
	mostMallocs  = 4000 // about 2,850 are needed
	mostScripts  = 5    // opening, resolution, delivery, and looking for jobs
	mostReadings = 6    // of documents; about 5 are needed
)

// TestCostOverHTTP checks the allocations and the Redis commands of a cycle over
// HTTP.
func TestCostOverHTTP(t *testing.T) {
	redistest.Binary(t)
	b := &harness{}
	got, err := b.onEmptyServer(t.Context(), func(ctx context.Context, b *harness) ([]figures, error) {
		s, err := b.install(ctx, "cost", toOnePlatform)
		if s != nil {
			defer s.stop()
		}
		if err != nil {
			return nil, err
		}
		var scripts, readings, mallocs float64
		for range 2 { // the first one is a warm-up
			var before, after runtime.MemStats
			scripts, readings = b.calls(ctx, "evalsha"), b.calls(ctx, "mget")
			runtime.ReadMemStats(&before)
			for range costly {
				if err := s.cycle(ctx); err != nil {
					return nil, err
				}
			}
			runtime.ReadMemStats(&after)
			scripts, readings = b.calls(ctx, "evalsha")-scripts, b.calls(ctx, "mget")-readings
			mallocs = float64(after.Mallocs - before.Mallocs)
		}
		return []figures{{mallocs, mostMallocs}, {scripts, mostScripts}, {readings, mostReadings}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, what := range []string{"allocations", "scripts", "readings"} {
		if each := got[n].value / costly; each > got[n].other {
			t.Errorf("a cycle over HTTP costs %.2f %s, more than %v", each, what, got[n].other)
		} else {
			t.Logf("%.2f %s", each, what)
		}
	}
}

// calls returns how often a command was called.
func (b *harness) calls(ctx context.Context, command string) float64 {
	_, rest, _ := strings.Cut(b.client.Info(ctx, "commandstats").Val(), "cmdstat_"+command+":")
	var n float64
	_, _ = fmt.Sscanf(rest, "calls=%f", &n) // otherwise it was not called
	return n
}
