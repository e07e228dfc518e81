package bridge

import (
	"context"
	"time"
)

// Lifetimes of grants, unless they are revoked earlier.
const (
	SessionGrantTTL = 24 * time.Hour
	AlwaysGrantTTL  = 30 * 24 * time.Hour
)

// DefaultRoute is the route of a request that names none.
const DefaultRoute = "default"

// Route holds the destinations and responders of requests.
type Route struct {
	Destinations []Destination
	Responders   []Responder
	// Members of Groups may also respond. nod looks up the members at the
	// time of a response.
	Groups []string
	// Quorum is the number of required approvals. Zero means one.
	Quorum int
	// Must lists the required approvers: people, and groups with GroupMark.
	Must []string
	// StepUp is the proof that approvals require. It is empty if a click is
	// enough.
	StepUp Assurance
	// DenyCounts means that one denial does not close a request.
	DenyCounts bool
	// Steps are taken while no one answers, but not during Quiet hours. The
	// Route of a step is resolved when a request is opened.
	Steps []Step
	// Remind adds a reminder to the steps.
	Remind RemindAfter
	Quiet  *Quiet
	// Snooze is the delay of the reminder that cards offer. HandOver lists the
	// people, and groups with GroupMark, that responders can delegate to. If
	// one of them is empty, cards do not offer its control.
	Snooze   time.Duration
	HandOver []string
	// Attention holds how requests get the attention of people.
	Attention Attention
	// Sessions means that nod posts a message for each session that an agent
	// reports.
	Sessions bool
	// AllowSelf lets the owners of the agent and the requester respond.
	AllowSelf bool
}

// Agent is a configured agent with its limits.
type Agent struct {
	Name string
	// Routes lists the routes that the agent may use. If it is empty, all
	// are allowed.
	Routes []string
	// Kinds lists the kinds of requests that the agent may send. Scopes lists
	// the scopes that it may offer. If one of them is empty, all of its values
	// are allowed.
	Kinds  []Kind
	Scopes []Scope
	// PerMinute limits the requests per minute, and MaxPending the pending
	// requests. Zero means no limit.
	PerMinute, MaxPending int
	// Owners lists the people who are responsible for the agent.
	Owners []string
}

// MentionMode selects the people that a card in a channel mentions.
type MentionMode string

// The modes. The zero value mentions the responders: at most MaxMentions people
// by name, and the groups that the platform can mention.
const (
	MentionResponders MentionMode = ""
	MentionGroup      MentionMode = "group" // only groups that the platform can mention
	MentionNone       MentionMode = "none"
)

// MaxMentions is the maximum number of people that a card mentions by name.
const MaxMentions = 5

// Mention is a person or a group that a card mentions. Either User or Group is
// set, in the platform's own format.
type Mention struct {
	Person string // in the config; empty for a group
	Name   string // name on the card
	User   string
	Group  string
}

// Mentioner is a Platform whose cards mention people. A card mentions them only
// when it is posted; its edits notify no one.
type Mentioner interface {
	// Direct reports whether a destination is a direct message, which
	// notifies its reader without a mention.
	Direct(Destination) bool
	// DirectChannel returns the channel of the direct messages to a user.
	DirectChannel(user string) string
	// Pings reports whether a mention of a group notifies its members. The
	// group has the platform's own format.
	Pings(ctx context.Context, group string) bool
}

// Attention holds the settings that bring an interaction to the attention of
// people. They come from its routes.
type Attention struct {
	Mention MentionMode `json:"mention,omitempty"`
	Preview PreviewMode `json:"preview,omitempty"`
	// Private means that cards and notifications do not show the request. A
	// control opens it for people who may respond.
	Private bool `json:"private,omitempty"`
	// TellRequester means that the requester gets a direct message when the
	// interaction closes.
	TellRequester bool `json:"tell_requester,omitempty"`
}

// DirectMessenger is a Platform that can send a person a direct message.
type DirectMessenger interface {
	// Tell sends a text to a user. A repeated call can send it again.
	Tell(ctx context.Context, user, text string) error
}

// Closings returns the number of messages that are sent when the interaction
// closes: one for each webhook, followed by one for the requester.
func (i Interaction) Closings() int {
	n := len(i.Webhooks)
	if i.TellRequester && i.Requester != "" && i.Kind != KindNotice {
		n++
	}
	return n
}

// PreviewMode limits the content of a notification about a request.
type PreviewMode string

// The modes. The zero value shows the headline of the request.
const (
	PreviewFull PreviewMode = ""
	PreviewNone PreviewMode = "none" // only that a request is pending
)

// Attend combines the settings of several routes. It selects the widest
// mention, and the preview that shows the least.
func (a Attention) Attend(b Attention) Attention {
	loud := map[MentionMode]int{MentionNone: 0, MentionGroup: 1, MentionResponders: 2}
	if loud[b.Mention] > loud[a.Mention] {
		a.Mention = b.Mention
	}
	if b.Preview == PreviewNone {
		a.Preview = PreviewNone
	}
	a.Private = a.Private || b.Private
	a.TellRequester = a.TellRequester || b.TellRequester
	return a
}
