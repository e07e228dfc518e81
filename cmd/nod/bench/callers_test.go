package bench

import (
	"context"
	"testing"
	"time"

	"github.com/nodbridge/nod/broker/redistest"
)

// TestCallers checks that a waiting caller does not hold what a daemon needed to
// open its request.
func TestCallers(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	redistest.Binary(t)
	for name, row := range map[string]struct {
		measure func(context.Context, *harness) ([]figures, error)
		most    float64 // KiB
	}{"HTTP": {callersOverHTTP, 24}, "WebSocket": {callersOverWebSocket, 52}} {
		b := &harness{span: 200 * time.Millisecond, pending: 500}
		got, err := b.onEmptyServer(t.Context(), row.measure)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("a caller over %s takes %.1f KiB", name, got[0].value)
		if got[0].value > row.most {
			t.Errorf("a caller over %s takes %.1f KiB, want at most %.0f", name, got[0].value, row.most)
		}
	}
}
