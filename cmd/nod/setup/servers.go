package setup

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
)

// mcpServer is nod as a server in the settings of an MCP client.
type mcpServer struct {
	parent string                   // member with the servers
	value  func(program string) any // nod's entry
}

var (
	plainServer = mcpServer{"mcpServers", func(program string) any {
		return map[string]any{"command": program, "args": []string{"mcp"}}
	}}
	copilotServer = mcpServer{"mcpServers", func(program string) any {
		return map[string]any{"type": "local", "command": program, "args": []string{"mcp"}, "tools": []string{"*"}}
	}}
	opencodeServer = mcpServer{"mcp", func(program string) any {
		return map[string]any{"type": "local", "command": []string{program, "mcp"}, "enabled": true}
	}}
	vsCodeServer = mcpServer{"servers", func(program string) any {
		return map[string]any{"type": "stdio", "command": program, "args": []string{"mcp"}}
	}}
)

// MCP adds nod to the servers of an MCP client, or removes it.
func (s *Settings) MCP() error { return s.mcp(plainServer) }

func (s *Settings) mcp(server mcpServer) error {
	return s.change(func(doc *hujson.Value) error {
		if s.Undo {
			return prune(doc, "/"+server.parent+"/nod", "/"+server.parent)
		}
		return put(doc, []string{server.parent, "nod"}, server.value(s.program()))
	})
}

// process is a program with its arguments in the settings of an agent. Some
// agents keep both in one list.
type process struct {
	Command json.RawMessage `json:"command"`
	Args    []string        `json:"args"`
}

// words returns the program and its arguments, or nil if there is no program.
func (p process) words() []string {
	var program string
	if json.Unmarshal(p.Command, &program) == nil {
		if program == "" {
			return nil
		}
		return append([]string{program}, p.Args...)
	}
	var list []string
	if json.Unmarshal(p.Command, &list) != nil {
		return nil
	}
	return list
}

// isProgram reports whether a path is that of nod.
func isProgram(path string) bool {
	return strings.HasPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), "nod")
}

// runs reports whether the words start nod with the given arguments.
func runs(words []string, args ...string) bool {
	return len(words) > len(args) && isProgram(words[0]) && slices.Equal(words[1:1+len(args)], args)
}

// zedSettings are the settings of Zed that concern agents.
type zedSettings struct {
	Agents map[string]process `json:"agent_servers"`
}

// zedProxy are the arguments of nod between Zed and an agent.
var zedProxy = []string{"proxy", "acp"}

// Zed starts the agents of Zed that the user has added, through nod proxy acp,
// or directly again.
func (s *Settings) Zed(f HookOptions) error {
	return s.change(func(doc *hujson.Value) error {
		var was zedSettings
		plain := doc.Clone()
		plain.Standardize()
		if err := json.Unmarshal(plain.Pack(), &was); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "%s: agent_servers", s.Path).WithHint("correct the format; nothing was changed")
		}
		for name, p := range was.Agents {
			var program string
			if json.Unmarshal(p.Command, &program) != nil || program == "" {
				continue // an agent that Zed installs, or a format of other versions
			}
			words := zedUnwrapped(p.words())
			if !s.Undo {
				words = append(s.zedCommand(f), words...)
			}
			if slices.Equal(words, p.words()) {
				continue
			}
			if err := replaceProcess(doc, "/agent_servers/"+escaped.Replace(name), words, p.Args == nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// zedCommand returns the words that start nod before those of the agent.
func (s *Settings) zedCommand(f HookOptions) []string {
	words := append([]string{s.program()}, zedProxy...)
	for _, v := range []struct{ name, value string }{{"--route", f.Route}, {"--timeout", given(f.Timeout)}, {"--grace", given(f.Grace)}} {
		if v.value != "" {
			words = append(words, v.name, v.value)
		}
	}
	return append(words, "--")
}

// zedUnwrapped returns the words of the agent itself.
func zedUnwrapped(words []string) []string {
	if runs(words, zedProxy...) {
		if n := slices.Index(words, "--"); n >= 0 {
			return words[n+1:]
		}
	}
	return words
}

// escaped escapes a name for a JSON pointer.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// replaceProcess changes the program of an entry and its arguments.
func replaceProcess(doc *hujson.Value, path string, words []string, noArgs bool) error {
	ops := []map[string]any{{"op": "replace", "path": path + "/command", "value": words[0]}}
	switch {
	case len(words) > 1:
		ops = append(ops, map[string]any{"op": "add", "path": path + "/args", "value": words[1:]})
	case !noArgs:
		ops = append(ops, map[string]any{"op": "remove", "path": path + "/args"})
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return err
	}
	return doc.Patch(patch)
}
