package render_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestOneLabelForOneAct checks, on the cards of all services, that the button which
// sends a choice, and the one which declines, have the same words everywhere.
func TestOneLabelForOneAct(t *testing.T) {
	t.Parallel()
	acts := map[*regexp.Regexp][]string{
		regexp.MustCompile(`\[([^\[\]→]+) → decline\b`):                   {render.LabelDecline},
		regexp.MustCompile(`\[([^\[\]→]+) → submit (?:form|shown) q\d\b`): {render.LabelContinue, render.LabelSubmit, render.LabelOK},
	}
	for _, service := range []string{"slackmsg", "discordmsg", "telegrammsg"} {
		golden, err := os.ReadFile(service + "/testdata/cards.txt")
		if err != nil {
			t.Fatal(err)
		}
		for act, want := range acts {
			found := act.FindAllStringSubmatch(string(golden), -1)
			for _, m := range found {
				if label := strings.TrimPrefix(m[1], "✅ "); !slices.Contains(want, label) {
					t.Errorf("%s: %q, want one of %q", service, label, want)
				}
			}
			if len(found) == 0 {
				t.Errorf("%s: no button matches %s", service, act)
			}
		}
	}
}

// TestEntriesSayTheirScope checks that an entry of a menu says what it approves and
// how long, or what it stops.
func TestEntriesSayTheirScope(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		sample string
		d      bridge.Decision
		want   string
	}{
		{"approval", bridge.DecideSession, "Approve identical requests in session, 24 hours…"},
		{"approval", bridge.DecideAlways, "Approve all identical requests, 30 days…"},
		{"approval", bridge.DecideDeny, "Deny…"},
		{"approval-rule", bridge.DecideSession, `Approve this and its rule in session, 8 hours, 2 rules, in "/srv"…`},
		{"approval-able", bridge.DecideAlways, "Always approve: deploy-bot remembers it…"},
		{"approval-able", bridge.DecideDenyStop, "Deny and stop deploy-bot until someone resumes it…"},
	} {
		if got := render.EntryLabel(find(t, x.sample).Record.Interaction, x.d); got != x.want {
			t.Errorf("%s: %q, want %q", x.sample, got, x.want)
		}
	}
}
