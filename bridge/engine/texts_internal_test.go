package engine

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// stars is a redactor of one credential.
type stars struct{}

func (stars) Redact(s string) string { return strings.ReplaceAll(s, "hunter2", "****") }
func (stars) Secret(string) bool     { return false }

// TestReportedTexts checks that people see no credential in any text that an agent
// reports about a session, and that it is refused in a text that goes back to the
// agent.
func TestReportedTexts(t *testing.T) {
	t.Parallel()
	var report bridge.SessionReport
	for text := range report.Texts() {
		*text.Value = "hunter2"
		err := (&Redactor{hide: stars{}}).Texts(report.Texts())
		if text.Use.Has(bridge.TextShown) && (err != nil || *text.Value != "****") || !text.Use.Has(bridge.TextShown) && err == nil {
			t.Errorf("%s is %q, %v", text.Path, *text.Value, err)
		}
		*text.Value = ""
	}
}
