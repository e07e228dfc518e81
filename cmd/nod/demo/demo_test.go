package demo

import (
	"log/slog"
	"strings"
	"testing"
)

// TestDemoAutoplay checks that the demo passes within its 15 seconds. It does
// not run in parallel with other tests, which would slow it down.
func TestDemoAutoplay(t *testing.T) {
	var out strings.Builder
	if err := Run(t.Context(), Options{Listen: "127.0.0.1:0", Autoplay: true, Out: &out, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "All answers arrived correctly: 9 acts") {
		t.Error(out.String())
	}
}
