package hook

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge/dialect/hooks"
)

// TestGraceIgnored checks that a hook does not wait before nod posts a request
// that no one could answer elsewhere in the meantime.
func TestGraceIgnored(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	h := call{flags: flags{grace: time.Second}, agent: hooks.Agents[1], errs: &errs}
	if h.query().Has("grace") || !strings.Contains(errs.String(), "ignored") {
		t.Errorf("the query is %v, with %q", h.query(), errs.String())
	}
	h.agent = hooks.Agents[0]
	if !h.query().Has("grace") {
		t.Error("Claude Code asks at its terminal in the meantime, but the grace period is ignored")
	}
}
