package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
)

// mcpServer describes nod as a server in the settings of an MCP client.
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
	crushServer = mcpServer{"mcp", func(program string) any {
		return map[string]any{"type": "stdio", "command": program, "args": []string{"mcp"}}
	}}
	zedServer = mcpServer{"context_servers", func(program string) any {
		return map[string]any{"source": "custom", "command": program, "args": []string{"mcp"}, "env": map[string]string{}}
	}}
	vsCodeServer = mcpServer{"servers", func(program string) any {
		return map[string]any{"type": "stdio", "command": program, "args": []string{"mcp"}}
	}}
)

// parents lists the members in which clients store their servers.
var parents = []string{"mcpServers", "servers", "mcp", "context_servers"}

// MCP adds nod to the servers of an MCP client, or removes it. The client is
// the one with the given name, or otherwise the one that reads the file. It
// returns CodeInvalid if nod does not know which client reads the file.
func (s *Settings) MCP(client string) error {
	server, err := s.serverFormat(client)
	if err != nil {
		return err
	}
	return s.mcp(server)
}

// serverFormat returns the format of the servers in the file.
func (s *Settings) serverFormat(client string) (mcpServer, error) {
	for _, a := range agents() {
		if client != "" && a.name != client || client == "" && !a.keepsServers(s.Path) {
			continue
		}
		if a.server.value == nil {
			return mcpServer{}, bridge.Errorf(bridge.CodeInvalid, "%s: nod cannot change the servers of %s", s.Path, a.title).
				WithHint("add nod there as docs/agents/mcp.md says")
		}
		return a.server, nil
	}
	if client != "" {
		return mcpServer{}, bridge.Errorf(bridge.CodeInvalid, "--client: unknown client %q", client).WithHint("use one of %s", strings.Join(AgentNames(), ", "))
	}
	raw, err := ReadFile(s.Path)
	if err == nil {
		if known, ok := knownFormat(raw); ok {
			return known, nil
		}
	}
	return mcpServer{}, bridge.Errorf(bridge.CodeInvalid, "%s: nod does not know which client reads this file", s.Path).
		WithHint("name the client with --client: %s; nothing was changed", strings.Join(AgentNames(), ", "))
}

// knownFormat returns the format of a file that already has servers.
func knownFormat(raw []byte) (mcpServer, bool) {
	settings, _ := lenient(raw)
	members, _ := settings.(map[string]any)
	var found []mcpServer
	for _, f := range []mcpServer{plainServer, vsCodeServer, zedServer} {
		if _, ok := members[f.parent].(map[string]any); ok {
			found = append(found, f)
		}
	}
	if servers, ok := members["mcp"].(map[string]any); ok {
		for _, v := range servers {
			entry, _ := v.(map[string]any)
			switch entry["command"].(type) {
			case []any:
				found = append(found, opencodeServer)
			case string:
				found = append(found, crushServer)
			default:
				continue
			}
			break
		}
	}
	if len(found) != 1 {
		return mcpServer{}, false
	}
	return found[0], true
}

// mcp adds nod in a format, or removes it. It also removes entries of an
// earlier nod from places that the client does not read.
func (s *Settings) mcp(server mcpServer) error {
	return s.change(func(doc *hujson.Value) error {
		for _, parent := range parents {
			entry := doc.Find("/" + parent + "/nod")
			if parent == server.parent && !s.Undo || entry == nil || !startsNod(*entry) {
				continue
			}
			if err := prune(doc, "/"+parent+"/nod", "/"+parent); err != nil {
				return err
			}
		}
		if s.Undo {
			return nil
		}
		return put(doc, []string{server.parent, "nod"}, server.value(s.program()))
	})
}

// startsNod reports whether an entry starts nod's MCP server.
func startsNod(entry hujson.Value) bool {
	plain := entry.Clone()
	plain.Standardize()
	var p process
	return decode(plain.Pack(), &p) == nil && runs(p.words(), "mcp")
}

// process is a program with its arguments in the settings of an agent. Some
// agents store both in one list.
type process struct {
	Command json.RawMessage `json:"command"`
	Args    []string        `json:"args"`
}

// words returns the program and its arguments, or nil if there is no program.
func (p process) words() []string {
	var program string
	if decode(p.Command, &program) == nil {
		if program == "" {
			return nil
		}
		return append([]string{program}, p.Args...)
	}
	var list []string
	if decode(p.Command, &list) != nil {
		return nil
	}
	return list
}

// isProgram reports whether a path is the path of nod, possibly with a suffix
// such as a version, or the path of the running program, which may have been
// renamed.
func isProgram(path string) bool {
	if own, err := os.Executable(); err == nil && filepath.Base(own) == filepath.Base(path) {
		return true
	}
	rest, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), "nod")
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "-_.0123456789"))
}

// runs reports whether the words start nod with the given arguments.
func runs(words []string, args ...string) bool {
	return len(words) > len(args) && isProgram(words[0]) && slices.Equal(words[1:1+len(args)], args)
}

// zedSettings are the settings of Zed that concern agents.
type zedSettings struct {
	Agents map[string]process `json:"agent_servers"`
}

// zedProxy holds the arguments of nod when it runs between Zed and an agent.
var zedProxy = []string{"proxy", "acp"}

// Zed changes the settings of Zed so that the agents that the user has added
// start through nod proxy acp, or start directly again.
func (s *Settings) Zed(f HookOptions) error {
	return s.change(func(doc *hujson.Value) error {
		var was zedSettings
		plain := doc.Clone()
		plain.Standardize()
		if err := decode(plain.Pack(), &was); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "%s: agent_servers", s.Path).WithHint("correct the format; nothing was changed")
		}
		for name, p := range was.Agents {
			var program string
			if decode(p.Command, &program) != nil || program == "" {
				continue // an agent that Zed installs, or a format of another version
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

// zedCommand returns the words that start nod. They precede the words that
// start the agent.
func (s *Settings) zedCommand(f HookOptions) []string {
	words := append([]string{s.program()}, zedProxy...)
	for _, v := range []struct{ name, value string }{{"--route", f.Route}, {"--timeout", given(f.Timeout)}, {"--grace", given(f.Grace)}} {
		if v.value != "" {
			words = append(words, v.name, v.value)
		}
	}
	return append(words, "--")
}

// zedUnwrapped returns the words that start the agent itself.
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
