package slackmsg_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

var blockID = regexp.MustCompile(`"block_id":"([^"]*)"`)

// blockIDs returns the IDs of the blocks of a message.
func blockIDs(t *testing.T, m slackmsg.Message) []string {
	t.Helper()
	raw, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, found := range blockID.FindAllStringSubmatch(string(raw), -1) {
		out = append(out, found[1])
	}
	return out
}

// TestBlockIDs checks that a card which is drawn again keeps the IDs of its
// blocks, so that clients keep what people have entered, and that other content
// has other IDs.
func TestBlockIDs(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		first, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		s.View.Record.Revision++
		again, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := blockIDs(t, first), blockIDs(t, again); !slices.Equal(a, b) {
			t.Errorf("%s: redrawn, %q became %q", s.Name, a, b)
		}
		i := &s.View.Record.Interaction
		i.Prompt += " Really?"
		if i.Content, err = proof.Content(*i); err != nil {
			t.Fatal(err)
		}
		other, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range blockIDs(t, other) {
			if id != "" && slices.Contains(blockIDs(t, first), id) {
				t.Errorf("%s: another prompt has the same block %q", s.Name, id)
			}
		}
	}
}

// TestPlainContext checks that nothing that an agent sent is read as markup: it
// is in plain text or in leaves of rich text, and never in mrkdwn.
func TestPlainContext(t *testing.T) {
	t.Parallel()
	const sent = "*a* `b` _c_"
	for _, s := range rendertest.Samples() {
		i := &s.View.Record.Interaction
		i.Agent, i.Session, i.Prompt = sent, sent, sent
		m, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(m.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range regexp.MustCompile(`\{"type":"mrkdwn"[^}]*\}`).FindAllString(string(raw), -1) {
			if strings.Contains(text, "*a*") {
				t.Errorf("%s: %s", s.Name, text)
			}
		}
	}
}

// TestModalOptions checks that the card lists the options that only a modal
// offers if there is one question, or if the modal does not show them whole.
func TestModalOptions(t *testing.T) {
	t.Parallel()
	many := make([]bridge.Option, 40)
	for n := range many {
		many[n] = bridge.Option{Value: strconv.Itoa(n), Label: "Cluster " + strconv.Itoa(n)}
	}
	q := bridge.Question{ID: "q", Text: "Where?", Widget: bridge.WidgetSelect, Options: many}
	other := bridge.Question{ID: "r", Text: "How?", Widget: bridge.WidgetRadio, Options: many[:2]}
	long := q
	long.Options = slices.Clone(many)
	long.Options[0].Preview = "a: 1"
	for name, questions := range map[string][]bridge.Question{"long list": {q}, "several": {other, long}} {
		s := rendertest.Samples()[0]
		s.View.Record.Interaction.Questions = questions
		m, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(m.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range many {
			if !strings.Contains(string(raw), `"`+o.Label+`"`) {
				t.Errorf("%s: the card does not list %s", name, o.Label)
			}
		}
	}
}
