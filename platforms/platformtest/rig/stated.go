package rig

import (
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// Chat returns all visible text of a Telegram chat.
func Chat(r *Rig, id string) string {
	var b strings.Builder
	for _, m := range r.Messages("telegram", id) {
		b.WriteString(sandbox.Texts(m))
	}
	return b.String()
}

// Stated returns everything that an account sees in addition to the cards of a
// channel: its open forms, its private messages and, on Telegram, the messages
// of the chat.
func (r *Rig) Stated(service, user, channel string) string {
	var b strings.Builder
	for _, c := range r.Sandbox.Chats(service) {
		for _, p := range c.Private {
			if p.User == user && service == "discord" {
				b.WriteString(Normal(service, discordShown(p.Message, r.Download)))
			} else if p.User == user {
				b.WriteString(Normal(service, ShownIn(p.Message)))
			}
		}
		for _, m := range c.Messages {
			if service == "telegram" && c.ID == channel {
				b.WriteString(Normal(service, ShownIn(m)))
			}
		}
	}
	for _, v := range r.Sandbox.Modals() {
		if service == "slack" && v.User == user {
			b.WriteString(Normal(service, ShownIn(v.View)))
		}
	}
	return b.String()
}
