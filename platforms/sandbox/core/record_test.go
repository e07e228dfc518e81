package core_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/core"
)

// TestRecorder checks that a recorder writes one exchange of each shape, and
// that it writes the payload as the bot sent it.
func TestRecorder(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := core.NewRecorder(&out)
	for _, n := range []string{"1", "22"} {
		payload := map[string]any{"text": "release " + n, "custom_id": "token " + n}
		accepted := r.Watch("chat", "send", payload)
		payload["text"] = "changed by the service"
		accepted(map[string]any{"id": n})
	}
	r.Note(core.ToBot, "chat", "click", map[string]any{"id": "7"})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d lines, want 2: %s", len(lines), out.String())
	}
	var first struct {
		Kind    string
		Payload map[string]string
		Answer  map[string]string
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	if first.Kind != core.ByBot || first.Payload["text"] != "release 1" || first.Answer["id"] != "1" {
		t.Errorf("got %+v", first)
	}
}

// TestNoRecorder checks that nothing is recorded unless someone asks.
func TestNoRecorder(t *testing.T) {
	t.Parallel()
	r := core.Recording()
	if r != nil {
		t.Skip("this run is recorded")
	}
	r.Watch("chat", "send", nil)(nil)
	r.Note(core.ToService, "chat", "click", nil)
}
