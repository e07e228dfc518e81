package core

import (
	"context"
	"net/http"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Action is an action of a member in a chat client.
type Action struct {
	Service string `json:"service"` // name of the service
	As      string `json:"as"`      // key of the member
	// Do is the kind of action, such as press, submit (a modal) or command.
	// Each emulator has its own list.
	Do      string `json:"do"`
	Channel string `json:"channel,omitempty"`
	Message string `json:"message,omitempty"`
	// Control is the ID of the control to click, from Controls.
	Control string `json:"control,omitempty"`
	View    string `json:"view,omitempty"` // open modal, for submit and close
	// Values holds the values of inputs by the ID of the input: texts, or
	// option values.
	Values map[string][]string `json:"values,omitempty"`
	Text   string              `json:"text,omitempty"`
}

// Reaction is the immediate response that the member sees. Changes of the chat
// are in the state.
type Reaction struct {
	OK      bool              `json:"ok"`
	Warning string            `json:"warning,omitempty"` // warning of the client that the app did not answer
	Toast   string            `json:"toast,omitempty"`   // short answer to a click
	Alert   bool              `json:"alert,omitempty"`   // the toast is a dialog
	Modal   string            `json:"modal,omitempty"`   // ID of a modal that opened
	Errors  map[string]string `json:"errors,omitempty"`  // errors at the fields of a modal
	Choices []string          `json:"choices,omitempty"` // suggestions for the option of a command
}

// Loading is the warning of a client whose button shows that the app has not
// answered yet.
const Loading = "the button keeps loading"

// Unanswered reports whether the app did not answer in time. It may still act
// later.
func (r Reaction) Unanswered() bool {
	return strings.Contains(r.Warning, ErrNoAnswer.Error()) || strings.Contains(r.Warning, ErrNoReceiver.Error()) || r.Warning == Loading
}

// Place is a message in a channel of a service.
type Place struct{ Service, Channel, Message string }

// Control is a button or a select on a message.
type Control struct {
	ID, Label string
	Kind      string // "button" or "select"
	Value     string // data that the bot receives in addition to the ID
}

// Input is an input of an open modal.
type Input struct {
	ID      string
	Element raw.Object
}

// Service is the emulator of one service.
type Service interface {
	http.Handler // for the paths below the name of the service
	Screen

	// Name returns the name of the service in paths and in the control API.
	Name() string
	// Act lets a member do something. It returns when the app has answered or the
	// service times out. It returns an error if the action is impossible, such as
	// a click on a control that does not exist.
	Act(ctx context.Context, a Action) (Reaction, error)
	// Disconnect closes the connections of bots as the service does. Code is
	// the close code, which depends on the service. Zero asks the bots to
	// reconnect.
	Disconnect(code int) error
	// SetGroup sets the members of a group of the service.
	SetGroup(group string, members ...string)
	// AddChannel adds a channel and returns its ID. A different n adds a
	// different channel.
	AddChannel(n int) string
	// States returns copies of the conversations, and Connections returns the
	// number of connections of bots. The caller holds the lock.
	States() []ChatState
	Connections() int
}

// Screen is the part of a Service that members read and use.
type Screen interface {
	// Message returns a copy of a message, including a private one, or nil.
	Message(channel, message string) raw.Object
	// Controls lists the controls of a message.
	Controls(m raw.Object) []Control
	// Inputs lists the inputs of an open modal, and reports whether it is open.
	Inputs(view string) ([]Input, bool)
	// Pick chooses options by their labels on the message itself and then clicks
	// the button with the label submit.
	Pick(ctx context.Context, as string, at Place, labels []string, submit string) (Reaction, error)
	// Sees returns the texts of a message that a member can read.
	Sees(as string, at Place) string
	// Notes returns the texts of a member's private messages, oldest first.
	// PrivatePlaces returns their places in the same order.
	Notes(as string) []string
	PrivatePlaces(as string) []Place
}
