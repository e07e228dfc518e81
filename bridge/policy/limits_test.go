package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestGrantWords checks what a card says that a grant by a rule covers: each
// condition of the rule.
func TestGrantWords(t *testing.T) {
	t.Parallel()
	push := []string{"git push *"}
	for want, r := range map[string]Rule{
		"`git push *`":                                   {Command: push},
		"`git push *` or `make x`":                       {Command: append(push, "make x")},
		"`git push *`, without options":                  {Command: push, Options: []string{}},
		"`git push *`, only with the options `-f`, `-n`": {Command: push, Options: []string{"-f", "-n"}},
		"`git push *` with the tool `Bash`":              {Command: push, Tools: []string{"Bash"}},
		"`git push *` with the tool `Bash` or `Run`":     {Command: push, Tools: []string{"Bash", "Run"}},
		"`/repo/*`": {Path: []string{"/repo/*"}},
		"`git push *`, env like `prod*`, x.y like `z`":         {Command: push, Input: map[string]string{"x.y": "z", "env": "prod*"}},
		"everything the rule r matches with the tool `deploy`": {Tools: []string{"deploy"}},
	} {
		r.Name, r.Then, r.Grant = "r", bridge.EffectAsk, "rule"
		if got := build(t, []Rule{r}).rules[0].words(); got != want {
			t.Errorf("the card says %q, want %q", got, want)
		}
	}
}

// TestEachCommandIsAsked checks that people on the default route are asked about each
// command of a line that no rule matches, unless it starts one that a rule matches.
func TestEachCommandIsAsked(t *testing.T) {
	t.Parallel()
	p := build(t, []Rule{
		{Name: "sudo", Command: []string{"sudo *"}, Then: bridge.EffectAllow},
		{Name: "tool", Tools: []string{"other"}, Then: bridge.EffectAsk},
		{Name: "push", Command: []string{"git push *"}, Then: bridge.EffectAsk, Route: "dev"},
	})
	for line, want := range map[string]string{
		"git push $X": "dev", "git push $X; make y": "dev,", "make y; git push $X": ",dev", "sudo git push $X": "dev", "nice git push $X": "dev",
		"sudo make $X; git push $X": ",dev", "make $X": "",
	} {
		if r := p.Judge(act("Bash", "", map[string]string{"command": line})); strings.Join(r.Routes, ",") != want {
			t.Errorf("%q asks on the routes %q, want %q", line, r.Routes, want)
		}
	}
}

// TestReadLimits checks up to which limits the commands of a line, and those that
// they start, are found.
func TestReadLimits(t *testing.T) {
	t.Parallel()
	many := func(count int) string {
		var b strings.Builder
		for n := range count {
			fmt.Fprintf(&b, "c%d; ", n)
		}
		return b.String()
	}
	spaces := strings.Repeat(" ", maxScript-len("rm x"))
	for name, x := range map[string]struct {
		line  string
		found bool // rm x
		outer int
	}{
		"scripts":                {strings.Repeat("eval ", maxScripts) + "rm x", true, 1},
		"one script more":        {strings.Repeat("eval ", maxScripts+1) + "rm x", false, 1},
		"a long script":          {"rm x" + spaces, true, 1},
		"a longer script":        {"rm x " + spaces, false, 0},
		"long pieces":            {"rm x;(" + spaces[2:], true, 0},
		"longer pieces":          {"rm x;(" + spaces[1:], false, 0},
		"commands":               {many(maxCommands-1) + "rm x", true, maxCommands},
		"one command more":       {many(maxCommands) + "rm x", false, maxCommands},
		"started commands":       {"sudo -a -b -c -d -e -f rm x", true, 1},
		"one option more":        {"sudo -a -b -c -d -e -f -g rm x", false, 1},
		"nested find":            {strings.Repeat("find . -exec ", maxScripts) + "sudo rm x", true, 1},
		"one find more":          {strings.Repeat("find . -exec ", maxScripts+1) + "sudo rm x", false, 1},
		"a command of the line":  {"ls; eval 'ls; rm x'", true, 2},
		"unfinished":             {"ls; rm x; (", true, 0},
		"unfinished, in a shell": {"sh -c 'ls; rm \"x\" ('", true, 1},
	} {
		var c commands
		c.script(x.line, 0)
		found := slices.ContainsFunc(c.found, func(words []string) bool { return slices.Equal(words, []string{"rm", "x"}) })
		if found != x.found || len(c.outer) != x.outer || len(c.found) > maxCommands {
			t.Errorf("%s: rm is found: %t, %d commands of the line, %d in all", name, found, len(c.outer), len(c.found))
		}
	}
	var c commands
	if c.script("halt; (", 0); len(c.found) != 1 || c.found[0][0] != "halt" {
		t.Errorf("of a command without words, %q is found", c.found)
	}
}

// TestWhyNotPlain checks that the reason why a line is not plain names what is in it.
func TestWhyNotPlain(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"ls(x)": `the command name "ls" is followed by "("`, "ls > /dev/null x": "a word follows a redirection", "": "a command name is missing",
	} {
		if _, err := plain(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not plain because of %q, want %q", line, err, want)
		}
	}
}
