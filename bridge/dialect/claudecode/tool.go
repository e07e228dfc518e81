package claudecode

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
)

// PlanTool is the tool that shows a plan and waits for its approval.
const PlanTool = "ExitPlanMode"

// call is a tool call that needs a person.
type call struct {
	session, cwd, toolUse string
	tool                  string
	input                 json.RawMessage
	suggestions           []Suggestion
	reason                string // reason for Claude Code's prompt
	defaultNo             bool
	noRules               bool // standing permissions must not be offered
	ownInterface          bool // a single click must not decide
	stop, edit            bool // whether the result can contain them
	remember              bool // the result can contain permission updates
}

// plan is the ID of the question that shows a plan.
const plan = "plan"

func (c call) request() (bridge.Request, error) {
	var r bridge.Request
	var err error
	switch c.tool {
	case askuserquestion.Tool:
		r, err = askuserquestion.Request(c.input)
		r.Declinable = true
	case PlanTool:
		r, err = c.planRequest()
	case "":
		return r, bridge.Errorf(bridge.CodeInvalid, "tool_name: required")
	default:
		r = c.approval()
	}
	r.Session, r.ToolCall, r.ToolName = c.session, c.toolUse, c.tool
	return r, err
}

func (c call) planRequest() (bridge.Request, error) {
	var in struct {
		Plan string `json:"plan"`
	}
	if err := dialect.Decode("tool_input", c.input, &in); err != nil {
		return bridge.Request{}, err
	}
	if strings.TrimSpace(in.Plan) == "" { // Claude Code leaves plan mode without a plan file
		c.edit, c.noRules, c.reason = false, true, "It wants to leave plan mode, and has written no plan."
		return c.approval(), nil
	}
	more, err := c.besidePlan()
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: "Claude Code has a plan" + c.where() + more,
		Questions: []bridge.Question{{ID: plan, Widget: bridge.WidgetPlanReview, Plan: in.Plan}},
	}}, err
}

// besidePlan returns a paragraph about the additional permissions in an
// approval of a plan, such as permissions for commands, or "".
func (c call) besidePlan() (string, error) {
	var in map[string]json.RawMessage
	if err := dialect.Decode("tool_input", c.input, &in); err != nil {
		return "", err
	}
	maps.DeleteFunc(in, func(name string, v json.RawMessage) bool {
		return name == "plan" || name == "planFilePath" || slices.Contains([]string{"null", "[]", "{}", `""`}, string(v))
	})
	if len(in) == 0 {
		return "", nil
	}
	raw, err := dialect.Encode(in)
	return "\n\nWith the plan, it asks for:\n" + dialect.Fenced(string(raw)), err
}

func (c call) where() string {
	if c.cwd == "" {
		return ""
	}
	return " in " + dialect.Code(c.cwd)
}

func (c call) approval() bridge.Request {
	var in struct {
		Description string `json:"description"`
	}
	_ = dialect.Decode("tool_input", c.input, &in) // a tool without a description is valid
	prompt := "Claude Code wants to use **" + c.tool + "**" + c.where()
	for _, more := range []string{in.Description, c.reason} {
		if strings.TrimSpace(more) != "" {
			prompt += "\n\n" + more
		}
	}
	a := &bridge.Approval{Tool: c.tool, Input: c.input, Where: c.cwd, DefaultNo: c.defaultNo, AgentRemembers: c.remember, Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce}}
	if c.ownInterface {
		a.Confirm, a.Decisions = "allow", []bridge.Decision{bridge.DecideDenyReason, bridge.DecideOnce}
	} else if c.edit {
		a.Decisions = append(a.Decisions, bridge.DecideEdit)
	}
	if c.stop && !c.ownInterface {
		a.Decisions = append(a.Decisions, bridge.DecideDenyStop)
	}
	switch {
	case c.noRules:
	case c.remember:
		c.offerSuggestions(a)
	default: // Claude Code accepts no permission updates here, so nod stores a grant
		a.Decisions = append(a.Decisions, bridge.DecideSession)
	}
	return bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: prompt, Approval: a}}
}

// Suggestion is a change of permissions that Claude Code proposes. The option
// "always allow" in Claude Code returns it.
type Suggestion struct {
	Type        string `json:"type"`
	Rules       []Rule `json:"rules,omitempty"`
	Behavior    string `json:"behavior,omitempty"`
	Mode        string `json:"mode,omitempty"`
	Directories []any  `json:"directories,omitempty"`
	Destination string `json:"destination,omitempty"`
}

// Rule is a permission rule.
type Rule struct {
	ToolName    string `json:"toolName"`
	RuleContent string `json:"ruleContent,omitempty"`
}

const forSession = "session"

// widens reports whether a person may approve the suggestion here. The
// suggestion must not remove rules or set a mode without prompts, and nod must
// be able to describe all of it to people.
func (s Suggestion) widens() bool {
	if s.words() == "" || slices.ContainsFunc(s.Directories, func(d any) bool { _, text := d.(string); return !text }) {
		return false
	}
	switch s.Type {
	case "addRules", "replaceRules":
		return s.Behavior == "allow"
	case "addDirectories":
		return true
	case "setMode":
		return s.Mode == "acceptEdits"
	}
	return false
}

// words describes the permissions in the suggestion.
func (s Suggestion) words() string {
	var what []string
	for _, r := range s.Rules {
		if r.RuleContent == "" {
			what = append(what, "every use of "+r.ToolName)
		} else {
			what = append(what, r.ToolName+"("+r.RuleContent+")")
		}
	}
	for _, d := range s.Directories {
		if dir, ok := d.(string); ok {
			what = append(what, "work in "+dir)
		}
	}
	switch s.Mode {
	case "":
	case "acceptEdits":
		what = append(what, "file edits, and file commands such as mkdir and mv, in its directories (mode acceptEdits)")
	default:
		what = append(what, "mode "+s.Mode)
	}
	if s.Type == "replaceRules" && len(what) > 0 {
		what[0] = "instead of the rules there: " + what[0]
	}
	return strings.Join(what, ", ")
}

var destinations = map[string]string{"userSettings": "all your projects", "projectSettings": "this project, for everyone", "localSettings": "this project, for this user"}

func (c call) offerSuggestions(a *bridge.Approval) {
	var session, always []string
	lasts := false
	for _, s := range c.suggestions {
		if !s.widens() {
			continue
		}
		session = append(session, s.words())
		where := "this session"
		if lasting := destinations[s.Destination]; lasting != "" {
			where, lasts = lasting, true
		}
		always = append(always, s.words()+" in "+where)
	}
	a.ScopeNotes = map[bridge.Scope]string{}
	if len(session) > 0 {
		a.Decisions = append(a.Decisions, bridge.DecideSession)
		a.ScopeNotes[bridge.ScopeSession] = strings.Join(session, "; ")
	}
	if lasts {
		a.Decisions = append(a.Decisions, bridge.DecideAlways)
		a.ScopeNotes[bridge.ScopeAlways] = strings.Join(always, "; ")
	}
}

// updates returns the permission updates for an approval with a scope.
func (c call) updates(s bridge.Scope) []Suggestion {
	if s != bridge.ScopeSession && s != bridge.ScopeAlways || c.noRules {
		return nil
	}
	var out []Suggestion
	for _, u := range c.suggestions {
		if !u.widens() {
			continue
		}
		if s == bridge.ScopeSession || destinations[u.Destination] == "" {
			u.Destination = forSession
		}
		out = append(out, u)
	}
	return out
}

// verdict is the outcome of a call, independent of its output format.
type verdict struct {
	allow   bool
	decided bool            // decided by a person, or by the request's on_timeout
	input   json.RawMessage // input of an allowed call
	message string          // message of a denied call, or the reason if no one decided
	stop    bool
	updates []Suggestion
}

func (c call) verdict(r bridge.Record) (verdict, error) {
	switch r.State {
	case bridge.StateApproved:
		return verdict{allow: true, decided: true, input: dialect.Approved(r), updates: c.updates(r.Response.Scope)}, nil
	case bridge.StateDenied:
		return verdict{decided: true, message: dialect.WhyNot(r), stop: r.Response.Stop}, nil
	case bridge.StateAnswered:
		return c.answered(r)
	case bridge.StateCancelled:
		if r.Response.Stops() {
			return verdict{decided: true, message: dialect.WhyNot(r), stop: true}, nil
		}
		if r.Response.Actor != nil { // a declined question
			return verdict{decided: true, message: dialect.WhyNot(r) + " Do not assume an answer."}, nil
		}
	}
	return verdict{message: dialect.WhyNot(r)}, nil
}

func (c call) answered(r bridge.Record) (verdict, error) {
	if c.tool == askuserquestion.Tool {
		p, err := askuserquestion.Permission(c.input, r)
		return verdict{allow: true, decided: true, input: p.UpdatedInput}, err
	}
	i := slices.IndexFunc(r.Interaction.Questions, func(q bridge.Question) bool { return q.ID == plan })
	if i < 0 {
		return verdict{}, bridge.Errorf(bridge.CodeInternal, "the response has no plan")
	}
	parts, _ := r.Response.Answers[plan].Object() // validated when the answer arrived
	if parts[bridge.PartDecision].Text == bridge.PlanApprove {
		return verdict{allow: true, decided: true, input: c.input}, nil
	}
	return verdict{decided: true, message: "Changes to the plan requested: " + parts[bridge.PartFeedback].Text}, nil
}
