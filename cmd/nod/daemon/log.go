package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/config"
)

// Redactor returns a redactor for credentials, including those of the config.
func Redactor(c config.Config) (*redact.Redactor, error) {
	r, err := redact.New(c.Redact.Patterns, c.Secrets())
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "redact.patterns")
	}
	return r, nil
}

// PlainRedactor returns a redactor for the known formats of credentials.
func PlainRedactor() *redact.Redactor {
	r, _ := redact.New(nil, nil) // no patterns, so no error
	return r
}

// NewLog returns a logger that writes to w, as key=value pairs or JSON. It
// escapes untrusted text and redacts credentials.
func NewLog(w io.Writer, level string, asJSON bool, hide *redact.Redactor) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: l, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if k := a.Value.Kind(); k != slog.KindString && k != slog.KindAny || a.Key == slog.LevelKey {
			return a
		}
		text := fmt.Sprint(a.Value.Any())
		if safe := hide.Redact(text); safe != text {
			a.Value = slog.StringValue(safe)
		}
		return a
	}}
	if asJSON {
		return slog.New(newThrottle(slog.NewJSONHandler(w, o)))
	}
	return slog.New(newThrottle(slog.NewTextHandler(w, o)))
}

const (
	lineBurst = 10              // warnings and errors with the same message that are logged at once
	lineEvery = 5 * time.Second // minimum time between later ones
	lineKinds = 1000            // maximum number of tracked messages
)

// throttle is a handler that drops warnings and errors if the same message
// repeats too often, such as while Redis is unreachable or its disk is full.
// The next logged message has the number of dropped ones.
type throttle struct {
	slog.Handler
	kinds *counts
}

// counts counts lines by their messages.
type counts struct {
	mu  sync.Mutex
	all map[string]*kind
}

type kind struct {
	*rate.Limiter
	left int
}

func newThrottle(h slog.Handler) throttle { return throttle{h, &counts{all: map[string]*kind{}}} }

// Handle implements slog.Handler.
func (t throttle) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		left, ok := t.kinds.pass(r.Message, r.Time)
		if !ok {
			return nil
		}
		if left > 0 {
			r = r.Clone()
			r.AddAttrs(slog.Int("left_out", left))
		}
	}
	return t.Handler.Handle(ctx, r)
}

// pass reports whether a line is logged, and how many lines were dropped before
// it.
func (k *counts) pass(message string, at time.Time) (left int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x := k.all[message]
	if x == nil {
		if len(k.all) >= lineKinds {
			clear(k.all)
		}
		x = &kind{Limiter: rate.NewLimiter(rate.Every(lineEvery), lineBurst)}
		k.all[message] = x
	}
	if !x.AllowN(at, 1) {
		x.left++
		return 0, false
	}
	left, x.left = x.left, 0
	return left, true
}

// WithAttrs implements slog.Handler.
func (t throttle) WithAttrs(attrs []slog.Attr) slog.Handler {
	return throttle{t.Handler.WithAttrs(attrs), t.kinds}
}

// WithGroup implements slog.Handler.
func (t throttle) WithGroup(name string) slog.Handler {
	return throttle{t.Handler.WithGroup(name), t.kinds}
}
