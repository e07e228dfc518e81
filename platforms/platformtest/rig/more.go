package rig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// Open clicks a control of a card, or of the menu that the card opens. It
// returns the place of the control.
func (r *Rig) Open(who string, at sandbox.Place, label string) (sandbox.Reaction, sandbox.Place) {
	r.T.Helper()
	at = r.reach(who, at, label)
	return r.Press(who, at, label), at
}

// reach returns the place of a control: a card, or the menu of the card, which it
// opens.
func (r *Rig) reach(who string, at sandbox.Place, label string) sandbox.Place {
	r.T.Helper()
	r.Eventually(fmt.Sprintf("the card on %s leads to %q", at.Service, label), func() bool {
		return r.offers(at, label) || r.offers(at, render.LabelMore)
	})
	if r.offers(at, label) {
		return at
	}
	r.Press(who, at, render.LabelMore)
	return r.menu(who, at, label)
}

// Decide decides with a control that states first what the decision does: in a
// dialog, or in a menu.
func (r *Rig) Decide(who string, at sandbox.Place, label string) sandbox.Reaction {
	r.T.Helper()
	opened, where := r.Open(who, at, label)
	switch {
	case opened.Modal != "":
		return r.Refill(who, at.Service, opened.Modal)
	case where == at:
		label = strings.TrimSuffix(label, "…")
		return r.Press(who, r.menu(who, at, label), label)
	}
	return opened
}

// Edit edits the input of an approval, and confirms the change after it is shown.
// It returns what the person reads before the confirmation.
func (r *Rig) Edit(who string, at sandbox.Place, input string) string {
	r.T.Helper()
	typed := r.Typed(who, at, "Edit", input)
	if at.Service != "slack" {
		menu := r.menu(who, at, render.LabelApproveNow)
		text := sandbox.Texts(r.Sandbox.Message(menu))
		r.Press(who, menu, render.LabelApproveNow)
		return text
	}
	for _, v := range r.Sandbox.State().Slack.Views {
		if shown := ShownIn(v.View); strings.Contains(shown, render.LabelApproveNow) {
			r.Refill(who, at.Service, v.ID)
			return shown
		}
	}
	r.T.Fatalf("%s does not see the change: %+v", who, typed)
	return ""
}

// menu waits until a person sees a menu of a card with a control.
func (r *Rig) menu(who string, card sandbox.Place, label string) sandbox.Place {
	r.T.Helper()
	var found sandbox.Place
	r.Eventually(fmt.Sprintf("%s sees a menu with %q on %s", who, label, card.Service), func() (ok bool) {
		found, ok = r.Sandbox.Person(who).Menu(card, label)
		return ok
	})
	return found
}

// offers reports whether a message has a control with a label.
func (r *Rig) offers(at sandbox.Place, label string) bool {
	says := func(c sandbox.Control) bool { return strings.Contains(c.Label, label) }
	return slices.ContainsFunc(sandbox.Controls(at.Service, r.Sandbox.Message(at)), says)
}

// Stated returns what an account sees next to the cards of a channel: its open
// forms, its private messages and, on Telegram, the messages of the chat.
func (r *Rig) Stated(service, user, channel string) string {
	var b strings.Builder
	for _, c := range r.Sandbox.Chats(service) {
		for _, p := range c.Private {
			if p.User == user && service == "discord" {
				b.WriteString(Normal(service, discordShown(p.Message, r.download)))
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
	for _, v := range r.Sandbox.State().Slack.Views {
		if service == "slack" && v.User == user {
			b.WriteString(Normal(service, ShownIn(v.View)))
		}
	}
	return b.String()
}
