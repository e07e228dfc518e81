package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestLogFlood checks that a message that repeats is logged a few times, and then
// rarely with the number that was left out, and that others are not affected.
func TestLogFlood(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	h := newThrottle(slog.NewTextHandler(&b, nil))
	at := time.Unix(1, 0)
	say := func(level slog.Level, message string, after time.Duration) {
		at = at.Add(after)
		if err := h.WithAttrs([]slog.Attr{slog.String("a", "b")}).Handle(context.Background(), slog.NewRecord(at, level, message, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 * 44 { // one minute of an unreachable Redis
		say(slog.LevelWarn, "deadlines not applied", time.Second/44)
	}
	if n := strings.Count(b.String(), "deadlines not applied"); n < lineBurst || n > lineBurst+13 {
		t.Errorf("%d lines in a minute", n)
	}
	if !strings.Contains(b.String(), "left_out=") {
		t.Error("no line says how many were left out")
	}
	b.Reset()
	for range 50 {
		say(slog.LevelInfo, "deadline passed", time.Millisecond)
	}
	say(slog.LevelError, "something else", 0)
	if n := strings.Count(b.String(), "\n"); n != 51 {
		t.Errorf("%d lines of other kinds, want 51", n)
	}
}
