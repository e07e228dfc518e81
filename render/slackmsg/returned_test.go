package slackmsg

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/render"
)

// TestHidden checks that a message as Slack writes it counts as whole, and one
// that lacks something does not.
func TestHidden(t *testing.T) {
	t.Parallel()
	sent := []slack.Block{
		slack.NewHeaderBlock(plain("🔐 Permission wanted", maxHeader)),
		slack.NewContextBlock("from", plain("ci · see https://example.com", maxSection)),
		richText("body", []render.Block{render.Para("May I <run> this & that? 🎉 Step 1️⃣ deploys ℹ️ 👍🏽. See https://example.com/a"), {Kind: render.Code, Text: "echo one\nrm -rf /"}}),
		slack.NewActionBlock("act", button("o", "token", "Allow once", slack.StylePrimary)),
	}
	raw, err := json.Marshal(slack.Blocks{BlockSet: sent})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(string) string
		whole  bool
	}{
		{"unchanged", func(s string) string { return s }, true},
		{"emoji as codes", strings.NewReplacer("🔐", ":closed_lock_with_key:", "🎉", ":tada:").Replace, true},
		{"emoji of several characters as codes", strings.NewReplacer("1️⃣", ":one:", "ℹ️", ":information_source:", "👍🏽", ":+1::skin-tone-4:").Replace, true},
		{"a word next to an emoji is missing", strings.NewReplacer(" deploys", "").Replace, false},
		{"escaped", strings.NewReplacer(`\u003crun\u003e`, `\u0026lt;run\u0026gt;`, `this \u0026 that`, `this \u0026amp; that`).Replace, true},
		{"a link in a context", strings.NewReplacer("see https://example.com", `see \u003chttps://example.com\u003e`).Replace, true},
		{"the end is missing", strings.NewReplacer(`\nrm -rf /`, "").Replace, false},
		{"the middle is missing", strings.NewReplacer("echo one", "").Replace, false},
		{"the end is another", strings.NewReplacer("rm -rf /", "true").Replace, false},
		{"no button", strings.NewReplacer("Allow once", "").Replace, false},
		{"a block is missing", func(s string) string { return "[" + s[strings.Index(s, `{"type":"context"`):] }, false},
		{"nothing", func(string) string { return "[]" }, false},
	} {
		var got slack.Blocks
		text := c.change(string(raw))
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v in %s", c.name, err, text)
		}
		if hidden := Hidden(sent, got.BlockSet); (hidden == "") != c.whole {
			t.Errorf("%s: %q", c.name, hidden)
		}
		if c.name != "unchanged" && text == string(raw) {
			t.Errorf("%s changes nothing in %s", c.name, raw)
		}
	}
}
