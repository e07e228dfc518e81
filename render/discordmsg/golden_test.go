package discordmsg_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
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
