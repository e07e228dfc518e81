package bridge

import (
	"cmp"
	"time"
)

// Kind is the kind of response that a request asks for.
type Kind string

// The kinds.
const (
	KindAsk      Kind = "ask"      // answers to questions
	KindApproval Kind = "approval" // permission to do something specific
	// KindNotice needs no response. It is answered as soon as it has been
	// shown.
	KindNotice Kind = "notice"
)

// State is the state of an interaction; see the package comment.
type State string

// The states. All except [StatePending] are final.
const (
	StatePending       State = "pending"
	StateAnswered      State = "answered"
	StateApproved      State = "approved"
	StateDenied        State = "denied"
	StateExpired       State = "expired"
	StateCancelled     State = "cancelled"
	StateSuperseded    State = "superseded"
	StateUndeliverable State = "undeliverable"
)

// States lists all states.
var States = []State{
	StatePending, StateAnswered, StateApproved, StateDenied, StateExpired, StateCancelled, StateSuperseded, StateUndeliverable,
}

// Final reports whether the state can no longer change.
func (s State) Final() bool { return s != StatePending && s != "" }

// Interaction is an opened ask, with its destinations, responders and rules.
// After it was opened, only amendments change it. [Record] holds everything
// that happens to it.
//
// Its JSON form is one flat object.
type Interaction struct {
	ID ID `json:"id"`
	// Ask is the agent's request after redaction. Timeout and OneAtATime are
	// zero, because nod uses them only while it opens the interaction. Route is
	// the first route that the interaction was sent to; see OwnRoute.
	Ask
	Agent string `json:"agent"` // name of the authenticated agent
	// Trace is the traceparent (W3C Trace Context) of the agent's request.
	// It is empty if there was none.
	Trace string `json:"trace,omitempty"`
	Placement
	Schedule
	Lineage
	Governance
	Attention

	// Contested means that the agent's user can also decide at the agent's own
	// terminal, and that nod learns of such a decision only later. A response
	// that nod has sent may therefore have come too late.
	Contested bool `json:"contested,omitempty"`

	// Webhooks lists the names of the webhooks that receive the outcome.
	Webhooks []string `json:"webhooks,omitempty"`
	// Redacted is the number of redacted values. The digest was computed before
	// redaction.
	Redacted int `json:"redacted,omitempty"`
	// RedactedCommand means that a part of the command is redacted. An approval
	// then requires typed confirmation and covers this request only.
	RedactedCommand bool `json:"redacted_command,omitempty"`

	// Digest is the request digest that a decision is bound to; see package
	// proof.
	Digest string `json:"digest"`
	// Content is the hash of the text that people see of the interaction, and
	// of its terms; see package proof. A person decides on this content, and
	// Digest is part of it. nod computes it when it stores the interaction, and
	// again only if an amendment changes the terms.
	Content string `json:"content,omitempty"`
	// RequestKey binds the interaction to the call that opened it; see
	// [Identity]. It is empty if the call cannot be identified.
	RequestKey string `json:"request_key,omitempty"`
	// Stated holds the original values of Created and Deadline. The fields of
	// the same names use the clock of Redis, and change when the interaction is
	// extended.
	Stated Times `json:"-"`
}

// Placement holds the destinations of an interaction and the people who may
// respond to it.
type Placement struct {
	Destinations []Destination `json:"destinations"`
	// Responders and the members of Groups may respond. If both are empty,
	// no one may.
	Responders []Responder `json:"responders"`
	Groups     []string    `json:"groups,omitempty"`
	// Must lists the required approvers: people, and groups with GroupMark.
	// Each person, and one member of each group, has to approve.
	Must []string `json:"must,omitempty"`
	// Requesters lists the owners of the agent and the requester, who may
	// deny but not approve.
	Requesters []string `json:"requesters,omitempty"`
	// Stranger means that the requester is not in the config, so nod could not
	// prevent this person from approving under their own name.
	Stranger bool `json:"stranger,omitempty"`
	// Names holds the display names of people by their names in the config.
	// People without a display name are not included.
	Names map[string]string `json:"names,omitempty"`
	// DenyCounts means that one denial does not close the request. Denials then
	// need the same quorum as approvals.
	DenyCounts bool `json:"deny_counts,omitempty"`
	// Quorum is the number of required approvals. Zero means one.
	Quorum int `json:"quorum,omitempty"`

	// Requirements holds the requirements of each route if there are
	// several. If it is empty, Responders, Groups, Quorum and Must are the
	// only requirements.
	Requirements []Requirement `json:"requirements,omitempty"`
	// OwnRoute is the route of the request itself if the policy sent it to
	// others.
	OwnRoute string `json:"own_route,omitempty"`
	// Added lists the people who were added while the request was pending.
	Added []Addition `json:"added,omitempty"`
	// Terms is the number of times that the requirements became stricter
	// while the request was pending. A control of an earlier card cannot
	// approve.
	Terms int `json:"terms,omitempty"`
	// Called lists the people and routes that were also asked while the
	// request was pending.
	Called []string `json:"called,omitempty"`
	// Told lists the people and routes that were asked while the request was
	// pending, and the responders who need a separate card. Each entry names
	// the messages that told them.
	Told []Told `json:"told,omitempty"`
	// Unfound lists the groups for which nod has not found anyone yet.
	Unfound []Unfound `json:"unfound,omitempty"`
	// HandOver lists the people, and groups with GroupMark, that a responder
	// can delegate to.
	HandOver []string `json:"hand_over,omitempty"`
	// StepUp is the proof that approvals require. It is empty if a click is
	// enough.
	StepUp Assurance `json:"step_up,omitempty"`
}

// Schedule holds the deadline of an interaction and its escalation policy.
type Schedule struct {
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline"`
	// Steps are taken in order while no one answers, but not during Quiet
	// hours. If the request has several routes, the steps belong to its own
	// route.
	Steps []Step `json:"steps,omitempty"`
	Quiet *Quiet `json:"quiet,omitempty"`
	// Snooze is the delay of a reminder that people can request. Zero means
	// that they cannot.
	Snooze Duration `json:"snooze,omitempty"`
}

// Lineage holds the place of an interaction among the rounds of one question.
type Lineage struct {
	// Round is the number of times that the question was asked, starting at 1.
	// Its maximum is MaxRounds.
	Round int `json:"round,omitempty"`
	// Previous is the interaction of the previous round, and Root is the first
	// interaction that used the same messages. Both are empty in the first
	// round.
	Previous ID `json:"previous,omitempty"`
	Root     ID `json:"root,omitempty"`
}

// Governance holds the effect of the policy on an interaction, and the coverage
// of a grant that is given in it.
type Governance struct {
	// Rule is the policy rule that matched, and Risk is its risk level. Each is
	// empty if there is none.
	Rule string `json:"rule,omitempty"`
	Risk string `json:"risk,omitempty"`
	// RuleReason is the reason that the config states for the rule, for people.
	// It may be empty.
	RuleReason string `json:"rule_reason,omitempty"`
	// PolicyVersion is the version of the rules in the last evaluation.
	PolicyVersion string `json:"policy_version,omitempty"`
	// ConfigVersion is the version of the config in the last evaluation.
	ConfigVersion string `json:"config_version,omitempty"`
	// GrantKey identifies the exact request, before redaction, for a grant.
	// It is empty if the agent remembers approvals itself.
	GrantKey string `json:"grant_key,omitempty"`
	// RuleGrants lists the rules that a grant would cover; see
	// Ruling.Grants.
	RuleGrants []RuleGrant `json:"rule_grants,omitempty"`
	// GrantRoutes lists the routes that must have approved a grant that covers
	// this request. GrantFor is the lifetime of a grant that is given here.
	GrantRoutes []string `json:"grant_routes,omitempty"`
	GrantFor    Duration `json:"grant_for,omitempty"`
}

// NameOf returns the display name of a person or a group.
func (p Placement) NameOf(who string) string { return cmp.Or(p.Names[who], who) }

// NamesOf returns the display names of several people and groups.
func (p Placement) NamesOf(all []string) []string {
	out := make([]string, len(all))
	for n, who := range all {
		out[n] = p.NameOf(who)
	}
	return out
}

// Told is a person, a group with GroupMark, or a route that was asked while a
// request was pending. It can also be a responder who cannot see the first
// cards of the request.
type Told struct {
	// Name is empty for responders who can see the first cards.
	Name string `json:"name"`
	// At lists the indexes of the destinations whose messages notified them. If
	// it is empty, no message notified them.
	At []int `json:"at,omitempty"`
	// Why is the reason that no message told them, or not all of them.
	Why string `json:"why,omitempty"`
	// Step is the number of escalation steps that had been taken when they were
	// asked, including the step that asked them.
	Step int `json:"step,omitempty"`
}

// Unfound is a group for which nod found no one, or not everyone.
type Unfound struct {
	Name string `json:"name"` // with GroupMark
	Why  string `json:"why"`
}

// Destination is a channel or conversation that shows an interaction.
type Destination struct {
	Platform string `json:"platform"`         // configured name of a Platform
	Channel  string `json:"channel"`          // channel, chat or user ID in the platform's format
	Thread   string `json:"thread,omitempty"` // thread or topic ID; empty means the channel itself
}

// Responder is an account of a person who may respond.
type Responder struct {
	Person   string `json:"person"` // name of a person, who can have accounts on several platforms
	Platform string `json:"platform"`
	User     string `json:"user"` // user ID in the platform's format
}

// IsSession reports whether the interaction is the message of a session.
func (i Interaction) IsSession() bool { return i.Presentation == PresentSession }
