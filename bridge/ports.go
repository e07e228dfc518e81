package bridge

import (
	"context"
	"time"
)

// Platform is one configured workspace or bot of a chat service. All methods
// are safe for concurrent use.
type Platform interface {
	// Name is the configured name, as Destination.Platform has it.
	Name() string
	// Check reports whether the interaction can be shown at d, whole. It is
	// pure; its error is CodeUnsupported and names the limit.
	Check(Interaction, Destination) error
	// Post shows the view. What is too long for the card is delivered in full
	// before the card with its controls. An error of CodeUnavailable or
	// CodeRateLimited may be retried; any other is final for this destination.
	//
	// Each part is recorded in Parts as soon as it was sent, and a part that is
	// recorded there is not sent again.
	Post(context.Context, Destination, View, *Parts) (MessageRef, error)
	// Update brings a posted message in line with the view. The parts of a view
	// that Parts does not hold yet are sent before the message gets its controls.
	Update(context.Context, MessageRef, View, *Parts) error
	// Run receives clicks until ctx ends. It reconnects on its own and returns
	// an error only when an operator must act.
	Run(context.Context, Sink) error
}

// Healther is a Platform that knows how it is.
type Healther interface {
	Health() Health
}

// Threader is a Platform that can keep the interactions of a session
// together. Thread returns where the next message of the session goes, given
// the session's first message; it may create the thread.
type Threader interface {
	Thread(ctx context.Context, d Destination, first MessageRef, title string) (Destination, error)
}

// Exclusive is a Platform of which only one daemon at a time may Run.
type Exclusive interface {
	// ExclusiveKey names the account that must not be received from twice.
	ExclusiveKey() string
}

// Notifier is a Platform that can tell one person something privately after
// the fact; used where the click itself can no longer be answered.
type Notifier interface {
	Notify(ctx context.Context, ref MessageRef, user, text string) error
}

// HealthState reports whether a platform can be used.
type HealthState string

// The health states.
const (
	HealthStarting HealthState = "starting" // not yet connected
	HealthUp       HealthState = "up"
	HealthDegraded HealthState = "degraded" // reconnecting; posts are still tried
	HealthStandby  HealthState = "standby"  // another daemon receives for it
	HealthDown     HealthState = "down"     // an operator must act
)

// Health is how a platform is and why.
type Health struct {
	State  HealthState `json:"state"`
	Reason string      `json:"reason,omitempty"`
	Since  time.Time   `json:"since"`
}

// Sink takes what people do. A Platform calls it for every verified click,
// and acknowledges the click to the service only after it returned.
type Sink interface {
	// Form is asked before a native input is shown, and says what to show. A
	// verdict with a Kind means that nothing is to be shown, and why.
	Form(context.Context, Click) (Form, Verdict, error)
	// Click applies a click. An error means that nothing was recorded and the
	// human must be told to press again.
	Click(context.Context, Click) (Verdict, error)
	// Command carries out a word that a person gave nod in a channel, and
	// returns what to tell that person.
	Command(context.Context, Command) (string, error)
}

// Command is a word given to nod in a channel, such as mute.
type Command struct {
	Actor Actor
	// Channels are the names that the configuration may have for the place: its
	// id, and for a direct message what stands for the person.
	Channels []string
	Text     string // what follows the name of the command
}

// Click is one thing a human did with a control.
type Click struct {
	Token string
	Actor Actor // as the platform authenticated it
	// Ref is the message that was pressed; zero where the service does not
	// say. It must be the message the token was posted in.
	Ref MessageRef
	// Inputs by index of the question: what native inputs hold. A question
	// whose input was shown is there, even if it was left empty.
	Inputs map[int]Input
	// Typed is the text of a native input that belongs to a decision.
	Typed string
}

// Input is what a native input holds.
type Input struct {
	Options []int  // chosen options, by index
	Text    string // typed text, for a question without options
	Other   string // typed text beside the options
	// KeepOptions means that only Other was asked for: options chosen before
	// stay chosen.
	KeepOptions bool
}

// Form is what a native input has to show.
type Form struct {
	View    View
	Control Control
}

// VerdictKind says what became of a click.
type VerdictKind string

// The verdicts.
const (
	VerdictSettled   VerdictKind = "settled"   // this click decided
	VerdictDraft     VerdictKind = "draft"     // kept; the card may look different now
	VerdictLate      VerdictKind = "late"      // somebody else or the clock decided before
	VerdictForbidden VerdictKind = "forbidden" // this person may not answer
	VerdictInvalid   VerdictKind = "invalid"   // Problems says what to correct
	VerdictNoted     VerdictKind = "noted"     // something else than an answer was done; Note says what
	VerdictUnknown   VerdictKind = "unknown"   // no such interaction, or a forged control
)

// Verdict is the answer to a click.
type Verdict struct {
	Kind VerdictKind
	// Note is for the person who clicked, and for nobody else.
	Note string
	// View is how the pressed message has to look now; nil: as it is.
	View *View
	// Problems by index of the question, or TypedProblem, for VerdictInvalid.
	Problems map[int]string
}

// TypedProblem is the key in Verdict.Problems of Click.Typed.
const TypedProblem = -1

// View is what a message shows: a record as seen from one destination.
type View struct {
	Record      Record
	Destination int // index into Record.Interaction.Destinations
	// Draft is the unfinished answer to show on a shared card; nil: none.
	Draft *Draft
	// Batch is what the message shows besides, itself first; empty: it shows
	// Record alone.
	Batch []Record
	// ReadOnly means that the channel was muted: the card has no controls.
	ReadOnly bool
	// Waiting means that the card has no controls because the full text is not
	// delivered yet; it comes with ReadOnly.
	Waiting bool
	sign    func(Control) string
	Parts   *Parts // of a view that answers a click; see Delivered
}

// NewView returns a view whose tokens are made by sign.
func NewView(r Record, destination int, d *Draft, sign func(Control) string) View {
	return View{Record: r, Destination: destination, Draft: d, sign: sign}
}

// Of is the view of one of a batch, as if it stood alone.
func (v View) Of(n int) View {
	v.Record, v.Batch = v.Batch[n], nil
	return v
}

// Unfinished is the view while its full text is on its way: without controls.
func (v View) Unfinished() View {
	v.ReadOnly, v.Waiting = true, true
	return v
}

// Token returns the token of a control on this view. One that decides a whole
// batch is bound to those that the view shows.
func (v View) Token(a Action, question, option int) string {
	c := Control{Interaction: v.Record.Interaction.ID, Destination: v.Destination, Action: a, Question: question, Option: option, Terms: byte(v.Record.Interaction.Terms)}
	if a == ActionAll {
		c.Question, c.Terms = len(v.Batch), Terms(v.Batch)
	}
	return v.sign(c)
}

// Parts are the messages and files that carry what is too long for a card: of
// one round, at one destination. A nil *Parts holds none and records nothing.
type Parts struct {
	sent   []MessageRef
	save   func(context.Context, []MessageRef) error
	closed bool
}

// NewParts returns the parts that were sent before, and records each further
// one with save, which may be nil.
func NewParts(sent []MessageRef, save func(context.Context, []MessageRef) error) *Parts {
	return &Parts{sent: sent, save: save}
}

// Sent returns the parts that were sent, in order.
func (p *Parts) Sent() []MessageRef {
	if p == nil {
		return nil
	}
	return p.sent
}

// Closed reports whether no part may be sent, because it would not be recorded:
// an update then shows a card without controls, unless Sent has all parts.
func (p *Parts) Closed() bool { return p == nil || p.closed }

// Add records that one more part was sent.
func (p *Parts) Add(ctx context.Context, ref MessageRef) error {
	if p == nil {
		return nil
	}
	p.sent = append(p.sent, ref)
	if p.save == nil {
		return nil
	}
	return p.save(ctx, p.sent)
}

// Redactor hides credentials. It is safe for concurrent use.
type Redactor interface {
	// Redact returns the text with what is secret masked, else as it is.
	Redact(string) string
	// Secret reports whether a field of that name holds what is secret.
	Secret(name string) bool
}
