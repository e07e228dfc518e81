package config

// Person is a human with accounts.
type Person struct {
	Slack    string `yaml:"slack"`    // member id, U…
	Discord  string `yaml:"discord"`  // user id
	Telegram string `yaml:"telegram"` // numeric user id
	// IDs are the person's ids in schedules, by their kind: pagerduty: PABC123.
	IDs   map[string]string `yaml:"ids"`
	Email string            `yaml:"email"` // for identity.email, and schedules that name people by it
	Token Secret            `yaml:"token"` // to answer by API and command line; empty: not
	// TokenHashes are as those of an agent.
	TokenHashes Words `yaml:"token_hashes"`
	Auditor     bool  `yaml:"auditor"` // may read the audit log
}

// Route says where requests go and who may answer.
type Route struct {
	To         []string `yaml:"to"`         // platform:channel, or platform:channel/thread
	Responders []string `yaml:"responders"` // names of people, and of groups as @name
	// Quorum is how many people have to approve; 0 means one.
	Quorum int `yaml:"quorum"`
	// Must are people or @groups, of whom one each has to be among them.
	Must []string `yaml:"must"`
	// Deny is ends (the default), or counts: as many denials are needed as
	// approvals.
	Deny string `yaml:"deny"`
	// Escalation is done step by step while nobody answers, and waits in Quiet
	// hours.
	Escalation []Step `yaml:"escalation"`
	Quiet      *Quiet `yaml:"quiet"`
	// Snooze offers to be reminded so much later, HandOver to ask one of these
	// people (at most 4).
	Snooze   Duration `yaml:"snooze"`
	HandOver Words    `yaml:"hand_over"`
	// AllowSelf lets the human behind the agent answer.
	AllowSelf bool `yaml:"allow_self"`
	// EscalateTo names the route that is asked as well when nobody answered in
	// time and the request says escalate; empty: none.
	EscalateTo string `yaml:"escalate_to"`
}

// Agent may ask.
type Agent struct {
	Token Secret `yaml:"token"`
	// TokenHashes are sha256: and the hash of a token, instead of the token or
	// besides it: nod token makes both. Several are good while one is replaced.
	TokenHashes Words    `yaml:"token_hashes"`
	Routes      []string `yaml:"routes"` // empty: all
	// Kinds are ask, approval and notice; Scopes are once, session and always;
	// empty: all.
	Kinds  Words `yaml:"kinds"`
	Scopes Words `yaml:"scopes"`
	// PerMinute bounds requests, MaxPending those that wait at once, MaxBytes
	// the size of one; 0: no bound.
	PerMinute  int `yaml:"per_minute"`
	MaxPending int `yaml:"max_pending"`
	MaxBytes   int `yaml:"max_bytes"`
	// Owners are the people behind the agent, who do not approve what it asks.
	Owners []string `yaml:"owners"`
}

// Group is who belongs together; whoever is in one of its parts is in it.
type Group struct {
	People Words `yaml:"people"`
	// Slack is a user group's id, Discord GUILD/ROLE, Telegram a chat whose
	// administrators are meant.
	Slack    string `yaml:"slack"`
	Discord  string `yaml:"discord"`
	Telegram string `yaml:"telegram"`
	OnCall   string `yaml:"oncall"` // a schedule: who is on call is in it
}

// Identity says how accounts are recognized that the config does not name.
type Identity struct {
	// Email trusts the confirmed address that Slack has of an account.
	Email bool `yaml:"email"`
	// Linking offers unknown accounts a code that their person enters where
	// nod knows them.
	Linking bool `yaml:"linking"`
	// Remembered is how long a service's word on groups counts; default 20s.
	Remembered Duration `yaml:"remembered"`
}

// Risk is a named level.
type Risk struct {
	Name string `yaml:"name"`
	// Quorum is how many people have to approve at this level; 0: as the route
	// says.
	Quorum int `yaml:"quorum"`
	// Confirm is what has to be typed to approve; empty: a press is enough.
	Confirm string `yaml:"confirm"`
}

// Rule is one rule of the policy. Every condition that is set must hold; one
// with several patterns holds if one of them does. Patterns are globs, or
// regular expressions between slashes.
type Rule struct {
	Name   string `yaml:"name"`
	Agents Words  `yaml:"agents"`
	Tools  Words  `yaml:"tools"`
	// Command is matched word by word against each command of a shell line. A
	// last * stands for any words that follow.
	Command Words `yaml:"command"`
	// Options are the only words beginning with - that then: allow or grant:
	// rule covers where a wildcard of command matches them. If left out, any
	// option is covered; an empty list means none.
	Options Words             `yaml:"options"`
	Path    Words             `yaml:"path"`  // every file that the input names
	Input   map[string]string `yaml:"input"` // by field, as in env.name
	Where   Words             `yaml:"where"` // directory or other location

	Then   string `yaml:"then"` // allow, ask or deny
	Reason string `yaml:"reason"`

	// What an ask changes.
	Route     string   `yaml:"route"`
	Risk      string   `yaml:"risk"`
	Scopes    Words    `yaml:"scopes"`
	Timeout   Duration `yaml:"timeout"`
	OnTimeout string   `yaml:"on_timeout"`
	Quorum    int      `yaml:"quorum"`
	Confirm   string   `yaml:"confirm"`
	Redact    Words    `yaml:"redact"` // fields of the input that people do not see
	GrantFor  Duration `yaml:"grant_for"`
	// Grant states what a grant covers: input, which is the default, or rule.
	Grant string `yaml:"grant"`
}

// Redact says what is hidden besides the known shapes of credentials.
type Redact struct {
	Patterns Words `yaml:"patterns"` // RE2; all that matches is hidden
}

// Step is one thing that is done while nobody answers.
type Step struct {
	After  Duration `yaml:"after"`  // after the step before it, or the posting
	Remind bool     `yaml:"remind"` // mention those who are asked
	// Times repeats a reminder, each time after twice as long; 0 means once.
	Times  int    `yaml:"times"`
	Ask    Words  `yaml:"ask"`     // people and @groups who are asked as well, and mentioned
	Route  string `yaml:"route"`   // whose places and people are asked as well
	GiveUp string `yaml:"give_up"` // expire or deny
}

// Quiet are hours in which steps wait.
type Quiet struct {
	From  string `yaml:"from"` // as in 22:00
	To    string `yaml:"to"`
	Zone  string `yaml:"zone"`  // IANA name; default UTC
	Risks Words  `yaml:"risks"` // that do not wait
}
