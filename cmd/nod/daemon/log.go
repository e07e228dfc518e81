package daemon

import (
	"fmt"
	"io"
	"log/slog"

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
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
