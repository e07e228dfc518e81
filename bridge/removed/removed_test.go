package removed

import (
	"strings"
	"testing"
)

// with replaces the table for a test.
func with(t *testing.T, rows ...Name) {
	t.Helper()
	before := names
	t.Cleanup(func() { names = before })
	names = rows
}

// TestFind checks that a row covers everything below a command, a setting or a
// field, and that a flag is found with and without its command.
func TestFind(t *testing.T) {
	with(t,
		Name{Kind: Command, Name: "channel", Instead: "a"}, Name{Kind: Command, Name: "channel mute", Instead: "b"},
		Name{Kind: Setting, Name: "oncall.NAME.x", Instead: "c"}, Name{Kind: Flag, Name: "hook --old", Instead: "d"},
		Name{Kind: Flag, Name: "--any", Instead: "e"})
	for _, c := range []struct {
		kind       Kind
		name, want string
	}{
		{Command, "channel", "a"}, {Command, "channel list x", "a"}, {Command, "channel mute slack:C1", "b"}, {Command, "mute", ""},
		{Setting, "oncall.NAME.x.y", "c"}, {Setting, "oncall.NAME", ""}, {Field, "oncall.NAME.x", ""},
		{Flag, "hook claude --old", "d"}, {Flag, "ask --old", ""}, {Flag, "ask --any", "e"}, {Flag, "--any", "e"},
	} {
		if got, ok := Instead(c.kind, c.name); got != c.want || ok != (c.want != "") {
			t.Errorf("%s %q: %q, %v", c.kind, c.name, got, ok)
		}
	}
}

// TestCut checks which words of a command line are dropped with a removed flag.
func TestCut(t *testing.T) {
	with(t, Name{Kind: Flag, Name: "hook --old", Value: true}, Name{Kind: Flag, Name: "proxy --switch"}, Name{Kind: Flag, Name: "proxy --old", Value: true})
	takes := func(flag string) bool { return flag == "route" }
	for line, want := range map[string]string{
		"hook claude":                              "hook claude",
		"hook claude --old":                        "hook claude",
		"hook claude --old 5s":                     "hook claude",
		"hook claude --old=5s":                     "hook claude",
		"hook claude --old= --fail open":           "hook claude --fail open",
		"hook claude --old --fail open":            "hook claude --fail open",
		"hook claude --route --old":                "hook claude --route --old",
		"hook claude --route=x --old 5s":           "hook claude --route=x",
		"hook claude --older":                      "hook claude --older",
		"hook claude -old":                         "hook claude -old",
		"proxy acp --switch agent":                 "proxy acp agent",
		"proxy acp --switch=false agent":           "proxy acp agent",
		"proxy acp --old 5s --switch -- a --old x": "proxy acp -- a --old x",
		"ask x --old 5s":                           "ask x --old 5s",
	} {
		kept, gone := Cut(strings.Fields(line), takes)
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("%s: kept %q, want %q", line, got, want)
		}
		if cut := line != want; cut != (len(gone) > 0) {
			t.Errorf("%s: dropped %v", line, gone)
		}
	}
}

// TestRows checks that each name has one row, and that the row says what to do
// now, as the end of an error message.
func TestRows(t *testing.T) {
	for _, kind := range []Kind{Setting, Command, Flag, Field, Value, Route} {
		seen := map[string]bool{}
		for _, row := range All(kind) {
			if seen[row.Name] {
				t.Errorf("%s %s has two rows", kind, row.Name)
			}
			seen[row.Name] = true
			if row.Instead == "" || strings.ToLower(row.Instead[:1]) != row.Instead[:1] || strings.HasSuffix(row.Instead, ".") {
				t.Errorf("%s %s: %q does not say what to do now", kind, row.Name, row.Instead)
			}
			if got, was := Instead(kind, row.Name); !was || got != row.Instead {
				t.Errorf("%s %s: %q, %v", kind, row.Name, got, was)
			}
			if row.Value && kind != Flag || row.Runs != "" && kind != Command {
				t.Errorf("%s %s has a field of another kind", kind, row.Name)
			}
		}
	}
}
