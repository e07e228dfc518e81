package bridge

import (
	"time"
)

// How long a yes lasts that is not for once; both end earlier when revoked.
const (
	SessionGrantTTL = 24 * time.Hour
	AlwaysGrantTTL  = 30 * 24 * time.Hour
)

// DefaultRoute is the route of a request that names none.
const DefaultRoute = "default"

// Route says where requests go and who may answer them.
type Route struct {
	Destinations []Destination
	Responders   []Responder
	// Groups may answer as well; who is in them is looked up when they do.
	Groups []string
	// Quorum is how many people have to approve; 0 means one.
	Quorum int
	// Must are people, and groups with GroupMark, of whom one each has to be
	// among them.
	Must []string
	// DenyCounts means that one denial does not end it.
	DenyCounts bool
	// Steps are done while nobody answers, except for Quiet hours; Route names the
	// route of a step, which is resolved when a request is opened.
	Steps []Step
	Quiet *Quiet
	// Snooze offers to be reminded so much later, HandOver to ask one of these
	// people; empty: not.
	Snooze   time.Duration
	HandOver []string
	// AllowSelf lets the human behind the agent answer.
	AllowSelf bool
	// EscalateTo names the route that is asked next under OnTimeoutEscalate;
	// empty: none.
	EscalateTo string
}

// Agent is who asks.
type Agent struct {
	Name string
	// Routes the agent may use; empty: all.
	Routes []string
	// Kinds it may send, and scopes that it may offer; empty: all.
	Kinds  []Kind
	Scopes []Scope
	// PerMinute bounds its requests, MaxPending those that wait at once, and
	// MaxBytes the size of one; 0: no bound.
	PerMinute, MaxPending, MaxBytes int
	// Owners are the humans behind the agent.
	Owners []string
}
