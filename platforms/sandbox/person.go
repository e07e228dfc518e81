package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// Person uses the chats like a member: by the labels of controls. Scripts and
// tests use it.
type Person struct {
	s   *Sandbox
	key string
}

// Person returns the member with a key.
func (s *Sandbox) Person(key string) Person { return Person{s, key} }

// Press clicks the button whose label contains a text.
func (p Person) Press(ctx context.Context, at Place, label string) (Reaction, error) {
	return core.Press(ctx, p.s.on(at.Service), p.key, at, label)
}

// Pick chooses options by their labels on the message itself and then clicks
// the button with the label submit. On Telegram, options are buttons too.
func (p Person) Pick(ctx context.Context, at Place, labels []string, submit string) (Reaction, error) {
	return p.s.on(at.Service).Pick(ctx, p.key, at, labels, submit)
}

// Fill submits an open modal of Slack or Discord. Fields holds the values of
// its inputs in order: typed text or labels of options. A nil value leaves an
// input unchanged.
func (p Person) Fill(ctx context.Context, service, view string, fields ...[]string) (Reaction, error) {
	return core.Fill(ctx, p.s.on(service), p.key, view, fields)
}

// Command sends the app a command in a channel, such as "/nod mine".
func (p Person) Command(ctx context.Context, service, channel, words string) (Reaction, error) {
	do := "command"
	if service == telegram.Name {
		do = "send"
	}
	return p.s.Act(ctx, Action{Service: service, As: p.key, Do: do, Channel: channel, Text: words})
}

// Reply answers the newest prompt for this member in a Telegram chat.
func (p Person) Reply(ctx context.Context, chat, answer string) (Reaction, error) {
	return p.s.telegram.Reply(ctx, p.key, chat, answer)
}

// Home opens the Home tab of the app in Slack as the member, and returns the
// texts of the tab.
func (p Person) Home(ctx context.Context) (string, error) { return p.s.slack.Home(ctx, p.key) }

// Sees returns the texts of a message that the member can read. On Discord, it
// omits embeds that the member's client hides, and adds the content of the
// files in the message.
func (p Person) Sees(at Place) string {
	return p.s.on(at.Service).Sees(p.key, at)
}

// PrivatePlaces returns the places of this member's private messages, oldest
// first in each conversation.
func (p Person) PrivatePlaces(service string) []Place {
	return p.s.on(service).PrivatePlaces(p.key)
}

// Menu returns the place of the newest message, other than a card, with a
// button whose label contains a text. The message is private, except on
// Telegram, where it may also be in the chat of the card.
func (p Person) Menu(card Place, label string) (Place, bool) {
	places := p.PrivatePlaces(card.Service)
	if card.Service == telegram.Name {
		for _, c := range p.s.Chats(telegram.Name) {
			for _, m := range c.Messages {
				if c.ID == card.Channel {
					places = append(places, Place{Service: card.Service, Channel: c.ID, Message: fmt.Sprint(m["message_id"])})
				}
			}
		}
	}
	for _, at := range slices.Backward(places) {
		if at == card {
			continue
		}
		for _, c := range Controls(at.Service, p.s.Message(at)) {
			if strings.Contains(c.Label, label) {
				return at, true
			}
		}
	}
	return Place{}, false
}

// Notes returns the texts of this member's private messages, oldest first.
func (p Person) Notes(service string) []string {
	return p.s.on(service).Notes(p.key)
}
