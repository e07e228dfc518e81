package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Settings is a JSON file of an agent's that nod adds its entries to.
type Settings struct {
	Path      string
	Undo      bool      // take nod's entries out again
	Print     bool      // print what would be written to Out, and write nothing
	Program   string    // how an agent starts nod; if it is empty, this program is looked up
	Out, Talk io.Writer // for what is printed, and for people
}

// HookOptions are what nod's hooks are called with.
type HookOptions struct {
	Route, Unanswered, Fail string
	Timeout, Grace, Batch   time.Duration
}

// hookTime is how long an agent lets nod's hooks run, in seconds: a day, as
// people may answer late. nod itself ends them sooner.
const hookTime = 86400

// closingTime is the same for the hooks that only report.
const closingTime = 10

// hookEntry is a matcher with its handlers, as Claude Code and Codex have it.
type hookEntry struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// program is how an agent starts nod.
func (s *Settings) program() string {
	if s.Program != "" {
		return s.Program
	}
	if path, err := exec.LookPath("nod"); err == nil && filepath.IsAbs(path) {
		return "nod"
	}
	path, err := os.Executable()
	if err != nil {
		return "nod"
	}
	return path
}

// hookCommands are the command lines of the hook that asks, and of the one
// that only reports.
func (s *Settings) hookCommands(agent string, f HookOptions) (ask, report string) {
	words := []string{render.ShellQuote(s.program()), "hook", agent}
	report = strings.Join(append(slices.Clone(words), "--fail", "open"), " ")
	for _, v := range []struct{ name, value string }{
		{"--route", f.Route}, {"--timeout", given(f.Timeout)}, {"--grace", given(f.Grace)}, {"--batch", given(f.Batch)},
		{"--unanswered", f.Unanswered}, {"--fail", f.Fail},
	} {
		if v.value != "" {
			words = append(words, v.name, render.ShellQuote(v.value))
		}
	}
	return strings.Join(words, " "), report
}

func given(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Claude adds nod's hooks to settings of Claude Code.
func (s *Settings) Claude(f HookOptions) error {
	ask, report := s.hookCommands("claude", f)
	return s.applyHooks("claude", map[string]hookEntry{
		"PermissionRequest":  {"*", []hookHandler{{"command", ask, hookTime}}},
		"PreToolUse":         {"AskUserQuestion|ExitPlanMode", []hookHandler{{"command", ask, hookTime}}},
		"Elicitation":        {"", []hookHandler{{"command", ask, hookTime}}},
		"PostToolUse":        {"*", []hookHandler{{"command", report, closingTime}}},
		"PostToolUseFailure": {"*", []hookHandler{{"command", report, closingTime}}},
		"Stop":               {"", []hookHandler{{"command", report, closingTime}}},
		"SubagentStop":       {"", []hookHandler{{"command", report, closingTime}}},
		"SessionEnd":         {"", []hookHandler{{"command", report, closingTime}}},
	})
}

// Codex adds nod's hooks to those of Codex.
func (s *Settings) Codex(f HookOptions) error {
	ask, report := s.hookCommands("codex", f)
	return s.applyHooks("codex", map[string]hookEntry{
		"PermissionRequest": {"*", []hookHandler{{"command", ask, hookTime}}},
		"PostToolUse":       {"*", []hookHandler{{"command", report, closingTime}}},
		"Stop":              {"", []hookHandler{{"command", report, closingTime}}},
	})
}

// MCP adds nod to the servers of an MCP client.
func (s *Settings) MCP() error {
	return s.change(func(doc *hujson.Value) error {
		if s.Undo {
			return prune(doc, "/mcpServers/nod", "/mcpServers")
		}
		return put(doc, []string{"mcpServers", "nod"}, map[string]any{"command": s.program(), "args": []string{"mcp"}})
	})
}

// applyHooks puts entries among an agent's hooks, or takes them out.
func (s *Settings) applyHooks(agent string, entries map[string]hookEntry) error {
	return s.change(func(doc *hujson.Value) error {
		var was struct {
			Hooks map[string][]json.RawMessage `json:"hooks"`
		}
		plain := doc.Clone()
		plain.Standardize()
		if err := json.Unmarshal(plain.Pack(), &was); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "%s: hooks", s.Path).WithHint("its hooks have a form that nod does not know; nothing was changed")
		}
		events := make([]string, 0, len(entries))
		for event := range entries {
			events = append(events, event)
		}
		slices.Sort(events)
		for _, event := range events {
			kept := slices.DeleteFunc(slices.Clone(was.Hooks[event]), func(raw json.RawMessage) bool { return isOurs(raw, agent) })
			if !s.Undo {
				raw, err := json.Marshal(entries[event])
				if err != nil {
					return err
				}
				kept = append(kept, raw)
			}
			var err error
			switch {
			case len(kept) > 0:
				err = put(doc, []string{"hooks", event}, kept)
			case len(was.Hooks[event]) > 0:
				err = prune(doc, "/hooks/"+event, "/hooks")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// isOurs recognizes an entry of nod's by its command.
func isOurs(raw json.RawMessage, agent string) bool {
	var e hookEntry
	if json.Unmarshal(raw, &e) != nil || len(e.Hooks) != 1 {
		return false
	}
	program, _, found := strings.Cut(e.Hooks[0].Command, " hook "+agent)
	name := strings.TrimSuffix(strings.Trim(filepath.Base(program), "'"), ".exe")
	return found && strings.HasPrefix(name, "nod")
}

// put sets a member at a path of two, and makes what is missing.
func put(doc *hujson.Value, path []string, value any) error {
	parent := "/" + path[0]
	if doc.Find(parent) == nil {
		if err := doc.Patch([]byte(`[{"op":"add","path":"` + parent + `","value":{}}]`)); err != nil {
			return err
		}
	}
	op, err := json.Marshal([]map[string]any{{"op": "add", "path": parent + "/" + path[1], "value": value}})
	if err != nil {
		return err
	}
	return doc.Patch(op)
}

// prune removes a member, and its parent if that is empty then.
func prune(doc *hujson.Value, member, parent string) error {
	for _, path := range []string{member, parent} {
		v := doc.Find(path)
		if v == nil {
			return nil
		}
		if o, ok := v.Value.(*hujson.Object); ok && path == parent && len(o.Members) > 0 {
			return nil
		}
		if err := doc.Patch([]byte(`[{"op":"remove","path":"` + path + `"}]`)); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the file as a JSON object, with comments.
func (s *Settings) parse(raw []byte) (hujson.Value, error) {
	doc, err := hujson.Parse(raw)
	if err == nil {
		if _, ok := doc.Value.(*hujson.Object); !ok {
			err = errors.New("is no JSON object")
		}
	}
	if err != nil {
		return doc, bridge.Wrap(bridge.CodeInvalid, err, "%s", s.Path).WithHint("mend it first; nothing was changed")
	}
	return doc, nil
}

// change applies an edit to the file, which may not be there yet. What the
// edit does not touch keeps its bytes.
func (s *Settings) change(edit func(*hujson.Value) error) error {
	was, err := os.ReadFile(s.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing {
		was, err = []byte("{}\n"), nil
	}
	if err != nil {
		return err
	}
	doc, err := s.parse(was)
	if err != nil {
		return err
	}
	if err := edit(&doc); err != nil {
		return err
	}
	now := doc.Pack()
	if pretty, ok := indented(now); ok && (missing || isIndented(was)) {
		now = pretty
	}
	switch {
	case s.Print:
		_, err := s.Out.Write(now)
		return err
	case string(now) == string(was) || missing && s.Undo:
		fmt.Fprintf(s.Talk, "nod: %s is as it should be\n", s.Path)
		return nil
	}
	if err := writeWhole(s.Path, now); err != nil {
		return err
	}
	done := "has nod's entries now; take them out with --undo"
	if s.Undo {
		done = "has nod's entries no more"
	}
	fmt.Fprintf(s.Talk, "nod: %s %s\n", s.Path, done)
	return nil
}

// indented writes JSON as the agents do, with two spaces; false for what has
// comments, which stays as it is.
func indented(raw []byte) ([]byte, bool) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return nil, false
	}
	b.WriteByte('\n')
	return b.Bytes(), true
}

func isIndented(raw []byte) bool {
	pretty, ok := indented(raw)
	return ok && bytes.Equal(bytes.TrimSpace(pretty), bytes.TrimSpace(raw))
}

// writeWhole replaces a file at once, so that nobody reads half of it.
func writeWhole(path string, content []byte) error {
	dir, mode := filepath.Dir(path), fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".nod-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already once it was renamed
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
