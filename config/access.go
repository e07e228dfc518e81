package config

// Person is a human with accounts. Two people cannot share an account, an email
// address or a token.
type Person struct {
	// Accounts are the IDs of the person's accounts, by platform.
	Accounts map[string]string `yaml:",inline"`
	// Name is the display name of the person. If empty, it is the key under
	// people.
	//
	// Example: Ana Ruiz
	Name string `yaml:"name"`
	// IDs are the person's IDs in on-call schedules, by kind of schedule.
	//
	// Example: {pagerduty: PABC123}
	IDs map[string]string `yaml:"ids"`
	// Email is the person's email address. identity.email, console.oidc and
	// on-call schedules recognize the person by it.
	//
	// Example: ana@example.com
	Email string `yaml:"email"`
	// Token is the person's API token, at least 16 characters, or its hash,
	// from nod config token. It is for the command line, the API and the web
	// console. To replace it, set OLD,NEW and then NEW. Without a token, the
	// person can answer in chat only.
	//
	// Example: sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
	Token Secret `yaml:"token"`
	// Auditor lets the person read the audit log and every request. An auditor
	// needs a token.
	//
	// Example: true
	Auditor bool `yaml:"auditor"`
	// Administrator lets the person invite people to add a passkey, and revoke
	// the passkeys of others.
	//
	// Example: true
	Administrator bool `yaml:"administrator"`
}

// Route is a set of destinations, responders and escalation steps.
type Route struct {
	// To lists the destinations, as PLATFORM:CHANNEL or PLATFORM:CHANNEL/THREAD. A
	// direct message is slack:U…, discord:@USER or telegram:USER. A Telegram
	// forum topic is telegram:CHAT/TOPIC. At least one is required.
	//
	// Example: ["slack:C0123456789", "telegram:-1001234567890"]
	To []string `yaml:"to"`
	// Responders are the people and @groups who can respond. At least one is
	// required.
	//
	// Example: [ana, "@sre"]
	Responders []string `yaml:"responders"`
	// Quorum is the number of people who must approve, at most 10. Zero means
	// one.
	//
	// Example: 2
	Quorum int `yaml:"quorum"`
	// Must lists people or @groups. Each of these people, and at least one member
	// of each of these groups, must be among the approvers. One approval counts
	// for each name and each group that it matches.
	//
	// Example: ["@leads"]
	Must []string `yaml:"must"`
	// StepUp is the proof that approvals on this route require in addition to a
	// click: passkey. It needs the web console with console.url. If a quorum is
	// required, each of its approvals needs the proof.
	//
	// Example: passkey
	StepUp string `yaml:"step_up"`
	// Deny is the effect of a denial. With ends, one denial ends the request.
	// With counts, a request is denied after as many denials as an approval
	// would need.
	//
	// Default: ends
	// Example: counts
	Deny string `yaml:"deny"`
	// Escalation is the list of steps that run while no one responds. If a
	// request has on_timeout: escalate, the first step with ask or route is due
	// at the timeout at the latest.
	Escalation []Step `yaml:"escalation"`
	// Remind is the time after which a pending request mentions the responders
	// who are still needed: a share of its timeout, a duration, or off. Requests
	// with a timeout under 2 minutes have no share. If escalation has steps, the
	// default is off.
	//
	// Default: 75%
	// Example: 10m
	Remind string `yaml:"remind"`
	// Quiet lists the hours in which reminders and escalation steps wait.
	Quiet *Quiet `yaml:"quiet"`
	// Snooze is the delay of the reminder that the card offers. If it is not
	// set, the card offers none.
	//
	// Example: 10m
	Snooze Duration `yaml:"snooze"`
	// HandOver lists up to 4 people and @groups to whom a responder can delegate
	// the request from the card. Both can then respond. For a group, the card on
	// Slack and Discord has a select of people, who must be members. Telegram
	// offers the people only.
	//
	// Example: [bo, "@sre"]
	HandOver []string `yaml:"hand_over"`
	// Mention selects the people that a new card in a channel mentions:
	// responders, group or none. With responders, it mentions up to 5 of them by name, and groups that
	// are a Slack user group or a mentionable Discord role. With group, it
	// mentions only these groups. Direct messages and edits mention no one. If a
	// policy sends a request to several routes, the loudest setting applies.
	//
	// Default: responders
	// Example: group
	Mention string `yaml:"mention"`
	// Preview limits the text of a notification, such as on a locked phone.
	// With full, it is the headline. With none, it says only that a request is
	// pending. The card itself does not change.
	//
	// Default: full
	// Example: none
	Preview string `yaml:"preview"`
	// Payload selects the readers of a request: card or private. The card of a
	// private request shows only its kind, its risk and a button, which opens
	// the request for people who may answer it. A request is private if any of
	// its routes is private, including routes that it escalates to.
	//
	// Default: card
	// Example: private
	Payload string `yaml:"payload"`
	// TellRequester sends the requester a direct message when a request closes,
	// unless the requester closed it. The requester must be listed under
	// people.
	//
	// Example: true
	TellRequester bool `yaml:"tell_requester"`
	// Sessions posts one message for each session that an agent reports, and
	// keeps it up to date: what the session does or waits for, where it runs,
	// and Stop. The message is silent on Discord and Telegram, and the cards of
	// the session are in its thread. nod init sets it for a new route.
	//
	// Example: true
	Sessions bool `yaml:"sessions"`
	// AllowSelf lets the owners of the agent and the requester approve. By
	// default they can only deny.
	//
	// Example: true
	AllowSelf bool `yaml:"allow_self"`
}

// Agent is a program that can send requests.
type Agent struct {
	// Token is the agent's API token, at least 16 characters, or its hash, from
	// nod config token. It is required. To replace it, set OLD,NEW and then NEW.
	//
	// Example: sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
	Token Secret `yaml:"token"`
	// Routes are the routes that the agent can name. If empty, it can name all
	// of them. A policy rule can still send its requests elsewhere.
	//
	// Example: [default]
	Routes []string `yaml:"routes"`
	// Kinds are the kinds of requests that the agent can send: ask, approval and
	// notice. If empty, it can send all of them.
	//
	// Example: [ask, approval]
	Kinds []string `yaml:"kinds"`
	// Scopes are the scopes that cards offer for the agent's approvals: once,
	// session and always. If empty, cards can offer all of them.
	//
	// Example: [once, session]
	Scopes []string `yaml:"scopes"`
	// PerMinute is the number of requests that the agent can send per minute. The
	// message of a new session counts, too.
	//
	// Default: 120
	// Example: 60
	PerMinute int `yaml:"per_minute"`
	// MaxPending is the number of requests that can be pending at a time.
	//
	// Default: 200
	// Example: 50
	MaxPending int `yaml:"max_pending"`
	// Owners are the people responsible for the agent. They can deny its
	// requests, but not approve them, unless the route sets allow_self.
	//
	// Example: [ana]
	Owners []string `yaml:"owners"`
}

// Group is a set of people. Each of the keys adds people to it.
type Group struct {
	// People are names of people.
	//
	// Example: [ana, bo]
	People []string `yaml:"people"`
	// Native maps a platform to the ID of one of its groups. The members of that
	// group belong to this one.
	Native map[string]string `yaml:",inline"`
	// OnCall is the name of an on-call schedule. The people on call belong to
	// the group.
	//
	// Example: primary
	OnCall string `yaml:"oncall"`
}

// Identity configures how nod recognizes accounts that people do not list.
type Identity struct {
	// Email accepts the confirmed email address of a Slack account as proof of
	// who it belongs to. It needs the scope users:read.email.
	//
	// Example: true
	Email bool `yaml:"email"`
	// Guests makes email accept the addresses of guests too. It never accepts
	// accounts of other workspaces.
	//
	// Example: true
	Guests bool `yaml:"guests"`
	// UnknownRequesters lets a request name a requester who is not under people.
	// Its card says so. By default such a request is refused, because nod could
	// not keep the requester from approving it.
	//
	// Example: true
	UnknownRequesters bool `yaml:"unknown_requesters"`
	// Linking gives unknown accounts a code. The person who enters it from a
	// known account links the unknown one.
	//
	// Example: true
	Linking bool `yaml:"linking"`
}

// Redact configures what nod hides in addition to known credential formats.
type Redact struct {
	// Patterns are RE2 regular expressions. nod hides everything that matches.
	//
	// Example: ['ACME-\d{8}']
	Patterns []string `yaml:"patterns"`
}

// Step is one escalation step. It needs at least one of remind, ask, route and
// give_up.
type Step struct {
	// After is the delay after the previous step, or after the request was
	// posted. It is required.
	//
	// Example: 2m
	After Duration `yaml:"after"`
	// Remind mentions the responders again.
	//
	// Example: true
	Remind bool `yaml:"remind"`
	// Times is the number of reminders, at most 10. The delay doubles after each
	// one. Zero means one reminder.
	//
	// Example: 3
	Times int `yaml:"times"`
	// Ask lists people and @groups who can respond from now on, and who are
	// mentioned.
	//
	// Example: ["@on-call"]
	Ask []string `yaml:"ask"`
	// Route is another route whose destinations and responders are added.
	//
	// Example: everyone
	Route string `yaml:"route"`
	// GiveUp ends the request: expire or deny. Only the last step can give up.
	//
	// Example: expire
	GiveUp string `yaml:"give_up"`
}

// Quiet is a daily range of hours in which escalation steps wait.
type Quiet struct {
	// From is the time at which quiet hours start.
	//
	// Example: "22:00"
	From string `yaml:"from"`
	// To is the time at which quiet hours end.
	//
	// Example: "07:00"
	To string `yaml:"to"`
	// Zone is the IANA name of the time zone.
	//
	// Default: UTC
	// Example: Europe/Madrid
	Zone string `yaml:"zone"`
	// Risks are the risk levels whose steps do not wait.
	//
	// Example: [critical]
	Risks []string `yaml:"risks"`
}
