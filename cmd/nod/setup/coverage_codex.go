package setup

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// connectCodex adds nod's hooks to Codex. A grace period has no effect there,
// because the hook blocks the terminal.
func connectCodex(s *Settings, f HookOptions) error {
	f.Grace = 0
	return s.Codex(f)
}

// neverAsks matches the setting of Codex that turns off its prompts for all
// sessions. Such a setting is before the first table of the file.
var neverAsks = lazyregexp.New(`(?m)^\s*approval_policy\s*=\s*["']never["']`)

// readConfig returns the content of a settings file of Codex, or nothing if it
// cannot be read.
func readConfig(path string) []byte {
	raw, err := ReadFile(path)
	if err != nil {
		return nil
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
	case s.ours && !h.any("codex"): // Codex ignores the file with nod's hooks
	case s.ours:
		s.Level = LevelNone
		if asks {
			s.Level = LevelPartly
		}
		s.add("", bridge.FindingOK, path+" asks in chat when Codex asks; if nod fails, Codex asks at its terminal", "")
	default:
		s.reason(path + " has no nod hook; nod proxy codex covers sessions only while it runs")
		s.Fix = "run nod proxy codex next to Codex, or: nod init codex"
	}
	settings := readConfig(m.codexSettings())
	if neverAsks.Match(codex.BeforeTables(settings)) {
		s.reason(m.codexSettings() + " sets approval_policy to never, so Codex asks no one")
		s.Fix = "set approval_policy to on-request or untrusted"
		if s.Level == LevelPartly {
			s.Level = LevelNone
		}
	}
	if codex.Reviewed(settings) {
		s.reason(m.codexSettings() + " lets a model review operations that need approval, so people are asked only if a rule of nod's policy says so")
	}
	return s
}
