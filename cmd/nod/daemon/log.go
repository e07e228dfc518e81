package daemon

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/config"
)

// Redactor hides credentials, among them the config's own.
func Redactor(c config.Config) (*redact.Redactor, error) {
	r, err := redact.New(c.Redact.Patterns, c.Secrets())
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "config: redact.patterns")
	}
	return r, nil
}

// PlainRedactor hides the known shapes of credentials.
func PlainRedactor() *redact.Redactor {
	r, _ := redact.New(nil, nil) // without patterns there is nothing to refuse
	return r
}

// NewLog writes to w: times, levels and key=value, with no untrusted text
// unescaped and no credential.
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
