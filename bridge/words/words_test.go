package words_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// shellRequest is a pending approval of a shell command.
func shellRequest(t *testing.T, command string) bridge.Record {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	i := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "Clean up?"}, Agent: "ci"}
	i.Created, i.Deadline = time.Now(), time.Now().Add(time.Hour)
	i.Approval = &bridge.Approval{Tool: "bash", Input: input}
	return bridge.Record{State: bridge.StatePending, Interaction: i}
}

// TestShowsWhatRuns checks that the words about a request show a command as it
// would run, with its lines and spaces, and count what does not fit.
func TestShowsWhatRuns(t *testing.T) {
	t.Parallel()
	const command = "rm -rf  'a  b' <x> & \"$HOME\"\n\tmake *deploy*"
	if said := words.Describe(shellRequest(t, command)); !strings.Contains(said, "To run: bash\n"+command+"\n") {
		t.Errorf("it says %q", said)
	}
	r := shellRequest(t, strings.Repeat("é", 5000))
	r.Interaction.Prompt = strings.Repeat("long ", 1000)
	said := words.Describe(r)
	if !utf8.ValidString(said) || strings.Count(said, "more bytes on its card") != 2 || len(said) > 1800 {
		t.Errorf("it has %d bytes: %q", len(said), said)
	}
}

// TestUnread checks that a person whose right to answer is currently unknown
// reads what nod cannot read, and whether a denial counts already.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, denies := range []bool{false, true} {
		no := people.Refusal{Why: people.WhyUnread, Unread: []string{"@oncall (HTTP 500)"}, Denies: denies}
		if said := words.Why(bridge.Interaction{}, no); !strings.Contains(said, "@oncall (HTTP 500)") || strings.Contains(said, "deny") != denies {
			t.Errorf("denies %v: it says %q", denies, said)
		}
	}
}
