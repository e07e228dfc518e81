package measure

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestCallers checks that a waiting caller does not hold what a daemon needed to
// open its request.
func TestCallers(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	redistest.Binary(t)
	for name, row := range map[string]struct {
		measure func(context.Context, *harness) ([]figures, error)
		most    float64 // KiB
	}{"HTTP": {callersOverHTTP, 28}, "WebSocket": {callersOverWebSocket, 30}} {
		b := &harness{span: 200 * time.Millisecond, pending: 500}
		least := math.Inf(1)
		for range 3 { // the collector and other goroutines can only add to a measurement
			got, err := b.onEmptyServer(t.Context(), row.measure)
			if err != nil {
				t.Fatal(err)
			}
			if least = min(least, got[0].value); least <= row.most {
				break
			}
		}
		t.Logf("a caller over %s takes %.1f KiB", name, least)
		if least > row.most {
			t.Errorf("a caller over %s takes %.1f KiB, want at most %.0f", name, least, row.most)
		}
	}
}
