package setup

import (
	"context"
	"os"
	"regexp"

	"github.com/nodbridge/nod/bridge"
)

// connectCodex adds nod's hooks. A grace makes no sense there, because the hook
// blocks the terminal.
func connectCodex(s *Settings, f HookOptions) error {
	f.Grace = 0
	return s.Codex(f)
}

// neverAsks finds the setting of Codex that turns its prompts off, for all
// sessions: before the first table of the file.
var neverAsks = regexp.MustCompile(`(?m)^\s*approval_policy\s*=\s*["']never["']`)

var firstTable = regexp.MustCompile(`(?m)^\s*\[`)

// surveyCodex reads the hooks and the approval policy of Codex.
func surveyCodex(ctx context.Context, m machine) surveyed {
	s := surveyed{Coverage: Coverage{
		Agent: "codex", Title: "Codex", Version: versionOf(ctx, "codex"), Level: LevelNone, Tested: codexTested,
	}}
	path := m.codexHooks()
	var h agentHooks
	s.readSettings("agent.codex", path, &h)
	s.ours = h.any("codex")
	asks := len(h.ours("codex", "PermissionRequest")) > 0
	switch {
	case len(h.ours("codex", "PreToolUse")) > 0:
		s.Level = LevelOpen
		s.add("agent.codex.gate", bridge.FindingFailed, "PreToolUse in "+path+" fails open: Codex runs the tool if the hook is missing, crashes or takes too long",
			"rely on Codex's own approvals and its sandbox, or run the tool with: nod run")
	case s.ours:
		s.Level = LevelNone
		if asks {
			s.Level = LevelPartly
		}
		s.add("agent.codex", bridge.FindingOK, path+" asks in chat when Codex asks; if nod fails, Codex asks at its terminal", "")
	default:
		s.reason("no hook of nod is in " + path + "; nod proxy codex covers sessions only while it runs")
		s.Fix = "run nod proxy codex next to Codex, or: nod init codex"
	}
	if raw, err := os.ReadFile(m.codexSettings()); err == nil {
		if table := firstTable.FindIndex(raw); table != nil {
			raw = raw[:table[0]]
		}
		if neverAsks.Match(raw) {
			s.reason(m.codexSettings() + " sets approval_policy to never, so Codex asks no one")
			s.Fix = "set approval_policy to on-request or untrusted"
			if s.Level == LevelPartly {
				s.Level = LevelNone
			}
		}
	}
	return s
}
