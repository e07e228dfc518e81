package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// surveyServers reads the MCP servers of an agent. nod guards servers that run
// under nod mcp --wrap.
func (s *surveyed) surveyServers(path string, server mcpServer) {
	var members map[string]json.RawMessage
	s.readSettings(path, &members)
	var servers map[string]process
	if raw := members[server.parent]; raw != nil && decode(raw, &servers) != nil {
		s.add("", bridge.FindingWarning, path+": "+server.parent+" has an unknown format", "correct the file")
	}
	guarded, others, asks := 0, 0, false
	for _, p := range servers {
		words := p.words()
		switch {
		case runs(words, "mcp") && slices.Contains(words, "--wrap"):
			guarded++
		case runs(words, "mcp"):
			asks = true
		default:
			others++
		}
	}
	s.ours = s.ours || asks || guarded > 0
	if guarded > 0 {
		s.Level = LevelPartly
		s.reason(fmt.Sprintf("nod mcp --wrap guards %d of %d MCP servers", guarded, guarded+others))
	}
	if asks {
		s.reason("nod is an MCP server in " + path + ": the model can ask people, but nothing makes it ask")
	}
	if !asks && guarded == 0 {
		s.reason("nod is not in " + path)
		s.Fix = cmp.Or(s.Fix, "run: nod init all")
	}
}

// ownPrompts adds the reason that the agent's own prompts do not appear in
// chat.
func (s *surveyed) ownPrompts(instead string) {
	s.reason("its own prompts stay in its window: nod does not see its tool calls")
	if s.Fix == "" {
		s.Fix = instead
	}
}

func surveyClients(ctx context.Context, m machine, a agent) surveyed {
	s := a.newSurvey(ctx)
	s.surveyServers(a.edits[0].file(m), a.server)
	s.ownPrompts(a.prompts)
	return s
}

// hookCommand is a hook in the settings of Cursor or Copilot.
type hookCommand struct {
	Command    string `json:"command"`
	Bash       string `json:"bash"`
	FailClosed bool   `json:"failClosed"`
}

// ours reports whether the hook runs nod.
func (h hookCommand) ours() bool {
	for _, command := range []string{h.Command, h.Bash} {
		program, _, _ := strings.Cut(command, " ")
		if isProgram(strings.Trim(program, `'"`)) {
			return true
		}
	}
	return false
}

// surveyHooks reads the hooks of files in the format of Cursor and Copilot. It
// returns the number of hooks that run nod, and the number of those that fail
// closed.
func (s *surveyed) surveyHooks(paths ...string) (ours, closed int) {
	for _, path := range paths {
		var file struct {
			Hooks map[string][]hookCommand `json:"hooks"`
		}
		s.readSettings(path, &file)
		for _, hooks := range file.Hooks {
			for _, h := range hooks {
				if !h.ours() {
					continue
				}
				ours++
				if h.FailClosed {
					closed++
				}
			}
		}
	}
	return ours, closed
}

func surveyCursor(ctx context.Context, m machine, a agent) surveyed {
	s := a.newSurvey(ctx)
	s.surveyServers(a.edits[0].file(m), a.server)
	ours, closed := s.surveyHooks(filepath.Join(m.home, ".cursor", "hooks.json"), filepath.Join(".cursor", "hooks.json"))
	switch {
	case ours > closed:
		s.ours, s.Level = true, LevelOpen
		s.add("gate", bridge.FindingFailed, "a Cursor hook fails open: it does not set failClosed", `set "failClosed": true on it`)
	case ours > 0:
		s.ours, s.Level = true, LevelPartly
		s.add("gate", bridge.FindingOK, "a Cursor hook runs nod and sets failClosed", "")
	}
	s.ownPrompts(a.prompts)
	return s
}

func surveyGemini(ctx context.Context, m machine, a agent) surveyed {
	s := a.newSurvey(ctx)
	path := a.edits[0].file(m)
	s.surveyServers(path, a.server)
	var file agentHooks
	if s.readSettings(path, &file) {
		for _, raw := range file.Hooks["BeforeTool"] {
			var e hookEntry
			if decode(raw, &e) == nil && slices.ContainsFunc(e.Hooks, func(h hookHandler) bool { return hookCommand{Command: h.Command}.ours() }) {
				s.ours, s.Level = true, LevelOpen
				s.add("gate", bridge.FindingFailed, "BeforeTool in "+path+" fails open: only exit code 2 blocks",
					"remove it, and start Gemini CLI from an ACP editor through nod proxy acp")
			}
		}
	}
	s.ownPrompts(a.prompts)
	return s
}

func surveyZed(ctx context.Context, m machine, a agent) surveyed {
	s := a.newSurvey(ctx)
	path := m.zedSettings()
	var file zedSettings
	s.readSettings(path, &file)
	var through, direct []string
	for name, p := range file.Agents {
		if runs(p.words(), zedProxy...) {
			through = append(through, name)
		} else {
			direct = append(direct, name)
		}
	}
	slices.Sort(through)
	slices.Sort(direct)
	s.ours = s.ours || len(through) > 0
	if len(through) > 0 {
		s.Level = LevelPartly
		s.reason("permission requests of " + strings.Join(through, ", ") + " appear in Zed and in chat; the agent decides what needs approval")
	}
	if len(direct) > 0 {
		s.reason(strings.Join(direct, ", ") + " in agent_servers does not run through nod proxy acp")
		s.Fix = "run: nod init all, for agents with a command of their own"
	}
	s.reason("nod does not see the tool calls of Zed's own agent")
	return s
}
