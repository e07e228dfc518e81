package discordmsg_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/rendertest"
)

// surveyed returns the view of a request with a list of options, and with a
// question that is too long for a label.
func surveyed(options int, more ...bridge.Question) bridge.View {
	q := bridge.Question{ID: "hosts", Text: "Which hosts?", Widget: bridge.WidgetCheckbox, AllowOther: true}
	for n := range options {
		q.Options = append(q.Options, bridge.Option{Value: fmt.Sprint("host", n)})
	}
	i := bridge.Interaction{ID: "i", Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: "Patch", Questions: append([]bridge.Question{q}, more...)}}
	return bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(c bridge.Control) string {
		return fmt.Sprintf("%0*d", bridge.TokenLength, c.Option)
	})
}

// TestPages checks that the pages of a form have every option of every question
// once, and that each page is one that Discord accepts.
func TestPages(t *testing.T) {
	t.Parallel()
	why := bridge.Question{ID: "why", Text: strings.Repeat("Why now? ", 300) + "End.", Widget: bridge.WidgetText}
	for _, options := range []int{2, 25, 100, 125, 126, 300, bridge.MaxOptions} {
		v := surveyed(options, why)
		seen, texts := map[string]int{}, 0
		pages := discordmsg.Pages(v.Record.Interaction)
		for n := range pages {
			c := bridge.Control{Action: bridge.ActionInput, Option: bridge.OptionPage + n}
			m, err := discordmsg.BuildModal(bridge.Form{View: v, Control: c}, v.Token(c.Action, 0, c.Option))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if bad := sandbox.CheckDiscordModal(raw); bad != "" {
				t.Errorf("%d options, page %d: %s", options, n, bad)
			}
			for _, part := range m.Components {
				switch part := part.(type) {
				case discordmsg.Text:
					texts++
				case discordmsg.Label:
					for _, o := range part.Component.Options {
						seen[o.Value]++
					}
					f, ok := discordmsg.ParseField(part.Component.CustomID)
					if !ok || f.Question > 1 || f.Part != (options > 100 && f.Question == 0) {
						t.Errorf("%d options: the field %s is %+v", options, part.Component.CustomID, f)
					}
				}
			}
		}
		if len(seen) != options || seen["0"] != 1 || texts != 1 {
			t.Errorf("%d options: the pages have %d of them and %d texts", options, len(seen), texts)
		}
	}
}

// TestLongMenu checks that the file of a menu whose texts do not fit has the text of
// each choice below its label.
func TestLongMenu(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forms() {
		if f.Name != "edit-check" {
			continue
		}
		f.View.Draft = &bridge.Draft{Input: fmt.Sprintf(`{"command":%q}`, strings.Repeat("make deploy\n", 600)+"exit")}
		m, err := discordmsg.Menu(f.Form)
		if err != nil || m.File == nil {
			t.Fatalf("the menu has no file: %v", err)
		}
		text := string(m.File.Data)
		for _, part := range []string{render.LabelApproveNow, "make deploy", "exit", render.LabelEditAgain, "Nothing is approved yet"} {
			_, after, found := strings.Cut(text, part)
			if !found {
				t.Fatalf("%q is missing or not in its place in %s", part, m.File.Data)
			}
			text = after
		}
	}
}
