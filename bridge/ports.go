package bridge

import (
	"context"
	"time"
)

// Platform is one configured workspace or bot of a chat platform. All methods
// are safe for concurrent use.
type Platform interface {
	// Name returns the configured name, which Destination.Platform refers
	// to.
	Name() string
	// Check returns CodeUnsupported, with the limit in the message, unless
	// the platform can show the interaction in full. It has no side effects.
	Check(Interaction) error
	// Post shows the view. If the text is too long for the card, it delivers
	// the complete text before the card with its controls. The caller may retry
	// after CodeUnavailable or CodeRateLimited. Any other error is final for
	// this destination.
	//
	// Post records each part in Parts as soon as it is sent, and never
	// sends a recorded part again.
	Post(context.Context, Destination, View, *Parts) (MessageRef, error)
	// Update changes a posted message to match the view. It sends the parts
	// that Parts does not contain before the message gets its controls.
	Update(context.Context, MessageRef, View, *Parts) error
	// Run receives clicks until ctx ends. It reconnects automatically, and
	// returns an error only if an administrator must act.
	Run(context.Context, Sink) error
}

// HealthReporter is a Platform that reports its health.
type HealthReporter interface {
	Health() Health
}

// Threader is a Platform that can group the interactions of a session. Thread
// returns the destination of the next message of the session, given its first
// message. It may create the thread, which then has the title.
type Threader interface {
	Thread(ctx context.Context, d Destination, first MessageRef, title string) (Destination, error)
}

// Linker is a Platform whose messages have URLs.
type Linker interface {
	// Link returns the URL of a posted message. It is empty if the message has
	// none.
	Link(context.Context, MessageRef) string
}

// Exclusive is a Platform that only one daemon at a time may Run.
type Exclusive interface {
	// ExclusiveKey identifies the account whose clicks only one daemon may
	// receive.
	ExclusiveKey() string
}

// Notifier is a Platform that can send a person an ephemeral message later. nod
// uses it when it can no longer reply to the click itself.
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
	HealthStandby  HealthState = "standby"  // another daemon receives the clicks
	HealthDown     HealthState = "down"     // an administrator must act
)

// Health is the health of a platform and the reason.
type Health struct {
	State  HealthState `json:"state"`
	Reason string      `json:"reason,omitempty"`
	Since  time.Time   `json:"since,omitzero"`
}

// Sink receives the actions of people. A Platform calls it for every verified
// click, and acknowledges the click only after the Sink returns.
type Sink interface {
	// Form returns the native input to show after a click. If the verdict has a
	// Kind, the platform shows no input, and the verdict contains the reason.
	Form(context.Context, Click) (Form, Verdict, error)
	// Click applies a click. If it returns an error, nothing was recorded, and
	// the platform must ask the person to click again.
	Click(context.Context, Click) (Verdict, error)
	// Drawn must be called after the platform has updated a card with the View
	// of a verdict. Its error is the error of the update, if any. Jobs update
	// the same card at the same time, so the card may show an older state. If
	// the update failed, or the record or the draft has changed since the view
	// was made, Drawn requests another update.
	Drawn(ctx context.Context, v View, failed error) error
	// Command runs a chat command and returns the reply to the person.
	Command(context.Context, Command) (string, error)
}

// Command is a chat command, such as pending.
type Command struct {
	Actor Actor
	// Channels lists the names that the config may have for the channel: its
	// ID, and for a direct message the name of the person.
	Channels []string
	Text     string // text after the name of the command
	// At is the time when the command was sent, by the clock of the platform.
	// It is zero if the platform does not report it.
	At time.Time
	// Whole means that the platform shows a long reply in pages, so the reply
	// contains the complete list. Otherwise, the reply contains one page.
	Whole bool
}

// Click is one action of a user on a control.
type Click struct {
	Token string
	Actor Actor // account that the platform authenticated
	// Ref is the card with the control. It is zero if the platform does not
	// report it. Otherwise, it must be the message for which the token was
	// made. Its Message is empty if the control was on a private message that
	// belongs to the card.
	Ref MessageRef
	// Inputs holds the values of the native inputs by index of the question. It
	// has an entry for each shown input, including empty ones.
	Inputs map[int]Input
	// Typed is the text of the native input of a decision, or the message to an
	// agent.
	Typed string
	// Nonce identifies a submitted dialog. A message to an agent counts once for
	// each Nonce.
	Nonce string
	// Written is the chat message that contains Typed. It is nil for a dialog.
	Written *MessageRef
	// At is the time when Typed was written, by the clock of the platform. It is
	// zero for a click.
	At time.Time
	// Picked is the user ID that a native select of people holds, on the
	// platform of the actor.
	Picked string
}

// Input is the value of a native input.
type Input struct {
	Options []int  // indexes of the chosen options
	Text    string // typed text, for a question without options
	Other   string // text typed alongside the options
	// KeepOptions means that the input asked only for Other. Options that were
	// chosen before stay chosen.
	KeepOptions bool
	// Part means that the input offered only the options From to To-1. All
	// other options are kept. KeepOther means that the input did not ask for
	// Other, so text that was typed earlier is kept.
	Part, KeepOther bool
	From, To        int
}

// Form describes the native input to show.
type Form struct {
	View    View
	Control Control
	// DenyOnly means that the person may only deny now, so that ActionMore
	// offers no approval.
	DenyOnly bool
}

// VerdictKind is the result of a click.
type VerdictKind string

// The verdicts.
const (
	VerdictSettled   VerdictKind = "settled"   // this click was the decision
	VerdictDraft     VerdictKind = "draft"     // saved in the draft; the card may look different now
	VerdictReview    VerdictKind = "review"    // nothing is recorded yet; Review shows the values to confirm
	VerdictLate      VerdictKind = "late"      // the request was already closed
	VerdictForbidden VerdictKind = "forbidden" // this person may not respond
	VerdictInvalid   VerdictKind = "invalid"   // Problems lists the fields to correct
	VerdictNoted     VerdictKind = "noted"     // something was recorded, and the person has to read Note
	VerdictSign      VerdictKind = "sign"      // nothing is recorded yet; the person has to prove the approval at Link
	VerdictUnknown   VerdictKind = "unknown"   // unknown interaction or forged control
)

// Verdict is the reply to a click.
type Verdict struct {
	Kind VerdictKind
	// Note is a text that only the person who clicked sees.
	Note string
	// Link is the page to offer with the note after VerdictSign. Only the
	// person who clicked may receive it. Its label is [LabelSign].
	Link string
	// View is the new content of the clicked message. If it is nil, the
	// message stays unchanged.
	View *View
	// Review is the menu to show to the person after VerdictReview.
	Review *Form
	// Problems holds the problems of VerdictInvalid, by index of the
	// question or TypedProblem.
	Problems map[int]string
}

// TypedProblem is the key of Click.Typed in Verdict.Problems.
const TypedProblem = -1

// View is the content of a message: a record in the form for one destination.
type View struct {
	Record      Record
	Destination int // index into Record.Interaction.Destinations
	// Draft is the unfinished answer to show on the card. It is nil if
	// there is none.
	Draft *Draft
	// Mentions lists the people and groups that the card mentions while it is
	// pending.
	Mentions []Mention
	// Waiting means that the card has no controls because the full text is
	// not delivered yet.
	Waiting bool
	// Withheld means that the service does not accept the text of the request,
	// so the view contains none of it. Fix is the instruction for the
	// administrator. It may be empty.
	Withheld bool
	Fix      string
	// Revealed means that only a person who may respond sees the view, so the
	// view shows a private request.
	Revealed bool
	// Newer is the URL of the card of the request that superseded this one. It
	// is empty if that card is not posted or has no URL.
	Newer string
	// Session holds the status of the session. It is nil if the agent has
	// not reported it.
	Session *SessionView
	// Console means that people can also answer in the console. ConsoleURL
	// is the URL of the console. It is empty if it is not known.
	Console    bool
	ConsoleURL string
	sign       func(Control) string
	Parts      *Parts // set if the view answers a click; see Delivered
}

// NewView returns a view that creates its tokens with sign.
func NewView(r Record, destination int, d *Draft, sign func(Control) string) View {
	return View{Record: r, Destination: destination, Draft: d, sign: sign}
}

// Hides reports whether the view must not show its request. The message of a
// session shows no request.
func (v View) Hides() bool {
	i := v.Record.Interaction
	return i.Private && !v.Revealed && i.Presentation != PresentSession
}

// Unfinished returns the view without controls, for use until its full text is
// delivered.
func (v View) Unfinished() View {
	v.Waiting = true
	return v
}

// Withhold returns the view without controls and without the text of the
// request, for a service that does not accept that text. It shows the same as
// the card of a private request.
func (v View) Withhold(fix string) View {
	v.Withheld, v.Fix, v.Waiting, v.Revealed = true, fix, true, false
	v.Record.Interaction.Private = true
	return v
}

// Token returns the token of a control on this view.
func (v View) Token(a Action, question, option int) string {
	return v.sign(Control{
		Interaction: v.Record.Interaction.ID, Destination: v.Destination, Action: a, Question: question, Option: option,
		Terms: byte(v.Record.Interaction.Terms),
	})
}

// Parts holds the messages and files with the text that is too long for a card,
// for one round at one destination. A nil *Parts is empty and records nothing.
type Parts struct {
	sent   []MessageRef
	save   func(context.Context, []MessageRef) error
	closed bool
}

// NewParts returns a Parts with the parts that were already sent. It records
// each further part with save, which may be nil.
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

// Closed reports whether no part may be sent, because the part would not be
// recorded. An update then shows a card without controls, unless Sent has all
// parts.
func (p *Parts) Closed() bool { return p == nil || p.closed }

// Add records another part as sent.
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

// Redactor redacts credentials. It is safe for concurrent use.
type Redactor interface {
	// Redact returns the text with its credentials replaced.
	Redact(string) string
	// Secret reports whether a field with this name contains a credential.
	Secret(name string) bool
}

// Webhook sends the outcomes of requests to another system.
type Webhook interface {
	// Name returns the configured name.
	Name() string
	// Wants reports whether the webhook receives the outcomes of an agent's
	// requests.
	Wants(agent string) bool
	// Send delivers one body. The ID is the same for every attempt. It
	// returns CodeNotFound if the receiver no longer accepts messages.
	Send(ctx context.Context, id string, body []byte) error
}

// Diagnoser is a Platform that can check its own setup.
type Diagnoser interface {
	// Diagnose checks the account and the required destinations. It shows
	// nothing to people and does not interfere with a running daemon.
	Diagnose(context.Context, Needs) []Finding
}

// Needs lists the requirements of the configuration for a platform.
type Needs struct {
	Destinations []Destination
	Emails       bool     // accounts are recognized by their email address
	Groups       []string // the platform's own groups that the config uses, in the platform's format
	Accounts     []string // accounts of people that are used
}

// FindingStatus is the result of a check.
type FindingStatus string

// The statuses.
const (
	FindingOK      FindingStatus = "ok"
	FindingWarning FindingStatus = "warning" // the check works with a limitation
	FindingFailed  FindingStatus = "failed"
	FindingSkipped FindingStatus = "skipped" // nod cannot check it
)

// Finding is the result of one check.
type Finding struct {
	Check  string        `json:"check"` // platform and subject, separated by a dot
	Status FindingStatus `json:"status"`
	Detail string        `json:"detail,omitempty"` // the result, without secrets
	Fix    string        `json:"fix,omitempty"`    // how to fix the problem
}
