package sandbox

import (
	"context"
	"fmt"
)

// Action is something a member does in a chat client.
type Action struct {
	Service string `json:"service"` // slack, discord or telegram
	As      string `json:"as"`      // key of the member
	// Do is press, submit (a modal), close (a modal), choose (Discord: a
	// select), command (Text is like "/nod mute"), embeds (Discord: Text off
	// hides embeds from this member), reply or send (Telegram).
	Do      string `json:"do"`
	Channel string `json:"channel,omitempty"`
	Message string `json:"message,omitempty"`
	// Control is the action id (Slack), custom id (Discord) or callback data
	// (Telegram) of what is pressed.
	Control string `json:"control,omitempty"`
	View    string `json:"view,omitempty"` // the open modal, for submit and close
	// Values of inputs: by block id (Slack) or custom id (Discord); texts, or
	// option values.
	Values map[string][]string `json:"values,omitempty"`
	Text   string              `json:"text,omitempty"`
}

// Reaction is what the member sees at once. What changes in the chat is in
// the state.
type Reaction struct {
	OK      bool              `json:"ok"`
	Warning string            `json:"warning,omitempty"` // the client's own: the app did not answer
	Toast   string            `json:"toast,omitempty"`   // Telegram's answer to a press
	Alert   bool              `json:"alert,omitempty"`   // the toast is a dialog
	Modal   string            `json:"modal,omitempty"`   // a modal that opened
	Errors  map[string]string `json:"errors,omitempty"`  // at the fields of a modal
}

// Act lets a member do something and returns once the app has answered, or
// the service's patience ends. The error says that the action is impossible,
// such as pressing what is not there.
func (s *Sandbox) Act(ctx context.Context, a Action) (Reaction, error) {
	m, err := s.member(a.As)
	if err != nil {
		return Reaction{}, err
	}
	switch a.Service {
	case "slack":
		return s.slack.act(ctx, m, a)
	case "discord":
		return s.discord.act(ctx, m, a)
	case "telegram":
		return s.telegram.act(ctx, m, a)
	}
	return Reaction{}, fmt.Errorf("there is no service %q", a.Service)
}
