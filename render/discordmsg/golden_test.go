package discordmsg_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/rendertest"
)

// TestCards compares what people see in Discord of every intent in every state
// with the golden file, and checks that Discord accepts it: messages, private
// menus and modals.
func TestCards(t *testing.T) {
	t.Parallel()
	b := rendertest.NewBook(t, rendertest.Discord)
	message := func(name string, m discordmsg.Message, err error) {
		b.Add(name, m, err)
		if bad := refused(t, m); bad != "" {
			t.Errorf("discord refuses %s: %s", name, bad)
		}
	}
	modal := func(name string, f bridge.Form) {
		m, err := discordmsg.BuildModal(f, "id")
		if bad := sandbox.CheckDiscordModal(b.Add(name, m, err)); bad != "" {
			t.Errorf("discord refuses %s: %s", name, bad)
		}
	}
	samples := rendertest.Samples()
	for _, s := range samples {
		m, err := discordmsg.Build(s.View)
		message(s.Name, m, err)
	}
	for _, f := range rendertest.Forms() {
		if !render.Opens(f.Form) || render.AsksReason(f.Form) {
			modal("form-"+f.Name, f.Form)
			continue
		}
		m, err := discordmsg.Menu(f.Form)
		message("form-"+f.Name, m, err)
	}
	for _, s := range samples {
		if !s.View.Record.State.Final() && s.View.Record.Interaction.Kind == bridge.KindAsk {
			modal("modal-"+s.Name, bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionPage}})
		}
	}
}

// refused returns the reason why Discord would refuse a message, or "".
func refused(t *testing.T, m discordmsg.Message) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"flags": 32768, "components": m.Components, "attachments": []any{m.File}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	return sandbox.CheckDiscordMessage(got)
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
		if bad := refused(t, m); bad != "" {
			t.Errorf("a long note of %q: %s", of, bad)
		}
	}
}

// TestAnyMarkdown checks that Discord accepts cards with any texts.
func TestAnyMarkdown(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	for range level.Often(3000, 400) {
		s := rendertest.Hostile(r)
		m, err := discordmsg.Build(s.View)
		if err != nil {
			t.Fatalf("%v; %s", err, s.Texts())
		}
		if bad := refused(t, m); bad != "" {
			t.Fatalf("discord refuses %+v: %s\n%s", m, bad, s.Texts())
		}
		if i := s.View.Record.Interaction; s.View.Record.State.Final() || i.Kind != bridge.KindAsk {
			continue
		}
		form, err := discordmsg.BuildModal(bridge.Form{View: s.View, Control: bridge.Control{Option: bridge.OptionPage}}, "id")
		if err != nil {
			t.Fatalf("%v; %s", err, s.Texts())
		}
		raw, err := json.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		if bad := sandbox.CheckDiscordModal(raw); bad != "" {
			t.Fatalf("discord refuses %s: %s\n%s", raw, bad, s.Texts())
		}
	}
}
