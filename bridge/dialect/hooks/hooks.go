// Package hooks lists the agents whose hooks nod answers, so that the daemon
// and the command nod hook treat them the same way. It does no I/O. Start
// reading at Agents.
package hooks

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/copilot"
)

// Agent is an agent with hooks.
type Agent struct {
	Name, Title string
	// Names are the members of an input with the event and the session.
	Names dialect.HookNames
	// Permission is the event at which the agent waits for permission. Gate is
	// the event before a call that runs unless the hook decides. If Gate is
	// empty, the agent has no such event.
	Permission, Gate string
	// Reports reports whether an event needs no decision.
	Reports func(event string) bool
	// Translate translates an input. If denySilence is set, a request that no
	// one decides is denied.
	Translate func(raw []byte, denySilence bool) (dialect.Translation, error)
	// Attended reports whether the agent asks someone if the hook decides nothing.
	Attended func(in *dialect.HookInput, o Origin) bool
	// Before reports whether the hook runs before the agent itself decides
	// whether a call needs a person. In that case, only a rule may ask people.
	Before func(in *dialect.HookInput, o Origin) bool
	// Unasked returns the output for a request that no person has decided.
	// Stopped returns the output in a stopped session.
	Unasked func(event string, u dialect.Unasked, why string) any
	Stopped func(event string, s bridge.Stop) any
	// Check returns an error for an output in the wrong format for the event.
	// It may be nil.
	Check func(event string, out []byte) error
	// Blocks is set if the agent shows its own dialog only after the hook.
	// People cannot answer in the dialog while the hook waits.
	Blocks bool
	// Errs is set if the agent ignores an error from a hook over HTTP, as if it
	// had no hook.
	Errs bool
}

// Origin holds facts about the agent that a hook knows in addition to its
// input.
type Origin struct {
	// Entrypoint is the way in which Claude Code was started. It may be empty.
	Entrypoint string
	// Reviewed is set if a model of the agent, instead of a person, reviews
	// operations that need approval.
	Reviewed bool
}

var always = func(*dialect.HookInput, Origin) bool { return true }

// Agents lists the agents.
var Agents = []Agent{
	{
		Name: "claude", Title: "Claude Code", Names: dialect.SnakeNames, Permission: "PermissionRequest", Gate: "PreToolUse",
		Reports: claudecode.Reports, Unasked: claudecode.Unasked, Stopped: claudecode.Stopped, Check: claudecode.CheckOutput, Errs: true,
		Translate: func(raw []byte, denySilence bool) (dialect.Translation, error) {
			u := claudecode.AskLocally
			if denySilence {
				u = claudecode.DenySilence
			}
			return claudecode.Hook(raw, u)
		},
		Attended: func(in *dialect.HookInput, o Origin) bool { return claudecode.Attended(in, o.Entrypoint) },
		Before:   func(*dialect.HookInput, Origin) bool { return false },
	},
	{
		Name: "codex", Title: "Codex", Blocks: true, Names: dialect.SnakeNames, Permission: "PermissionRequest", Gate: "PreToolUse",
		Reports: codex.Reports, Translate: codex.Hook, Unasked: codex.Unasked, Stopped: codex.Stopped,
		Attended: func(in *dialect.HookInput, o Origin) bool { return in.Event() == "PermissionRequest" && !o.Reviewed },
		Before:   func(in *dialect.HookInput, o Origin) bool { return in.Event() == "PermissionRequest" && o.Reviewed },
	},
	{
		Name: "copilot", Title: "Copilot CLI", Blocks: true, Names: dialect.HookNames{Event: "hookName", Session: "sessionId"}, Permission: copilot.PermissionRequest,
		Reports: copilot.Reports, Unasked: copilot.Unasked, Stopped: copilot.Stopped,
		Translate: func(raw []byte, _ bool) (dialect.Translation, error) { return copilot.Hook(raw) },
		Attended:  always, Before: always,
	},
}

// Names returns the names of the agents.
func Names() []string {
	var out []string
	for _, a := range Agents {
		out = append(out, a.Name)
	}
	return out
}

// Find returns the agent with a name. It returns CodeNotFound if there is none.
func Find(name string) (Agent, error) {
	n := slices.IndexFunc(Agents, func(a Agent) bool { return a.Name == name })
	if n < 0 {
		return Agent{}, bridge.Errorf(bridge.CodeNotFound, "unknown hook %q", name).WithHint("use one of %s", strings.Join(Names(), ", "))
	}
	return Agents[n], nil
}

// Input returns a reader for the inputs of the agent's hooks.
func (a Agent) Input() *dialect.HookInput { return dialect.NewHookInput(a.Reports).Named(a.Names) }

// Decides reports whether a call waits for the output of the hook at an event.
// A failure at such an event must not look like consent.
func (a Agent) Decides(event string) bool {
	return event == "" || event == a.Permission || event == a.Gate
}
