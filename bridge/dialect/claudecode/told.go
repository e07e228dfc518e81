package claudecode

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// notices lists the notifications that people away from the terminal need.
var notices = []string{"permission_prompt", "idle_prompt", "agent_needs_input"}

// notice tells people that Claude Code is waiting at its terminal. nod skips it
// if the session has a pending card, which already shows this.
func (in hookInput) notice() dialect.Translation {
	t := dialect.Translation{Answer: dialect.NoDecision{}}
	if !slices.Contains(notices, in.Notification) || strings.TrimSpace(in.Message) == "" {
		return t
	}
	t = dialect.One(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: in.Message + call{cwd: in.Cwd}.where(), Session: in.Session}}, "",
		func(bridge.Record) (any, error) { return dialect.NoDecision{}, nil })
	t.Answer, t.UnlessPending = dialect.NoDecision{}, in.Session
	return t
}
