package policy

import "github.com/nodbridge/nod/bridge"

// Rule is one rule of the policy. All of its conditions must hold. A condition
// with several patterns holds if one of them matches. A pattern is a glob, in
// which * is any text and ? is any character, or a regular expression between
// slashes that must match all of the text.
type Rule struct {
	// Name is the name of the rule in the audit log, on cards and in the output
	// of nod policy test.
	//
	// Example: push
	Name string `yaml:"name"`
	// Agents are patterns for the name of the agent.
	//
	// Example: [ci, "deploy-*"]
	Agents []string `yaml:"agents"`
	// Tools are patterns for the tool that the agent names.
	//
	// Example: [Bash, "mcp__*"]
	Tools []string `yaml:"tools"`
	// Command lists patterns for each command of a shell line. Globs match word by
	// word, and * at the end matches any further words.
	//
	// Example: ["git push *"]
	Command []string `yaml:"command"`
	// Options lists the options, which are words that start with -, that a rule
	// with then: allow or grant: rule covers. If the key is missing, the rule
	// covers all options. An empty list covers none.
	//
	// Example: [--stat, --cached]
	Options []string `yaml:"options"`
	// Reads is empty or project. With project, an allow rule covers only commands
	// that read, and only files below the location of the request. See
	// docs/access/policy.md for the commands.
	//
	// Example: project
	Reads string `yaml:"reads"`
	// Path lists patterns for the absolute path of every file that the input names.
	//
	// Example: ["/srv/app/*"]
	Path []string `yaml:"path"`
	// Input maps the path of an input field to a pattern for its value.
	//
	// Example: {"env.name": "prod*"}
	Input map[string]string `yaml:"input"`
	// Where lists patterns for the location that the agent reports, such as a
	// directory.
	//
	// Example: ["/srv/*"]
	Where []string `yaml:"where"`
	// Then is the effect of the rule: allow, ask or deny. It is required.
	//
	// Example: ask
	Then bridge.Effect `yaml:"then"`
	// Reason is the reason that the agent reads if the rule allows or denies. If
	// empty, it is the name of the rule.
	//
	// Example: no one deletes trees
	Reason string `yaml:"reason"`
	// Route is the route that is asked instead of the route of the request.
	//
	// Example: production
	Route string `yaml:"route"`
	// Risk is the risk level of the request, from risks.
	//
	// Example: critical
	Risk string `yaml:"risk"`
	// Scopes are the scopes that the card can offer: once, session and always.
	//
	// Example: [once, session]
	Scopes []bridge.Scope `yaml:"scopes"`
	// Timeout replaces the time that people have to respond. If several rules
	// ask about parts of a request, the shortest timeout applies.
	//
	// Example: 30m
	Timeout bridge.Duration `yaml:"timeout"`
	// OnTimeout is the outcome if no one responds: expire, deny or escalate.
	// With escalate, the route needs a step with ask or route under
	// escalation.
	//
	// Example: deny
	OnTimeout bridge.OnTimeout `yaml:"on_timeout"`
	// Quorum is the number of people who must approve, at most 10.
	//
	// Example: 2
	Quorum int `yaml:"quorum"`
	// Confirm is the text that an approver must type.
	//
	// Example: "delete production"
	Confirm string `yaml:"confirm"`
	// StepUp is the proof that approvals require in addition to a click: passkey.
	//
	// Example: passkey
	StepUp bridge.Assurance `yaml:"step_up"`
	// Redact lists the input fields that people do not see.
	//
	// Example: [user.phone]
	Redact []string `yaml:"redact"`
	// GrantFor shortens the lifetime of a grant. Without it, a grant for the
	// session lasts up to 24 hours, and a grant for always up to 30 days.
	//
	// Example: 8h
	GrantFor bridge.Duration `yaml:"grant_for"`
	// Grant is the coverage of a grant: input covers the exact same request, and
	// rule covers everything that this rule matches.
	//
	// Default: input
	// Example: rule
	Grant string `yaml:"grant"`
}

// subject is the subject of a condition.
type subject int

const (
	ofCaller subject = iota // the card of a request shows it
	ofTool                  // enough for an allow rule, which then covers any input
	ofInput                 // an allow rule then needs a condition for every field
)

// condition is a row of the table of conditions. Together with the field of
// [Rule], whose comment is the documentation, it defines a condition
// completely.
type condition struct {
	key      string // in the config
	of       subject
	patterns func(*Rule) []string
	// act is the value if a request has exactly one value. nod policy test
	// takes the value from a flag.
	act         func(*bridge.Act) *string
	flag, usage string
	// exact returns the values that every program reads, or the reason that
	// they are unclear. An allow rule needs a value, and all values must match.
	exact func(in *input, p part) (values []string, unclear string)
	// readings returns every value that a program may read. For ask and deny
	// rules, one match, ignoring case, is enough.
	readings  func(in *input, p part) []string
	sensitive bool // ask and deny rules compare the case as well
	// fields reports whether the condition is about a field of the input.
	fields func(field) bool
	covers string // start of the text of a grant by the rule, before the patterns
}

// conditions are the kinds of conditions. The only other kind is a command,
// with its options and the files that it reads.
var conditions = []condition{
	{
		key: "agents", patterns: func(r *Rule) []string { return r.Agents }, sensitive: true,
		act: func(a *bridge.Act) *string { return &a.Agent }, flag: "agent", usage: "name of the agent",
	},
	{
		key: "tools", of: ofTool, patterns: func(r *Rule) []string { return r.Tools }, covers: "with the tool ",
		act: func(a *bridge.Act) *string { return &a.Tool }, flag: "tool", usage: "name of the tool",
	},
	{
		key: "where", patterns: func(r *Rule) []string { return r.Where },
		act: func(a *bridge.Act) *string { return &a.Where }, flag: "where", usage: "directory or environment",
		exact: (*input).location, readings: (*input).places,
	},
	{
		key: "path", of: ofInput, patterns: func(r *Rule) []string { return r.Path }, fields: field.content,
		exact: (*input).paths, readings: (*input).pathReadings,
	},
}

// ReadsProject means that a command only reads: it starts nothing, writes nothing
// and sends nothing, and its files are below the location of the request.
const ReadsProject = "project"

// grantsByRule reports whether a grant covers everything that the rule matches
// in the same location, instead of one exact request.
func (r Rule) grantsByRule() bool { return r.Grant == "rule" }

// settings returns the settings of a rule, without its effect and its name.
func (r Rule) settings() bridge.Ruling {
	out := bridge.Ruling{
		Reason: r.Reason, Risk: r.Risk, Scopes: r.Scopes, Timeout: r.Timeout, OnTimeout: r.OnTimeout, Quorum: r.Quorum,
		Confirm: r.Confirm, StepUp: r.StepUp, Redact: r.Redact, GrantFor: r.GrantFor,
	}
	if r.Route != "" {
		out.Routes = []string{r.Route}
	}
	return out
}

// Risk is a named risk level. Lists of risk levels are ordered from lowest to
// highest.
type Risk struct {
	// Name is the name that rules use. It is required.
	//
	// Example: critical
	Name string `yaml:"name"`
	// Quorum is the number of people who must approve at this level, at most 10.
	// Zero keeps the quorum of the route.
	//
	// Example: 2
	Quorum int `yaml:"quorum"`
	// Confirm is the text that an approver must type. If empty, a click is
	// enough.
	//
	// Example: "yes, production"
	Confirm string `yaml:"confirm"`
	// StepUp is the proof that approvals require at this level in addition to a
	// click: passkey.
	//
	// Example: passkey
	StepUp bridge.Assurance `yaml:"step_up"`
}
