package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Settings edits the JSON file in which an agent keeps its hooks or servers.
type Settings struct {
	Path      string
	Undo      bool      // remove nod's entries
	Print     bool      // print the result to Out instead of writing it
	Program   string    // program that agents run; if empty, the path of this program
	Out, Talk io.Writer // output of Print, and messages to the user

	planned *fileChange // if set, receives the change instead of the file
}

// HookOptions are the flags of nod hook in the settings of an agent.
type HookOptions struct {
	Route, Unanswered, Fail string
	Timeout, Grace          time.Duration
	// Gates are the tool calls of Claude Code that always need a person: see
	// ParseGates. Nil keeps the gates of the file.
	Gates []Gate
}

// hookTime is the timeout of nod's hooks in the agent, in seconds. It is a day,
// because people may answer late. nod itself gives up earlier.
const hookTime = 86400

// closingTime is the timeout of the hooks that only report, in seconds.
const closingTime = 10

// hookEntry is a matcher with its handlers, in the format of Claude Code and
// Codex.
type hookEntry struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	// If limits the hook to some calls of the tool, in the syntax of the
	// permission rules.
	If string `json:"if,omitempty"`
	// Async lets the agent continue while the hook runs.
	Async bool `json:"async,omitempty"`
	// Rewake lets Claude Code continue while the hook runs, and wakes an idle
	// session if the hook exits with code 2.
	Rewake bool `json:"asyncRewake,omitempty"`
	// OnFailure is "block" for a gate: without it, Claude Code runs the tool if
	// the hook is missing, crashes or takes too long.
	OnFailure string `json:"onFailure,omitempty"`
}

// program returns the program that an agent runs to start nod. Its path is
// absolute, so that it does not depend on the PATH of the agent.
func (s *Settings) program() string {
	if s.Program != "" {
		return s.Program
	}
	if path, err := exec.LookPath("nod"); err == nil && filepath.IsAbs(path) {
		return path
	}
	path, err := os.Executable()
	if err != nil {
		return "nod"
	}
	if strings.Contains(path, "go-build") && filepath.Base(path) == "nod" {
		fmt.Fprintf(s.Talk, "nod: warning: go run deletes this program when it ends; install nod first, with: go install ./cmd/nod\n")
	}
	return path
}

// hookCommands returns the command lines of the hook that asks and of the hook
// that only reports.
func (s *Settings) hookCommands(agent string, f HookOptions) (ask, report string) {
	words := []string{render.ShellQuote(s.program()), "hook", agent}
	reports := append(slices.Clone(words), "--fail", "open")
	if f.Route != "" {
		reports = append(reports, "--route", render.ShellQuote(f.Route))
	}
	report = strings.Join(reports, " ")
	for _, v := range []struct{ name, value string }{
		{"--route", f.Route}, {"--timeout", given(f.Timeout)}, {"--grace", given(f.Grace)},
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

// Claude adds nod's hooks to the settings of Claude Code, or removes them.
func (s *Settings) Claude(f HookOptions) error {
	ask, report := s.hookCommands("claude", f)
	// Gates never fail open, and nobody answers at the keyboard while they wait.
	strict := f
	strict.Fail, strict.Grace = "", 0
	gate, _ := s.hookCommands("claude", strict)
	// Claude Code ends asynchronous hooks when it exits, so the reports at an end
	// are synchronous. All reports give up within 300 milliseconds.
	later := hookHandler{Type: "command", Command: report, Timeout: closingTime, Async: true}
	atEnd := hookHandler{Type: "command", Command: report, Timeout: closingTime}
	asks := hookHandler{Type: "command", Command: ask, Timeout: hookTime}
	entries := map[string][]hookEntry{
		// PermissionRequest runs next to the dialog in the terminal. There must be
		// no onFailure: it would deny before the person at the keyboard can answer.
		"PermissionRequest":  {{"*", []hookHandler{asks}}},
		"PermissionDenied":   {{"*", []hookHandler{later}}},
		"Elicitation":        {{"", []hookHandler{asks}}},
		"Notification":       {{"", []hookHandler{later}}},
		"PostToolUse":        {{"*", []hookHandler{later}}},
		"PostToolUseFailure": {{"*", []hookHandler{later}}},
		"UserPromptSubmit":   {{"", []hookHandler{later}}},
		"Stop":               {{"", []hookHandler{atEnd}}},
		"SubagentStop":       {{"", []hookHandler{later}}},
		"SessionEnd":         {{"", []hookHandler{atEnd}}},
	}
	for _, g := range f.Gates {
		h := hookHandler{Type: "command", Command: gate, Timeout: hookTime, If: g.If, OnFailure: "block"}
		entries["PreToolUse"] = append(entries["PreToolUse"], hookEntry{g.Matcher, []hookHandler{h}})
	}
	// It denies the calls of a stopped session, and passes on what people write
	// to the session. It is not a gate, so there is no onFailure.
	watch := hookHandler{Type: "command", Command: render.ShellQuote(s.program()) + watchCommand, Timeout: closingTime}
	for _, event := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"} {
		matcher := ""
		if strings.Contains(event, "Tool") {
			matcher = "*"
		}
		entries[event] = append(entries[event], hookEntry{matcher, []hookHandler{watch}})
	}
	// It continues an idle session when a person writes to it. The message itself
	// comes from the hook that watches.
	wake := hookHandler{Type: "command", Command: render.ShellQuote(s.program()) + wakeCommand, Timeout: hookTime, Rewake: true}
	entries["Stop"] = append(entries["Stop"], hookEntry{"", []hookHandler{wake}})
	return s.applyHooks("claude", entries, f.Gates == nil)
}

// Codex adds nod's hooks to the hooks of Codex, or removes them.
func (s *Settings) Codex(f HookOptions) error {
	ask, report := s.hookCommands("codex", f)
	asks := hookHandler{Type: "command", Command: ask, Timeout: hookTime}
	reports := hookHandler{Type: "command", Command: report, Timeout: closingTime}
	return s.applyHooks("codex", map[string][]hookEntry{
		"PermissionRequest": {{"*", []hookHandler{asks}}},
		"PostToolUse":       {{"*", []hookHandler{reports}}},
		"Stop":              {{"", []hookHandler{reports}}},
	}, false)
}

// applyHooks replaces nod's entries among an agent's hooks, or removes them.
// With keepGates, nod's gates remain, so that nothing opens one by accident.
// Entries of others keep their place, their format and their comments. New
// entries keep the environment that a user gave the earlier ones.
func (s *Settings) applyHooks(agent string, entries map[string][]hookEntry, keepGates bool) error {
	return s.change(func(doc *hujson.Value) error {
		var was struct {
			Hooks map[string][]json.RawMessage `json:"hooks"`
		}
		plain := doc.Clone()
		plain.Standardize()
		if err := json.Unmarshal(plain.Pack(), &was); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "%s: hooks", s.Path).WithHint("correct the format of the hooks; nothing was changed")
		}
		events := slices.Collect(maps.Keys(entries))
		for event := range was.Hooks {
			if entries[event] == nil {
				events = append(events, event)
			}
		}
		slices.Sort(events)
		before := beforeProgram(was.Hooks, agent)
		for _, event := range events {
			kept := func(raw json.RawMessage) bool {
				ours, gate := isOurs(raw, agent)
				return !ours || !s.Undo && event == "PreToolUse" && gate && keepGates
			}
			var want []hookEntry
			if !s.Undo {
				want = after(before, entries[event])
			}
			if err := replaceHooks(doc, event, was.Hooks[event], kept, want); err != nil {
				return err
			}
		}
		return nil
	})
}

// after returns entries whose commands follow a text.
func after(before string, entries []hookEntry) []hookEntry {
	entries = slices.Clone(entries)
	for n := range entries {
		entries[n].Hooks = slices.Clone(entries[n].Hooks)
		entries[n].Hooks[0].Command = before + entries[n].Hooks[0].Command
	}
	return entries
}

// replaceHooks removes the entries of an event that are not kept, and appends
// the new ones. It changes nothing if only the new ones are there already.
func replaceHooks(doc *hujson.Value, event string, was []json.RawMessage, kept func(json.RawMessage) bool, want []hookEntry) error {
	var gone []int
	var old, wanted []any
	for n, raw := range was {
		if !kept(raw) {
			gone, old = append(gone, n), append(old, plainJSON(raw))
		}
	}
	for _, e := range want {
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		wanted = append(wanted, plainJSON(raw))
	}
	if reflect.DeepEqual(old, wanted) {
		return nil
	}
	path := "/hooks/" + escaped.Replace(event)
	switch {
	case len(gone) == len(was) && len(want) > 0:
		return put(doc, []string{"hooks", event}, want)
	case len(gone) == len(was):
		return prune(doc, path, "/hooks")
	}
	var ops []map[string]any
	for _, n := range slices.Backward(gone) {
		ops = append(ops, map[string]any{"op": "remove", "path": path + "/" + strconv.Itoa(n)})
	}
	for _, e := range want {
		ops = append(ops, map[string]any{"op": "add", "path": path + "/-", "value": e})
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return err
	}
	return doc.Patch(patch)
}

// plainJSON decodes JSON for a comparison.
func plainJSON(raw []byte) (v any) {
	_ = json.Unmarshal(raw, &v) // was encoded, or decoded before
	return v
}

// watchCommand is the end of the command that watches a session, and wakeCommand
// that of the command that wakes one.
const (
	watchCommand = " hook claude --watch"
	wakeCommand  = " hook claude --wake"
)

// isOurs reports whether an entry belongs to nod, judging by its command, and
// whether it is a gate. The entry that watches for a stop is not one, nor is the
// one for questions and plans that earlier versions had.
func isOurs(raw json.RawMessage, agent string) (ours, gate bool) {
	var e hookEntry
	if json.Unmarshal(raw, &e) != nil || len(e.Hooks) != 1 {
		return false, false
	}
	_, ours = parseHookLine(e.Hooks[0].Command, agent)
	gate = !watches(raw) && (e.Hooks[0].OnFailure != "" || e.Matcher != "AskUserQuestion|ExitPlanMode")
	return ours, gate
}

// watches reports whether an entry runs nod's hook that watches a session.
func watches(raw json.RawMessage) bool { return endsWith(raw, watchCommand) }

// wakes reports whether an entry runs nod's hook that wakes an idle session.
func wakes(raw json.RawMessage) bool { return endsWith(raw, wakeCommand) }

// endsWith reports whether the command of an entry ends with a text.
func endsWith(raw json.RawMessage, end string) bool {
	var e hookEntry
	return json.Unmarshal(raw, &e) == nil && len(e.Hooks) == 1 && strings.HasSuffix(e.Hooks[0].Command, end)
}

// put sets the member at a path of two names and creates the parent if needed.
// It changes nothing if the member has that value already.
func put(doc *hujson.Value, path []string, value any) error {
	parent := "/" + path[0]
	if now := doc.Find(parent + "/" + escaped.Replace(path[1])); now != nil {
		plain := now.Clone()
		plain.Standardize()
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if reflect.DeepEqual(plainJSON(plain.Pack()), plainJSON(raw)) {
			return nil
		}
	}
	if doc.Find(parent) == nil {
		if err := doc.Patch([]byte(`[{"op":"add","path":"` + parent + `","value":{}}]`)); err != nil {
			return err
		}
	}
	op, err := json.Marshal([]map[string]any{{"op": "add", "path": parent + "/" + escaped.Replace(path[1]), "value": value}})
	if err != nil {
		return err
	}
	return doc.Patch(op)
}

// prune removes a member, and its parent if the parent is then empty.
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
	doc, err := parseSettings(raw)
	if err != nil {
		return doc, bridge.Errorf(bridge.CodeInvalid, "%s: %v", s.Path, err).WithHint("fix the file first; nothing was changed")
	}
	return doc, nil
}

// fileChange is the content of a settings file before and after an edit.
type fileChange struct {
	raw      []byte // of the file, which may be missing or empty
	was, now []byte // as JSON
	missing  bool   // the file did not exist
}

// changes reports whether the edit has an effect.
func (c fileChange) changes() bool { return !bytes.Equal(c.was, c.now) }

// change applies an edit to the file, which may not exist yet. The rest of the
// file keeps its bytes.
func (s *Settings) change(edit func(*hujson.Value) error) error {
	c, err := s.edited(edit)
	if err != nil {
		return err
	}
	switch {
	case s.planned != nil:
		*s.planned = c
		return nil
	case s.Print:
		_, err := s.Out.Write(c.now)
		return err
	case !c.changes() || c.missing && s.Undo:
		fmt.Fprintf(s.Talk, "nod: %s is up to date\n", s.Path)
		return nil
	}
	if err := writeWhole(s.Path, c.now); err != nil {
		return err
	}
	done := "added nod's entries to %s; to remove them, use --undo"
	if s.Undo {
		done = "removed nod's entries from %s"
	}
	fmt.Fprintf(s.Talk, "nod: "+done+"\n", s.Path)
	return nil
}

// edited returns what an edit makes of the file.
func (s *Settings) edited(edit func(*hujson.Value) error) (fileChange, error) {
	was, err := readSettingsFile(s.Path)
	c := fileChange{raw: was, was: was, missing: errors.Is(err, fs.ErrNotExist)}
	if c.missing || err == nil && len(bytes.TrimSpace(was)) == 0 {
		c.was, err = []byte("{}\n"), nil
	}
	if err != nil {
		return c, bridge.Errorf(bridge.CodeInvalid, "%s: %v", s.Path, err).WithHint("fix the file first; nothing was changed")
	}
	doc, err := s.parse(c.was)
	if err != nil {
		return c, err
	}
	before := doc.Pack()
	if err := edit(&doc); err != nil {
		return c, err
	}
	mark := c.was[:len(c.was)-len(bytes.TrimPrefix(c.was, byteOrderMark))]
	if c.now = doc.Pack(); bytes.Equal(c.now, before) {
		c.now = c.was
		return c, nil
	}
	if pretty, ok := indented(c.now); ok && (c.missing || isIndented(c.was[len(mark):])) {
		c.now = pretty
	}
	c.now = append(slices.Clip(mark), c.now...)
	return c, nil
}

// indented formats JSON with two spaces, as the agents do. It returns false for
// JSON with comments, which it cannot format.
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

// writeWhole replaces a file atomically, so that no one reads half of it.
func writeWhole(path string, content []byte) error {
	path = linkTarget(path) // the link stays
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
	defer func() { _ = os.Remove(f.Name()) }() // fails after the rename
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
