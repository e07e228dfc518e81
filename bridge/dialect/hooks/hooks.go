// Package hooks lists the agents whose hooks nod answers, so that the daemon and
// the command nod hook treat all of them alike. It does no I/O. Start reading at
// Agents.
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
	// Names are the members of an input that name the event and the session.
	Names dialect.HookNames
	// Permission is the event at which the agent waits for a permission, and Gate
	// the one before a call that runs unless the hook decides. An empty Gate means
	// that there is none.
	Permission, Gate string
	// Reports reports whether an event only tells nod something.
	Reports func(event string) bool
	// Translate translates an input. With denySilence, a request that no one
	// decides is denied.
	Translate func(raw []byte, denySilence bool) (dialect.Translation, error)
	// Attended reports whether the agent asks someone if the hook decides nothing.
	Attended func(in *dialect.HookInput, o Origin) bool
	// Before reports whether the hook runs before the agent decides on its own
	// whether a person is needed. Then only a rule may ask people.
	Before func(in *dialect.HookInput, o Origin) bool
	// Unasked returns the output for a request that no person has decided, and
	// Stopped the output in a stopped session.
	Unasked func(event string, u dialect.Unasked, why string) any
	Stopped func(event string, s bridge.Stop) any
	// Check returns an error for an output that does not have the form of the
	// event. It may be nil.
	Check func(event string, out []byte) error
	// Blocks is set if the agent shows its own dialog only after the hook, so that
	// no one can answer there in the meantime.
	Blocks bool
	// Errs is set if the agent takes an error of a hook over HTTP as if there were
	// no hook.
	Errs bool
}

// Origin holds facts that a hook knows about its agent, next to its input.
type Origin struct {
	// Entrypoint says how Claude Code was started. It may be empty.
	Entrypoint string
	// Reviewed is set if a model of the agent reviews what needs approval, instead
	// of a person.
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

// Decides reports whether a call waits for the output of the hook at an event, so
// that a failure must not look like consent.
func (a Agent) Decides(event string) bool {
	return event == "" || event == a.Permission || event == a.Gate
}
