package slackmsg_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

// element is the part of a block or an element that the tests read.
type element struct {
	Type     string    `json:"type"`
	Text     any       `json:"text"`
	Label    string    `json:"accessibility_label"`
	Expand   bool      `json:"expand"`
	Elements []element `json:"elements"`
}

// TestButtonsAreReadAlone checks that a screen reader reads what each button
// is about, and that no two buttons of a card sound the same.
func TestButtonsAreReadAlone(t *testing.T) {
	t.Parallel()
	buttons := 0
	for _, s := range rendertest.Samples() {
		m, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]bool{}
		for _, b := range elements(t, m.Blocks) {
			for _, e := range b.Elements {
				if e.Type != "button" {
					continue
				}
				buttons++
				label := strings.TrimSuffix(e.Text.(map[string]any)["text"].(string), "…")
				if !strings.HasPrefix(e.Label, label+": ") || len([]rune(e.Label)) > 75 || read[e.Label] {
					t.Errorf("%s: the button %q is read as %q", s.Name, label, e.Label)
				}
				read[e.Label] = true
			}
		}
	}
	if buttons < 50 {
		t.Errorf("only %d buttons", buttons)
	}
}

// TestNothingFolds checks that Slack cannot fold the text of a request behind
// "See more": it is in rich text, or in a section that is expanded.
func TestNothingFolds(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		m, err := slackmsg.Build(s.View)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range elements(t, m.Blocks) {
			if b.Type == "section" && !b.Expand || regexp.MustCompile("markdown|table|container").MatchString(b.Type) {
				t.Errorf("%s: Slack may fold a block of type %s", s.Name, b.Type)
			}
		}
	}
}

// elements returns blocks as Slack reads them.
func elements(t *testing.T, blocks any) []element {
	t.Helper()
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	var out []element
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
