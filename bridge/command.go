package bridge

import (
	"slices"
	"strings"
)

// CommandName is how people call nod in a chat.
const CommandName = "nod"

// Public reports whether the answer may be seen by everybody in the place: it
// tells of a change that they see anyway. Other answers are for who asked.
func (c Command) Public() bool {
	word, _, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	return slices.Contains([]string{"mute", "unmute"}, strings.ToLower(word))
}
