package bridge

import (
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
