package rig

import (
	"fmt"

	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Displayed returns all text of a message that members of its channel see: its
// own text, and the text of the files that it refers to.
func (r *Rig) Displayed(at sandbox.Place) string {
	return r.DisplayedIn(at, r.Sandbox.Message(at))
}

// DisplayedIn is Displayed for a message that was read before.
func (r *Rig) DisplayedIn(at sandbox.Place, m map[string]any) string {
	if at.Service == "discord" {
		return Normal(at.Service, discordShown(m, r.Download))
	}
	text := Normal(at.Service, ShownIn(m))
	if at.Service == "telegram" {
		if name := person.TelegramFile.FindString(fmt.Sprint(m["text"])); name != "" {
			for _, file := range r.Files(at.Channel, name) {
				text += Normal(at.Service, file)
			}
		}
	}
	return text
}
