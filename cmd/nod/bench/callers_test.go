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
	const most = 24 // KiB
	for name, measure := range map[string]func(context.Context, *harness) ([]figures, error){
		"HTTP": callersOverHTTP,
	} {
		b := &harness{span: 200 * time.Millisecond, pending: 500}
		got, err := b.onEmptyServer(t.Context(), measure)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("a caller over %s takes %.1f KiB", name, got[0].value)
		if got[0].value > most {
			t.Errorf("a caller over %s takes %.1f KiB, want at most %d", name, got[0].value, most)
		}
	}
}
