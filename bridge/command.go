package bridge

import (
	"context"
	"strings"
)

// CommandName is the name of the chat command.
const CommandName = "nod"

// Suggester is a Sink that completes chat commands.
type Suggester interface {
	// Suggest returns up to n values for the last argument of a command. The
	// text of the command may be incomplete. Suggest offers only values that
	// the actor may see.
	Suggest(ctx context.Context, c Command, n int) ([]Suggestion, error)
}

// Suggestion is a value for an argument of a chat command.
type Suggestion struct {
	Value string
	Label string // meaning of the value, in nod's words
	Note  string // short details, such as the agent
}

// Matches reports whether the suggestion contains the text that a person typed.
func (s Suggestion) Matches(typed string) bool {
	typed = strings.ToLower(strings.TrimSpace(typed))
	return strings.Contains(strings.ToLower(s.Value+" "+s.Label+" "+s.Note), typed)
}
