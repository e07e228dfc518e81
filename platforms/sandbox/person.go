package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Person drives the chats as a member does: by what they read. Scripts and
// tests use it.
type Person struct {
	s   *Sandbox
	key string
}

// Person returns the member with a key.
func (s *Sandbox) Person(key string) Person { return Person{s, key} }

// Place is a message in a channel of a service.
type Place struct{ Service, Channel, Message string }

// Message returns a message, also a private one; nil if there is none.
func (s *Sandbox) Message(p Place) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p.Service {
	case "slack":
		if c := s.slack.channels[p.Channel]; c != nil {
			if n := c.find(p.Message); n >= 0 {
				return cloneObject(c.Messages[n])
			}
		}
	case "discord":
		if c := s.discord.channels[p.Channel]; c != nil {
			if n := c.find(p.Message); n >= 0 {
				return cloneObject(c.Messages[n])
			}
			if n := c.findPrivate(p.Message); n >= 0 {
				return cloneObject(c.Private[n].Message)
			}
		}
	case "telegram":
		chat, _ := strconv.ParseInt(p.Channel, 10, 64) // no chat has id 0
		id, _ := strconv.ParseInt(p.Message, 10, 64)
		if c := s.telegram.chats[chat]; c != nil {
			if n := c.find(id); n >= 0 {
				return cloneObject(c.Messages[n])
			}
		}
	}
	return nil
}

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return fmt.Sprintf("%.0f", x)
	}
	return ""
}

// Control is something to press on a message.
type Control struct {
	ID, Label string
	Kind      string // button or select
	Value     string // what a press sends to the bot, besides the ID
}

// Controls lists what can be pressed on a message.
func Controls(service string, m map[string]any) []Control {
	var out []Control
	switch service {
	case "slack":
		for _, b := range list(m, "blocks") {
			o, _ := b.(object)
			if str(o, "type") == "input" {
				out = append(out, Control{str(o, "block_id"), str(sub(o, "label"), "text"), "select", ""})
			}
			for _, e := range list(o, "elements") {
				if el, _ := e.(object); str(el, "type") == "button" {
					out = append(out, Control{str(el, "action_id"), str(sub(el, "text"), "text"), "button", str(el, "value")})
				}
			}
		}
	case "discord":
		for _, el := range discordComponents(list(m, "components")) {
			switch kindOf(el) {
			case 2:
				out = append(out, Control{str(el, "custom_id"), str(el, "label"), "button", ""})
			case 3:
				out = append(out, Control{str(el, "custom_id"), str(el, "label"), "select", ""})
			}
		}
	case "telegram":
		for _, r := range list(sub(m, "reply_markup"), "inline_keyboard") {
			row, _ := r.([]any)
			for _, e := range row {
				el, _ := e.(object)
				out = append(out, Control{str(el, "callback_data"), str(el, "text"), "button", ""})
			}
		}
	}
	return out
}

// Texts is everything that is written on a message, markup included.
func Texts(m map[string]any) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, e := range x {
				walk(e)
			}
		case object:
			for _, k := range []string{"content", "title", "description", "footer", "text", "fallback", "blocks", "embeds", "elements", "label", "components", "accessory", "inline_keyboard", "reply_markup"} {
				switch t := x[k].(type) {
				case string:
					b.WriteString(t + " ")
				case nil:
				default:
					walk(t)
				}
			}
		}
	}
	walk(m)
	return b.String()
}

// find returns the control whose label contains a text.
func (p Person) find(at Place, kind, label string) (Control, error) {
	m := p.s.Message(at)
	if m == nil {
		return Control{}, fmt.Errorf("%s: there is no message %s in %s", at.Service, at.Message, at.Channel)
	}
	for _, c := range Controls(at.Service, m) {
		if c.Kind == kind && strings.Contains(c.Label, label) {
			return c, nil
		}
	}
	return Control{}, fmt.Errorf("%s: nothing on message %s says %q", at.Service, at.Message, label)
}

func (p Person) action(at Place, do string) Action {
	return Action{Service: at.Service, As: p.key, Do: do, Channel: at.Channel, Message: at.Message}
}

// Press presses the button whose label contains a text.
func (p Person) Press(ctx context.Context, at Place, label string) (Reaction, error) {
	c, err := p.find(at, "button", label)
	if err != nil {
		return Reaction{}, err
	}
	a := p.action(at, "press")
	a.Control = c.ID
	return p.s.Act(ctx, a)
}

// Pick chooses options by their labels on the message itself and then presses
// the button that says submit. On Telegram, options are buttons too.
func (p Person) Pick(ctx context.Context, at Place, labels []string, submit string) (Reaction, error) {
	switch at.Service {
	case "telegram":
		for _, l := range labels {
			if r, err := p.Press(ctx, at, l); err != nil || !r.OK {
				return r, err
			}
		}
		return p.Press(ctx, at, submit)
	case "discord":
		c, err := p.find(at, "select", "")
		if err != nil {
			return Reaction{}, err
		}
		element := findComponent(p.s.Message(at), c.ID)
		values, err := optionValues(element, labels)
		if err != nil {
			return Reaction{}, err
		}
		a := p.action(at, "choose")
		a.Control, a.Values = c.ID, map[string][]string{c.ID: values}
		if r, err := p.s.Act(ctx, a); err != nil || !r.OK {
			return r, err
		}
		return p.Press(ctx, at, submit)
	}
	input, err := p.find(at, "select", "")
	if err != nil {
		return Reaction{}, err
	}
	values, err := optionValues(slackElement(list(p.s.Message(at), "blocks"), input.ID), labels)
	if err != nil {
		return Reaction{}, err
	}
	c, err := p.find(at, "button", submit)
	if err != nil {
		return Reaction{}, err
	}
	a := p.action(at, "press")
	a.Control, a.Values = c.ID, map[string][]string{input.ID: values}
	return p.s.Act(ctx, a)
}

func findComponent(m object, customID string) object {
	for _, el := range discordComponents(list(m, "components")) {
		if str(el, "custom_id") == customID {
			return el
		}
	}
	return nil
}

func slackElement(blocks []any, blockID string) object {
	for _, b := range blocks {
		if o, _ := b.(object); str(o, "block_id") == blockID {
			return sub(o, "element")
		}
	}
	return nil
}

// optionValues finds options by what their labels contain.
func optionValues(element object, labels []string) ([]string, error) {
	options := list(element, "options")
	for _, g := range list(element, "option_groups") {
		o, _ := g.(object)
		options = append(options, list(o, "options")...)
	}
	out := []string{}
	for _, l := range labels {
		found := false
		for _, v := range options {
			o, _ := v.(object)
			label := str(o, "label")
			if t := sub(o, "text"); t != nil {
				label = str(t, "text")
			}
			if strings.Contains(label, l) && !found {
				out, found = append(out, str(o, "value")), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no option says %q", l)
		}
	}
	return out, nil
}

// Fill submits an open modal of Slack or Discord. Fields are the values of
// its inputs in their order: typed text, or labels of options; nil leaves an
// input as it is.
func (p Person) Fill(ctx context.Context, service, view string, fields ...[]string) (Reaction, error) {
	var data object
	st := p.s.State()
	for _, v := range append(st.Slack.Views, st.Discord.Modals...) {
		if v.ID == view {
			data = v.View
		}
	}
	if data == nil {
		return Reaction{}, fmt.Errorf("%s: no modal %q is open", service, view)
	}
	a := Action{Service: service, As: p.key, Do: "submit", View: view, Values: map[string][]string{}}
	n := 0
	for _, in := range modalInputs(service, data) {
		if n >= len(fields) {
			break
		}
		given := fields[n]
		n++
		if given == nil {
			continue
		}
		if len(list(in.element, "options"))+len(list(in.element, "option_groups")) > 0 {
			var err error
			if given, err = optionValues(in.element, given); err != nil {
				return Reaction{}, err
			}
		}
		a.Values[in.id] = given
	}
	if n < len(fields) {
		return Reaction{}, fmt.Errorf("%s: the modal has %d inputs, not %d", service, n, len(fields))
	}
	return p.s.Act(ctx, a)
}

type modalInput struct {
	id      string
	element object
}

func modalInputs(service string, data object) []modalInput {
	var out []modalInput
	if service == "slack" {
		for _, b := range list(data, "blocks") {
			if o, _ := b.(object); str(o, "type") == "input" {
				out = append(out, modalInput{str(o, "block_id"), sub(o, "element")})
			}
		}
		return out
	}
	for _, l := range list(data, "components") {
		o, _ := l.(object)
		if c := sub(o, "component"); c != nil {
			out = append(out, modalInput{str(c, "custom_id"), c})
		}
	}
	return out
}

// Command gives the app a command in a channel, such as "/nod mute".
func (p Person) Command(ctx context.Context, service, channel, words string) (Reaction, error) {
	do := "command"
	if service == "telegram" {
		do = "send"
	}
	return p.s.Act(ctx, Action{Service: service, As: p.key, Do: do, Channel: channel, Text: words})
}

// Reply answers the newest prompt of a Telegram chat that is meant for this
// member.
func (p Person) Reply(ctx context.Context, chat, answer string) (Reaction, error) {
	m, err := p.s.member(p.key)
	if err != nil {
		return Reaction{}, err
	}
	for _, c := range p.s.State().Telegram.Chats {
		if c.ID != chat {
			continue
		}
		for n := len(c.Messages) - 1; n >= 0; n-- {
			msg := c.Messages[n]
			if sub(msg, "reply_markup")["force_reply"] != true || !mentions(msg, m.Telegram) {
				continue
			}
			return p.s.Act(ctx, Action{Service: "telegram", As: p.key, Do: "reply", Channel: chat, Message: text(msg["message_id"]), Text: answer})
		}
	}
	return Reaction{}, fmt.Errorf("telegram: no prompt for %s in %s", p.key, chat)
}

func mentions(m object, user int64) bool {
	for _, v := range list(m, "entities") {
		e, _ := v.(object)
		if id, ok := number(sub(e, "user"), "id"); ok && int64(id) == user {
			return true
		}
	}
	return false
}

// PrivatePlaces are where this member's private messages on Discord are, oldest
// first.
func (p Person) PrivatePlaces(service string) []Place {
	m, err := p.s.member(p.key)
	if err != nil || service != "discord" {
		return nil
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var out []Place
	for _, c := range p.s.discord.channels {
		for _, priv := range c.Private {
			if priv.User == m.Discord {
				out = append(out, Place{service, c.ID, str(priv.Message, "id")})
			}
		}
	}
	return out
}

// Notes are the private messages that this member has on Slack or Discord,
// oldest first.
func (p Person) Notes(service string) []string {
	m, err := p.s.member(p.key)
	if err != nil {
		return nil
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var out []string
	for _, c := range p.s.slack.channels {
		for _, priv := range c.Private {
			if service == "slack" && priv.User == m.Slack {
				out = append(out, Texts(priv.Message))
			}
		}
	}
	for _, c := range p.s.discord.channels {
		for _, priv := range c.Private {
			if service == "discord" && priv.User == m.Discord {
				out = append(out, Texts(priv.Message))
			}
		}
	}
	return out
}
