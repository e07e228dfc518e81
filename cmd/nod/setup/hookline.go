package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// hookLine is the command line of a hook that runs nod.
type hookLine struct {
	// before is the text in front of the program, such as
	// "NOD_URL=http://127.0.0.1:8787 " or ". ~/nod.env && ".
	before  string
	program string
	// decides means that the command fails if nod fails or does not run, and that
	// the agent reads what nod writes.
	decides bool
}

// hookProgram is the name of the program that contains only nod hook. Releases
// install it next to nod.
const hookProgram = "nod-hook"

// isHookProgram reports whether a path is the path of nod-hook.
func isHookProgram(path string) bool {
	return strings.TrimSuffix(filepath.Base(path), ".exe") == hookProgram
}

// hookWords returns the start of the command line of a hook. It uses nod-hook,
// which starts faster, if that program is next to nod and has the same version.
// Otherwise, it uses nod hook.
func (s *Settings) hookWords(agent string) string {
	if s.hook == "" {
		program := s.program()
		small := nextTo(program)
		same, err := sameVersion(program, small)
		if err == nil && !same {
			fmt.Fprintf(s.Talk, "nod: warning: %s is not the same version as %s, so hooks run nod hook, which starts more slowly\n", small, program)
		}
		if s.hook = render.ShellQuote(program) + " hook"; same {
			s.hook = render.ShellQuote(small)
		}
	}
	return s.hook + " " + agent
}

// nextTo returns the path of nod-hook in the directory of nod.
func nextTo(program string) string {
	name := hookProgram
	if strings.HasSuffix(program, ".exe") {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(program), name)
}

// examineHook checks that nod-hook, if it is next to nod, has the same version.
func (d *Doctor) examineHook() {
	program := (&Settings{Talk: io.Discard}).program()
	if same, err := sameVersion(program, nextTo(program)); err == nil && !same {
		d.add("agents.hook", bridge.FindingWarning, nextTo(program)+" is not the same version as "+program, "install both programs of one release, and run nod init again")
	}
}

// sameVersion reports whether two programs print the same version. It returns an
// error if one of them does not run.
func sameVersion(one, other string) (bool, error) {
	var out [2]string
	for n, program := range []string{other, one} {
		if !filepath.IsAbs(program) {
			return false, errors.New("not an absolute path")
		}
		path, err := exec.LookPath(program)
		if err != nil {
			return false, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), versionTime)
		raw, err := exec.CommandContext(ctx, path, "version").Output()
		cancel()
		if err != nil {
			return false, err
		}
		_, out[n], _ = strings.Cut(string(raw), " ")
	}
	return out[0] == out[1], nil
}

// versionTime limits how long nod waits for the version of a program.
const versionTime = 10 * time.Second

// hasFlag reports whether an entry runs a hook of Claude Code with a boolean
// flag.
func hasFlag(raw json.RawMessage, flag string) bool {
	var e hookEntry
	if decode(raw, &e) != nil || len(e.Hooks) != 1 {
		return false
	}
	_, ours := parseHookLine(e.Hooks[0].Command, "claude")
	return ours && slices.Contains(strings.Fields(e.Hooks[0].Command), flag)
}

// parseHookLine finds the call of nod hook in the command line of an agent's
// hook. It returns false if there is none.
func parseHookLine(command, agent string) (hookLine, bool) {
	var out hookLine
	found := false
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return out, false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || found {
			return !found
		}
		var k int
		if k, found = hookCall(call, agent); found {
			before := strings.TrimLeft(command[:call.Args[k].Pos().Offset()], " \t\n")
			out = hookLine{before, literals(call)[k], decides(file.Stmts, call)}
		}
		return !found
	})
	return out, found
}

// hookCall returns the position of nod in the words of a call, if it calls nod
// hook.
func hookCall(call *syntax.CallExpr, agent string) (int, bool) {
	words := literals(call)
	for k := range words {
		rest := words[k+1:]
		if isProgram(words[k]) && len(rest) > 1 && rest[0] == "hook" && rest[1] == agent || isHookProgram(words[k]) && len(rest) > 0 && rest[0] == agent {
			return k, true
		}
	}
	return 0, false
}

// commandLines returns the words after nod in every command line of decoded
// JSON settings. A command line is a shell command, or a program with its
// arguments.
func commandLines(v any) [][]string {
	var out [][]string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, commandLines(x)...)
		}
	case map[string]any:
		raw, _ := json.Marshal(v) // was decoded from JSON
		var p process
		if decode(raw, &p) == nil && len(p.words()) > 1 && isProgram(p.words()[0]) {
			return [][]string{afterProgram(p.words())}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, commandLines(v[name])...)
		}
	case string:
		file, err := syntax.NewParser().Parse(strings.NewReader(v), "")
		if err != nil {
			return nil
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				words := literals(call)
				if k := slices.IndexFunc(words, isProgram); k >= 0 && k+1 < len(words) {
					out = append(out, afterProgram(words[k:]))
				}
			}
			return true
		})
	}
	return out
}

// afterProgram returns the words after nod in a command line. For nod-hook, it
// inserts the word hook.
func afterProgram(words []string) []string {
	if isHookProgram(words[0]) {
		return append([]string{"hook"}, words[1:]...)
	}
	return words[1:]
}

// literals returns the words of a command without their quotes. It returns an
// empty word if the value depends on another command.
func literals(call *syntax.CallExpr) []string {
	words := make([]string, len(call.Args))
	config := &expand.Config{} // expand.Literal writes to it; nil would share one among all callers
	for n, arg := range call.Args {
		words[n], _ = expand.Literal(config, arg) // empty after an error
	}
	return words
}

// hooksBefore returns the text in front of nod in the hooks of an agent, such as
// an environment that a user added, by event. The text under "" is for events
// whose hooks have none.
func (s *Settings) hooksBefore(hooks map[string][]json.RawMessage, agent string) (map[string]string, error) {
	before := map[string]string{}
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		var commands []string
		for _, raw := range hooks[event] {
			var e hookEntry
			if ours, _ := isOurs(raw, agent); ours && decode(raw, &e) == nil {
				commands = append(commands, e.Hooks[0].Command)
			}
		}
		text, err := s.beforeProgram(commands, agent)
		if err != nil {
			return nil, err
		}
		before[event], before[""] = text, cmp.Or(before[""], text)
	}
	return before, nil
}

// beforeProgram returns the text in front of nod in the command lines of the
// hooks of an event. It is empty if none has such a text. It returns CodeInvalid
// if the texts differ, or if a hook with this text could succeed although nod
// fails or does not run.
func (s *Settings) beforeProgram(commands []string, agent string) (string, error) {
	before := ""
	for _, command := range commands {
		line, ours := parseHookLine(command, agent)
		if !ours || line.before == "" || s.Undo {
			continue
		}
		if kept, _ := parseHookLine(line.before+hookProgram+" "+agent, agent); !kept.decides {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: the hook %q runs nod inside of another command, or not always", s.Path, command).
				WithHint("remove that hook, or run nod at its end, as in: . ~/nod.env && nod hook %s; nothing was changed", agent)
		}
		if before != "" && before != line.before {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: hooks of one event start with %q and with %q", s.Path, before, line.before).
				WithHint("let both start with the same text; nothing was changed")
		}
		before = line.before
	}
	return before, nil
}
