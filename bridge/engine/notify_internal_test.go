package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
)

// shellRequest is a pending approval of a shell command.
func shellRequest(t *testing.T, command string) bridge.Record {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	i := question("Clean up?")
	i.Kind, i.Questions = bridge.KindApproval, nil
	i.Approval = &bridge.Approval{Tool: "bash", Input: input}
	return bridge.Record{State: bridge.StatePending, Interaction: i}
}

// TestShowsWhatRuns checks that the words about a request show a command as it
// would run, with its lines and spaces, and count what does not fit.
func TestShowsWhatRuns(t *testing.T) {
	t.Parallel()
	const command = "rm -rf  'a  b' <x> & \"$HOME\"\n\tmake *deploy*"
	if said := describe(shellRequest(t, command)); !strings.Contains(said, "To run: bash\n"+command+"\n") {
		t.Errorf("it says %q", said)
	}
	r := shellRequest(t, strings.Repeat("é", 5000))
	r.Interaction.Prompt = strings.Repeat("long ", 1000)
	said := describe(r)
	if !utf8.ValidString(said) || strings.Count(said, "more bytes on its card") != 2 || len(said) > 1800 {
		t.Errorf("it has %d bytes: %q", len(said), said)
	}
}
