package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
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
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/render"
)

// Settings edits the JSON file that holds the hooks or the servers of an agent.
type Settings struct {
	Path      string
	Undo      bool      // remove nod's entries
	Print     bool      // print the result to Out instead of writing it
	Program   string    // program that agents run; if empty, the path of this program
	Out, Talk io.Writer // output of Print, and messages to the user

	planned *fileChange // if set, receives the change instead of the file
	agent   string      // name of the agent that must accept the file, if known
	hook    string      // start of the command lines of hooks; empty until known
}

// HookOptions are the flags of nod hook in the settings of an agent.
type HookOptions struct {
	Route, Unanswered, Fail string
	Timeout, Grace          time.Duration
	// Gates are the tool calls of Claude Code that need a person. If it is nil,
	// the file keeps its gates.
	Gates []policy.Gate
}

// hookTime is the timeout of nod's hooks in the agent, in seconds. It is a day,
// because people may answer late. nod itself gives up earlier.
const hookTime = 86400

// closingTime is the timeout of hooks that only report, in seconds.
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
	// If limits the hook to some calls of the tool, in the syntax of Claude
	// Code's permission rules.
	If string `json:"if,omitempty"`
	// Async lets the agent continue while the hook runs.
	Async bool `json:"async,omitempty"`
	// Rewake lets Claude Code continue while the hook runs, and wakes an idle
	// session if the hook exits with code 2.
	Rewake bool `json:"asyncRewake,omitempty"`
	// OnFailure is "block" for a gate. Otherwise, Claude Code runs the tool if
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
	words := []string{s.hookWords(agent)}
	report = words[0] + " --fail open" + routeFlag(f)
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

func routeFlag(f HookOptions) string {
	if f.Route == "" {
		return ""
	}
	return " --route " + render.ShellQuote(f.Route)
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
	// Gates never fail open. They have no grace period, because no one can
	// answer at the keyboard while they wait.
	strict := f
	strict.Fail, strict.Grace = "", 0
	gate, _ := s.hookCommands("claude", strict)
	// Claude Code ends asynchronous hooks when it exits, so the report at the end is
	// synchronous. All reports give up within 300 milliseconds.
	later := hookHandler{Type: "command", Command: report, Timeout: closingTime, Async: true}
	atEnd := hookHandler{Type: "command", Command: report, Timeout: closingTime}
	asks := hookHandler{Type: "command", Command: ask, Timeout: hookTime}
	entries := map[string][]hookEntry{
		// PermissionRequest runs in parallel with the dialog in the terminal.
		// It must not have onFailure, which would deny before the person at the
		// keyboard can answer.
		"PermissionRequest": {{"*", []hookHandler{asks}}},
		"PermissionDenied":  {{"*", []hookHandler{later}}},
		"Elicitation":       {{"", []hookHandler{asks}}},
		"Notification":      {{"", []hookHandler{later}}},
		"SubagentStop":      {{"", []hookHandler{later}}},
		"SessionEnd":        {{"", []hookHandler{atEnd}}},
	}
	for _, e := range gateEntries(f.Gates) {
		e.Hooks[0].Command = gate + e.Hooks[0].Command
		entries["PreToolUse"] = append(entries["PreToolUse"], e)
	}
	// This hook denies the calls of a stopped session. After a call, it passes
	// on the messages from people and reports, both in one process. It is not a
	// gate, so it has no onFailure.
	for _, event := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"} {
		matcher := ""
		if strings.Contains(event, "Tool") {
			matcher = "*"
		}
		watch := hookHandler{Type: "command", Command: s.hookWords("claude") + " " + watchFlag, Timeout: closingTime}
		if event != "PreToolUse" {
			watch.Command += " --report" + routeFlag(f)
		}
		entries[event] = append(entries[event], hookEntry{matcher, []hookHandler{watch}})
	}
	// This hook wakes an idle session when a person writes to it. The message
	// itself comes from the hook that watches. It also runs at Notification,
	// because a stopped turn has no Stop event.
	wake := hookHandler{Type: "command", Command: s.hookWords("claude") + " " + wakeFlag, Timeout: hookTime, Rewake: true}
	for event, matcher := range wakeEvents {
		entries[event] = append(entries[event], hookEntry{matcher, []hookHandler{wake}})
	}
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

// hooks returns the hooks in settings, by event.
func (s *Settings) hooks(doc *hujson.Value) (map[string][]json.RawMessage, error) {
	var was struct {
		Hooks map[string][]json.RawMessage `json:"hooks"`
	}
	plain := doc.Clone()
	plain.Standardize()
	if err := decode(plain.Pack(), &was); err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "%s: hooks", s.Path).WithHint("correct the format of the hooks; nothing was changed")
	}
	return was.Hooks, nil
}

// applyHooks replaces nod's entries among an agent's hooks, or removes them.
// With keepGates, nod's gates stay, so that no gate is removed by accident. The
// entries of others keep their place, their format and their comments. New
// entries keep the text that a user put in front of the earlier ones.
func (s *Settings) applyHooks(agent string, entries map[string][]hookEntry, keepGates bool) error {
	s.agent = agent
	return s.change(func(doc *hujson.Value) error {
		was, err := s.hooks(doc)
		if err != nil {
			return err
		}
		events := slices.Collect(maps.Keys(entries))
		for event := range was {
			if entries[event] == nil {
				events = append(events, event)
			}
		}
		slices.Sort(events)
		before, err := s.hooksBefore(was, agent)
		if err != nil {
			return err
		}
		for _, event := range events {
			keeps := !s.Undo && event == "PreToolUse" && keepGates
			kept := func(raw json.RawMessage) bool {
				ours, gate := isOurs(raw, agent)
				return !ours || keeps && gate && !isOldGate(raw)
			}
			var want []any
			if !s.Undo {
				all := after(cmp.Or(before[event], before[""]), entries[event])
				if keeps {
					all = append(currentGates(was[event]), all...)
				}
				for _, e := range all {
					want = append(want, e)
				}
			}
			if err := replaceHooks(doc, event, was[event], kept, want); err != nil {
				return err
			}
		}
		return nil
	})
}

// after puts a text in front of the commands of entries.
func after(before string, entries []hookEntry) []hookEntry {
	entries = slices.Clone(entries)
	for n := range entries {
		entries[n].Hooks = slices.Clone(entries[n].Hooks)
		entries[n].Hooks[0].Command = before + entries[n].Hooks[0].Command
	}
	return entries
}

// replaceHooks removes the entries of an event that need not be kept, and
// appends the new ones. If the event already has exactly the new entries, it
// changes nothing.
func replaceHooks(doc *hujson.Value, event string, was []json.RawMessage, kept func(json.RawMessage) bool, want []any) error {
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
	_ = decode(raw, &v) // the caller has encoded or decoded it before
	return v
}

// watchFlag is the flag of the hook that watches a session, and wakeFlag is the
// flag of the hook that wakes one.
const watchFlag, wakeFlag = "--watch", "--wake"

// isOurs reports whether the command of an entry runs nod, and whether the
// entry is a gate. The hook that watches for a stop is not a gate. Neither is
// the hook for questions and plans of earlier versions.
func isOurs(raw json.RawMessage, agent string) (ours, gate bool) {
	var e hookEntry
	if decode(raw, &e) != nil || len(e.Hooks) != 1 {
		return false, false
	}
	_, ours = parseHookLine(e.Hooks[0].Command, agent)
	gate = !watches(raw) && (e.Hooks[0].OnFailure != "" || e.Matcher != "AskUserQuestion|ExitPlanMode")
	return ours, gate
}

// wakeEvents are the events after which a hook waits for messages, with their
// matchers.
var wakeEvents = map[string]string{"SessionStart": "", "Stop": "", "Notification": "idle_prompt"}

// watches reports whether an entry runs nod's hook that watches a session.
func watches(raw json.RawMessage) bool { return hasFlag(raw, watchFlag) }

// wakes reports whether an entry runs nod's hook that wakes an idle session.
func wakes(raw json.RawMessage) bool { return hasFlag(raw, wakeFlag) }
