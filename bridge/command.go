package bridge

import (
	"slices"
	"strings"
)

// CommandName is the name of the chat command.
const CommandName = "nod"

// Public reports whether everyone in the channel may see the reply, because it
// announces a change that they see anyway. Any other reply is only for the
// person who sent the command.
func (c Command) Public() bool {
	word, _, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	return slices.Contains([]string{"mute", "unmute"}, strings.ToLower(word))
}
