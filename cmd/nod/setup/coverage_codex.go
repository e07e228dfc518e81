package setup

import (
	"context"
	"path/filepath"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// connectCodex adds nod's hooks. A grace makes no sense there, because the hook
// blocks the terminal.
func connectCodex(s *Settings, f HookOptions) error {
	f.Grace = 0
	return s.Codex(f)
}

// neverAsks finds the setting of Codex that turns its prompts off, for all
// sessions: before the first table of the file.
var neverAsks = lazyregexp.New(`(?m)^\s*approval_policy\s*=\s*["']never["']`)

var firstTable = lazyregexp.New(`(?m)^\s*\[`)

// codexReviewed finds the setting of Codex that lets a model review what needs
// approval, for all sessions.
var codexReviewed = lazyregexp.New(`(?m)^\s*approvals_reviewer\s*=\s*["'](\w+)["']`)

// CodexReviewer reports whether the config in Codex's home lets a model review what
// needs approval, instead of a person.
func CodexReviewer(home string) bool {
	m := codexReviewed.FindSubmatch(beforeTables(filepath.Join(home, "config.toml")))
	return m != nil && string(m[1]) != codex.Person
}

// beforeTables returns the part of a TOML file before its first table, which holds
// the settings for all sessions. It is empty if the file cannot be read.
func beforeTables(path string) []byte {
	raw, err := ReadFile(path)
	if err != nil {
		return nil
	}
	if table := firstTable.FindIndex(raw); table != nil {
		raw = raw[:table[0]]
	}
	return raw
}

// surveyCodex reads the hooks and the approval policy of Codex.
func surveyCodex(ctx context.Context, m machine, a agent) surveyed {
	s := a.newSurvey(ctx)
	path := m.codexHooks()
	var h agentHooks
	s.readSettings(path, &h)
	s.ours = s.ours || h.any("codex")
	asks := len(h.ours("codex", "PermissionRequest")) > 0
	switch {
	case len(h.ours("codex", "PreToolUse")) > 0:
		s.Level = LevelOpen
		s.add("gate", bridge.FindingFailed, "PreToolUse in "+path+" fails open: Codex runs the tool if the hook is missing, crashes or takes too long",
			"rely on Codex's own approvals and its sandbox, or run the tool with: nod run")
	case s.ours && !h.any("codex"): // it ignores the file with nod's hooks
	case s.ours:
		s.Level = LevelNone
		if asks {
			s.Level = LevelPartly
		}
		s.add("", bridge.FindingOK, path+" asks in chat when Codex asks; if nod fails, Codex asks at its terminal", "")
	default:
		s.reason("no hook of nod is in " + path + "; nod proxy codex covers sessions only while it runs")
		s.Fix = "run nod proxy codex next to Codex, or: nod init codex"
	}
	if neverAsks.Match(beforeTables(m.codexSettings())) {
		s.reason(m.codexSettings() + " sets approval_policy to never, so Codex asks no one")
		s.Fix = "set approval_policy to on-request or untrusted"
		if s.Level == LevelPartly {
			s.Level = LevelNone
		}
	}
	if CodexReviewer(m.codex()) {
		s.reason(m.codexSettings() + " lets a model review what needs approval, so people are asked only if a rule of nod's policy says so")
	}
	return s
}
