package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandTree returns every command below and including root, by its path.
func commandTree(root *cobra.Command) map[string]*cobra.Command {
	out := map[string]*cobra.Command{}
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		out[strings.Join(path, " ")] = c
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	walk(root, nil)
	return out
}

// misspellings returns names that are close to name, and some that are not.
func misspellings(name string) []string {
	swapped := []byte(name)
	if len(swapped) > 1 {
		swapped[0], swapped[1] = swapped[1], swapped[0]
	}
	return []string{name[:len(name)-1], name + "x", strings.ToUpper(name[:1]) + name[1:], "x" + name, string(swapped), "--" + name, "-" + name, "zzzzzzzz", "", " ", "."}
}

// misused returns argument lists that no command may accept.
func misused(tree map[string]*cobra.Command) [][]string {
	var out [][]string
	for path, c := range tree {
		at := strings.Fields(path)
		add := func(more ...string) { out = append(out, append(slices.Clone(at), more...)) }
		for _, sub := range c.Commands() {
			for _, wrong := range misspellings(sub.Name()) {
				if wrong == "--help" || wrong == "--version" || c.Runnable() && strings.HasPrefix(wrong, "-") {
					continue // help, the version, or a flag; tested below
				}
				if _, known := tree[strings.TrimSpace(path+" "+wrong)]; known && strings.TrimSpace(wrong) != "" {
					continue
				}
				add(wrong)
				add(wrong, "Delete prod-db?")
				add(wrong, "--help")
				add(wrong, "-h")
				add(wrong, "--timeout", "1h")
			}
			out = append(out, append([]string{"help"}, append(slices.Clone(at), sub.Name()+"x")...))
			out = append(out, append([]string{"help"}, append(slices.Clone(at), sub.Name(), "extra", "more")...))
		}
		add("--no-such-flag")
		add("-Z")
		if path != "" {
			add("--no-such-flag=1", "x")
		}
		if c.HasSubCommands() && path != "" && !c.Runnable() {
			add()
		}
	}
	return out
}

// TestUnknownCommands checks that a command line that nod does not understand
// exits with 2 (112 for nod run), prints nothing on stdout, and calls nothing.
func TestUnknownCommands(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write([]byte(`{"state":"approved"}`))
	}))
	defer server.Close()
	t.Setenv("NOD_URL", server.URL)
	t.Setenv("NOD_TOKEN", "token-of-nobody-at-all")
	t.Chdir(t.TempDir())
	lists := misused(commandTree(fullTree()))
	for _, args := range lists {
		var out, errs strings.Builder
		code := Run(args, strings.NewReader(""), &out, &errs)
		want := 2
		if len(args) > 0 && args[0] == "run" {
			want = 112
		}
		if code != want || !silent(args, out.String()) || errs.Len() == 0 {
			t.Errorf("nod %q: exit %d, stdout %q, stderr %q", args, code, out.String(), errs.String())
		}
	}
	if n := calls.Load(); n > 0 {
		t.Errorf("%d calls to the daemon", n)
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) > 0 {
		t.Errorf("the commands left %v, %v", left, err)
	}
	t.Logf("%d command lines", len(lists))
}

// silent reports whether a rejected command printed nothing on stdout. A hook
// may print a denial in the form that its agent reads.
func silent(args []string, stdout string) bool {
	var answer struct {
		Decision string `json:"decision"` // of Claude Code
		Behavior string `json:"behavior"` // of Copilot CLI
	}
	if len(args) > 1 && args[0] == "hook" && stdout != "" {
		return json.Unmarshal([]byte(stdout), &answer) == nil && (answer.Decision == "block" || answer.Behavior == "deny")
	}
	return stdout == ""
}

// prompting are the command lines of the commands that ask people, which emptied
// completes.
var prompting = map[string][]string{"ask": {"x"}, "approve": {"x"}, "run": {"--", "true"}, "notify": {"x"}}

// emptied returns a command line with an empty value for each flag of the
// commands that ask people.
func emptied(tree map[string]*cobra.Command) [][]string {
	var out [][]string
	for name, args := range prompting {
		tree[name].Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "bool" {
				out = append(out, append([]string{name, "--patience", "1ms", "--" + f.Name, ""}, args...))
			}
		})
	}
	return out
}

// TestArguments checks that each command rejects too few, too many and empty
// arguments, and that the commands that ask people reject empty flags.
func TestArguments(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s", r.Method, r.URL)
		http.Error(w, "{}", http.StatusTeapot)
	}))
	defer server.Close()
	t.Setenv("NOD_URL", server.URL)
	t.Setenv("NOD_TOKEN", "token-of-nobody-at-all")
	t.Chdir(t.TempDir())
	for _, args := range append(emptied(commandTree(fullTree())), [][]string{
		{"approve"}, {"approve", ""}, {"approve", "  "}, {"approve", "a", "b"}, {"approve", "\n\t"},
		{"ask"}, {"ask", ""}, {"ask", " "}, {"ask", "a", "b"}, {"notify"}, {"notify", ""}, {"notify", "a", "b"},
		{"run"}, {"run", "--"}, {"run", "--", ""}, {"run", "--", " "}, {"run", ""}, {"run", "--", "/"}, {"run", "--", "./"},
		{"approve", "x", "--command", "a", "--input", "{}"}, {"approve", "x", "--input", "{"}, {"approve", "x", "--scopes", "forever"},
		{"approve", "x", "--on-timeout", "approve"}, {"approve", "x", "--on-timeout", "allow"},
		{"show"}, {"show", "a", "b"}, {"show", "no-id"}, {"answer"}, {"answer", "no-id", "once"}, {"cancel"}, {"cancel", "a", "b"}, {"list", "x"}, {"grants", "x"}, {"grants", "revoke"},
		{"version", "x"}, {"man"}, {"man", "a", "b"}, {"serve", "x"}, {"demo", "x"}, {"doctor", "x"}, {"init", "x", "y", "z"}, {"receipt", "verify"}, {"audit", "verify", "a", "b", "c"}, {"completion"}, {"completion", "bash", "x"},
		{"hook"}, {"hook", "claude", "x"}, {"hook", "codex", "x"}, {"policy", "x"}, {"config", "x"}, {"config", "token", "a"},
	}...) {
		var out, errs strings.Builder
		code := Run(args, strings.NewReader(""), &out, &errs)
		if code == 0 || code == 5 || !silent(args, out.String()) || errs.Len() == 0 {
			t.Errorf("nod %q: exit %d, stdout %q, stderr %q", args, code, out.String(), errs.String())
		}
	}
}

// TestSuggestions checks the error for an unknown command and its suggestion.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"approv":       `unknown command "approv"; did you mean "approve"?`,
		"Approve":      `unknown command "Approve"; did you mean "approve"?`,
		"hook claud":   `unknown command "hook claud"; did you mean "hook claude"?`,
		"grants lst":   `unknown command "grants lst"; did you mean "grants list"?`,
		"help approv":  `unknown command "approv"; did you mean "approve"?`,
		"zzzzzzzz":     `unknown command "zzzzzzzz"`,
		"hook":         `a command is required`,
		"--approve x":  `unknown flag: --approve`,
		"audit verfy":  `unknown command "audit verfy"; did you mean "audit verify"?`,
		"completion x": `unknown command "completion x"`,
	} {
		var out, errs strings.Builder
		if code := Run(strings.Fields(line), nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("nod %s: exit %d, %q; want %q", line, code, errs.String(), want)
		}
	}
	for _, line := range []string{"", "help", "--help", "-h", "help approve", "approve --help", "hook --help", "help hook claude", "hook claude -h", "help grants list"} {
		var out, errs strings.Builder
		if code := Run(strings.Fields(line), nil, &out, &errs); code != 0 || !strings.Contains(out.String(), "Usage:") || errs.Len() > 0 {
			t.Errorf("nod %s: exit %d, %q", line, code, errs.String())
		}
	}
}
