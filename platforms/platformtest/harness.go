package platformtest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Platform is everything that the contract demands of an adapter.
type Platform interface {
	bridge.Platform
	bridge.Healther
	bridge.Threader
	bridge.Grouper
	bridge.Reminding
	bridge.Diagnoser
	// Handler serves the callbacks of the service in HTTP mode.
	Handler(bridge.Sink) http.Handler
}

// Notes keeps small values for an adapter.
type Notes interface {
	PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error)
	Note(ctx context.Context, key string) (string, error)
	DropNote(ctx context.Context, key string) error
}

// Setup holds the options of an adapter.
type Setup struct {
	// URL is the address of the sandbox.
	URL string
	// Callback is the address to which the service sends callbacks. If empty, the
	// adapter connects to the service instead.
	Callback string
	Sandbox  *sandbox.Sandbox
	Notes    Notes
	// Token replaces the sandbox's bot token if it is set.
	Token string
	// Paced leaves the adapter's own pace on.
	Paced bool
}

// Harness describes one service to the contract.
type Harness struct {
	// Name is the name of the service in the sandbox, and of the platform.
	Name string
	// Channel is the channel that shows requests.
	Channel string
	// Direct is the destination of direct messages to ana.
	Direct string
	// Elsewhere is another place where people can click.
	Elsewhere string
	// Account returns the ID of a member's account.
	Account func(sandbox.Member) string
	// New returns the adapter.
	New func(Setup) (Platform, error)
	// Callbacks selects HTTP mode in the sandbox. It is nil if the adapter
	// does that itself.
	Callbacks func(o *sandbox.Options, url string)
	// Post, Edit and Part name the calls of the service that post a card, change
	// one, and deliver what is too long for it, as sandbox.Fault does.
	Post, Edit, Part string
	// TooLong is a length of a command that the service cannot show. Zero means
	// that it shows all that nod takes.
	TooLong int
	// Redelivers says that the service delivers a typed text again if it was not
	// stored. Otherwise the person submits it again.
	Redelivers bool
	// Refusals are faults because of which nothing can be posted to the channel.
	Refusals []sandbox.Fault
	// Socket says that the sandbox can end the connection of the service.
	Socket bool
	// Group is a group as the config names it, and as the sandbox does.
	Group, SandboxGroup string
	// Findings are the checks of a diagnosis that the faults cause to fail.
	Findings []Finding
	// Client does what people do in the app of the service.
	Client Client
	// Forge makes callbacks by hand.
	Forge Forge
}

// Finding is a fault of the setup and the check that must report it.
type Finding struct {
	Fault sandbox.Fault
	// Check is the end of the check's name.
	Check  string
	Status bridge.FindingStatus
	// Fix is a part of what the finding tells the administrator to do.
	Fix string
}

// Client does what people do in the app of a service.
type Client interface {
	// Type opens the native input behind a label and submits a text.
	Type(r *Rig, who string, at sandbox.Place, label, text string) sandbox.Reaction
	// Retype corrects a text that was refused. Reaction is that of Type.
	Retype(r *Rig, who string, at sandbox.Place, label, text string, refused sandbox.Reaction) sandbox.Reaction
	// Choose answers a question with options, other than buttons.
	Choose(r *Rig, who string, at sandbox.Place, w bridge.Widget, labels ...string) sandbox.Reaction
	// ChooseFrom chooses the last one of a number of options.
	ChooseFrom(r *Rig, who string, at sandbox.Place, options int, label string) sandbox.Reaction
	// Fill answers all the fields of a form. Each has texts or labels of options;
	// an empty field is left alone.
	Fill(r *Rig, who string, at sandbox.Place, fields []Field)
	// Told waits until a person was told words that nobody else sees, if the
	// service can do that. Reaction is that of what the person did.
	Told(r *Rig, who string, at sandbox.Place, reaction sandbox.Reaction, words string)
	// Shown returns everything that people can read of a request at its card,
	// including what was too long for the card and came before it.
	Shown(r *Rig, at sandbox.Place) string
	// Follows reports whether a card is kept together with an earlier one.
	Follows(r *Rig, second, first sandbox.Place) bool
	// Mentions returns whom a message mentions, and is empty if no one.
	Mentions(message map[string]any) string
	// Token returns what a control sends when it is clicked.
	Token(sandbox.Control) string
	// Accepts reports whether the client itself lets a person submit text in the
	// input of a widget; if not, the adapter never sees it.
	Accepts(w bridge.Widget, text string) bool
}

// Field is one field of a form and what a person enters.
type Field struct {
	Widget bridge.Widget
	Values []string
}

// Forge makes callbacks as anyone could send them.
type Forge interface {
	// Click returns the body of a click on a control of a card.
	Click(token string, at sandbox.Place, account string) string
	// Sign returns the headers with which the service itself would send a body
	// at a time.
	Sign(r *Rig, body string, at time.Time) http.Header
	// Break returns headers that must be refused, by what is wrong with them.
	Break(r *Rig, body string) map[string]http.Header
}

// Run runs the contract.
func Run(t *testing.T, h Harness) {
	for _, group := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"flows", runFlows}, {"posting", runPosting}, {"inbound", runInbound}, {"connection", runConnection},
		{"callbacks", runCallbacks}, {"setup", runSetup}, {"delivery", runDelivery},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			group.run(t, h)
		})
	}
}
