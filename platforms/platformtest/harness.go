package platformtest

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Platform is the interface that the contract requires of an adapter.
type Platform interface {
	platforms.Adapter
	bridge.HealthReporter
	bridge.Grouper
	bridge.ReminderPoster
	bridge.Mentioner
	bridge.DirectMessenger
}

// Setup holds the options of an adapter.
type Setup struct {
	// URL is the address of the sandbox.
	URL string
	// Callback is the address to which the service sends callbacks. If it is
	// empty, the adapter connects to the service instead.
	Callback string
	Sandbox  *sandbox.Sandbox
	Notes    platforms.Notes
	Log      *slog.Logger
	// Token, if it is not empty, replaces the bot token of the sandbox.
	Token string
	// Paced leaves the adapter's own pacing on, with the limits in Turns.
	Paced bool
	Turns bridge.Turns
}

// Harness describes a service to the contract.
type Harness struct {
	// Name is the name of the service in the sandbox, and of the platform.
	Name string
	// Channel is the channel for requests.
	Channel string
	// Direct is the destination of direct messages to ana.
	Direct string
	// Elsewhere is another destination in which people can click.
	Elsewhere string
	// Account returns the ID of a member's account.
	Account func(sandbox.Member) string
	// New returns the adapter.
	New func(Setup) (Platform, error)
	// Post, Edit and Part name the calls of the service that post a card, edit
	// a card, and deliver text that is too long for a card, in the form of
	// sandbox.Fault. Opens names the call that opens the connection.
	Post, Edit, Part, Opens string
	// Dialogs means that text which is too long for a card is shown in a
	// dialog.
	Dialogs bool
	// TooLong is the length of a command that the service cannot show. Zero
	// means that it shows every command that nod accepts.
	TooLong int
	// Redelivers means that the service delivers a typed text again if it was
	// not stored. Otherwise, the person submits it again.
	Redelivers bool
	// Refusals lists the faults that make it impossible to post to the channel.
	Refusals []sandbox.Fault
	// Socket means that the sandbox can end the connection of the service.
	Socket bool
	// Group is the name of a group in the config, and its ID in the sandbox.
	Group, SandboxGroup string
	// Findings are the checks of a diagnosis that must fail under a fault.
	Findings []Finding
	// Threads means that later cards of a session are in the thread of the
	// first one. Otherwise, cards quote no other card, because people could
	// mistake the quote for the request.
	Threads bool
	// Replies means that a reply to a card is an answer.
	Replies bool
	// Talk is the call that tells a person the result of a click, in the form
	// of sandbox.Fault.
	Talk string
	// Deletions means that the service reports deleted messages.
	Deletions bool
	// Errors is the table of the errors of the service.
	Errors platforms.Table
	// Client reads messages in the format of the service.
	Client Client
	// Forge builds callbacks by hand.
	Forge Forge
}

// Finding is a fault in the setup, with the check that must report it.
type Finding struct {
	Fault sandbox.Fault
	// Check is a suffix of the name of the check.
	Check  string
	Status bridge.FindingStatus
	// Fix is a part of the instruction in the finding.
	Fix string
}

// Client reads messages of a service.
type Client interface {
	// Follows reports whether a card is in the same thread as an earlier one.
	Follows(r *Rig, second, first sandbox.Place) bool
	// Mentions returns the users that a message mentions.
	Mentions(message map[string]any) string
	// Token returns the token that a click on a control sends.
	Token(sandbox.Control) string
	// Accepts reports whether the client lets a person submit a text in the
	// input of a widget. If not, the adapter never sees the text.
	Accepts(w bridge.Widget, text string) bool
}

// Forge builds callbacks like an attacker.
type Forge interface {
	// Click returns the body of a click on a control of a card.
	Click(token string, at sandbox.Place, account string) string
	// Sign returns the headers that the service itself would send with a body
	// at a given time.
	Sign(r *Rig, body string, at time.Time) http.Header
	// Break returns headers that must be refused, by their defect.
	Break(r *Rig, body string) map[string]http.Header
}

// Run runs the contract.
func Run(t *testing.T, h Harness) {
	for _, group := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"flows", runFlows}, {"posting", runPosting}, {"inbound", runInbound}, {"connection", runConnection},
		{"callbacks", runCallbacks}, {"setup", runSetup}, {"delivery", runDelivery}, {"outcomes", runOutcomes}, {"documented", runDocumented},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			group.run(t, h)
		})
	}
}
