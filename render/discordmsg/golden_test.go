package discordmsg_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/rendertest"
)

// TestMessages pins the wire form of every intent in every state.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		m, err := discordmsg.Build(s.View)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		rendertest.Golden(t, s.Name, m)
	}
}

// TestForms pins the private menus and the modals of decisions.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forms() {
		if !render.Opens(f.Form) || render.AsksReason(f.Form) {
			m, err := discordmsg.BuildModal(f.Form, "id")
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			rendertest.Golden(t, "form-"+f.Name, m)
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if bad := sandbox.CheckDiscordModal(raw); bad != "" {
				t.Errorf("discord refuses %s: %s", f.Name, bad)
			}
			continue
		}
		m, err := discordmsg.Menu(f.Form)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		rendertest.Golden(t, "form-"+f.Name, m)
	}
}

func TestModals(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		if s.View.Record.State.Final() || s.View.Record.Interaction.Kind == bridge.KindApproval {
			continue
		}
		m, err := discordmsg.BuildModal(bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionPage}}, "id")
		if err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "modal-"+s.Name, m)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a*b_c~d`e|f": `a\*b\_c\~d\` + "`" + `e\|f`, "# h\n- l\n1. n": "\\# h\n\\- l\n1\\. n", "12:30 :smile: https://x": `12:30 \:smile: https\://x`,
		"<@1> @everyone [x](y)": `\<\@1\> \@everyone \[x\]\(y\)`,
	} {
		if got := discordmsg.Escape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestNoANSI checks that a code block cannot ask Discord for terminal colors,
// which can hide text.
func TestNoANSI(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"ansi", "ANSI", "Ansi"} {
		if got := discordmsg.Markdown(render.Markdown("```" + lang + "\nrm -rf /\n```")); strings.Contains(strings.ToLower(got), "ansi") {
			t.Errorf("%s: %q", lang, got)
		}
	}
}

// TestNote checks that a text for one person is never cut: the rest of a long
// one is in its file.
func TestNote(t *testing.T) {
	t.Parallel()
	if m := discordmsg.Note("short"); m.File != nil || len(m.Components) != 1 {
		t.Errorf("a short note: %+v", m)
	}
	for _, of := range []string{"word ", "世", "*"} {
		m := discordmsg.Note(strings.Repeat(of, 4000) + "end")
		if m.File == nil || !strings.HasSuffix(string(m.File.Data), "end\n") {
			t.Errorf("a long note of %q is not in its file", of)
		}
		raw, err := json.Marshal(map[string]any{"flags": 32768, "components": m.Components, "attachments": []any{1}})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckDiscordMessage(got); bad != "" {
			t.Errorf("a long note of %q: %s", of, bad)
		}
	}
}
