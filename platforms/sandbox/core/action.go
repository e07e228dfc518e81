package core

import (
	"context"
	"net/http"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Action is something a member does in a chat client.
type Action struct {
	Service string `json:"service"` // name of the service
	As      string `json:"as"`      // key of the member
	// Do is what the member does, such as press, submit (a modal) or command.
	// Each emulator has its own list.
	Do      string `json:"do"`
	Channel string `json:"channel,omitempty"`
	Message string `json:"message,omitempty"`
	// Control is the ID of what is pressed, as Controls returns it.
	Control string `json:"control,omitempty"`
	View    string `json:"view,omitempty"` // the open modal, for submit and close
	// Values of inputs, by the ID of the input: texts, or option values.
	Values map[string][]string `json:"values,omitempty"`
	Text   string              `json:"text,omitempty"`
}

// Reaction is what the member sees at once. What changes in the chat is in
// the state.
type Reaction struct {
	OK      bool              `json:"ok"`
	Warning string            `json:"warning,omitempty"` // the client's own: the app did not answer
	Toast   string            `json:"toast,omitempty"`   // a short answer to a press
	Alert   bool              `json:"alert,omitempty"`   // the toast is a dialog
	Modal   string            `json:"modal,omitempty"`   // a modal that opened
	Errors  map[string]string `json:"errors,omitempty"`  // at the fields of a modal
}

// Place is a message in a channel of a service.
type Place struct{ Service, Channel, Message string }

// Control is something to press on a message.
type Control struct {
	ID, Label string
	Kind      string // button or select
	Value     string // what a press sends to the bot, besides the ID
}

// Input is an input of an open modal.
type Input struct {
	ID      string
	Element raw.Object
}

// Service is the emulator of one service.
type Service interface {
	http.Handler // of the paths below the name of the service
	Screen

	// Name returns the name of the service, as paths and the control API have it.
	Name() string
	// Act lets a member do something and returns once the app has answered, or
	// the service's patience ends. The error says that the action is impossible,
	// such as pressing what is not there.
	Act(ctx context.Context, a Action) (Reaction, error)
	// Disconnect ends the connections of bots as the service itself does. Code is
	// the service's own close code; 0 asks to reconnect.
	Disconnect(code int) error
	// SetGroup says who is in a group of the service.
	SetGroup(group string, members ...string)
}

// Screen is what members read, and how they use it.
type Screen interface {
	// Message returns a copy of a message, also of a private one; nil if there is
	// none.
	Message(channel, message string) raw.Object
	// Controls lists what can be pressed on a message.
	Controls(m raw.Object) []Control
	// Inputs lists the inputs of an open modal, and reports whether it is open.
	Inputs(view string) ([]Input, bool)
	// Pick chooses options by their labels on the message itself and then presses
	// the button that says submit.
	Pick(ctx context.Context, as string, at Place, labels []string, submit string) (Reaction, error)
	// Sees returns what a member can read on a message.
	Sees(as string, at Place) string
	// Notes returns the private messages that a member has, oldest first.
	Notes(as string) []string
}
