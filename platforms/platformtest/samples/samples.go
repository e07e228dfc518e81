// Package samples builds the requests that tests open most often.
package samples

import (
	"crypto/rand"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Choices returns options with values, and with labels that start with a
// capital letter.
func Choices(values ...string) []bridge.Option {
	var out []bridge.Option
	for _, v := range values {
		out = append(out, bridge.Option{Value: v, Label: strings.ToUpper(v[:1]) + v[1:]})
	}
	return out
}

// One returns a request with one question.
func One(w bridge.Widget, o ...bridge.Option) bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "Which one?", Questions: []bridge.Question{{ID: "q", Widget: w, Options: o}},
	}}
}

// Approval returns a request for permission to run a command, in a new session.
func Approval(scopes ...bridge.Scope) bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "May I?", Session: Session(), Approval: &bridge.Approval{Tool: "bash", Input: []byte(`{"command":"make deploy"}`), Scopes: scopes},
	}}
}

// Session returns a unique name for a session.
func Session() string { return "s-" + rand.Text()[:8] }
