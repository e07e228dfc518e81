package demo

import (
	"log/slog"
	"strings"
	"testing"
)

// Not beside other tests: the demo promises to end within 15 seconds.
func TestDemoAutoplay(t *testing.T) {
	var out strings.Builder
	if err := Run(t.Context(), Options{Listen: "127.0.0.1:0", Autoplay: true, Out: &out, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "Everything came back right: 9 acts") {
		t.Error(out.String())
	}
}
