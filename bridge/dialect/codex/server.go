package codex

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Methods lists the requests of codex app-server that people answer.
var Methods = []string{
	"item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval",
	"item/tool/requestUserInput", "mcpServer/elicitation/request", "execCommandApproval", "applyPatchApproval",
}

// Call is a request of the app server. Changes holds the changes from an
// earlier notification about the item, because a request about a file change
// does not repeat them.
type Call struct {
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Changes json.RawMessage `json:"changes,omitempty"`
}

// params holds the fields that nod reads from any request.
type params struct {
	Thread       string          `json:"threadId"`
	Conversation string          `json:"conversationId"`
	Turn         string          `json:"turnId"`
	Item         string          `json:"itemId"`
	Started      int64           `json:"startedAtMs"`
	Kind         string          `json:"kind"` // kind of a command; older servers omit it
	Approval     *string         `json:"approvalId"`
	LegacyCall   string          `json:"callId"`
	Reason       string          `json:"reason"`
	Command      json.RawMessage `json:"command"`
	Cwd          string          `json:"cwd"`
	GrantRoot    string          `json:"grantRoot"`
	FileChanges  json.RawMessage `json:"fileChanges"`
	Permissions  json.RawMessage `json:"permissions"`
	Additional   json.RawMessage `json:"additionalPermissions"` // permissions for this command only
	Network      *struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	Available []json.RawMessage `json:"availableDecisions"`
	Exec      []string          `json:"proposedExecpolicyAmendment"`
	Questions []question        `json:"questions"`
	Server    string            `json:"serverName"`
}

type question struct {
	ID       string `json:"id"`
	Header   string `json:"header"`
	Question string `json:"question"`
	IsOther  bool   `json:"isOther"`
	IsSecret bool   `json:"isSecret"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// Request translates a request of the app server. Its answer is the result to
// send back with the same ID. If no one decided, its error is a
// *bridge.EndedError, because the protocol has no result for that.
func Request(raw []byte) (dialect.Translation, error) {
	var c Call
	if err := dialect.Decode("request", raw, &c); err != nil {
		return dialect.Translation{}, err
	}
	var p params
	if err := dialect.Decode("params", c.Params, &p); err != nil {
		return dialect.Translation{}, err
	}
	var r bridge.Request
	var answer func(bridge.Record) (any, error)
	var err error
	switch c.Method {
	case "item/commandExecution/requestApproval":
		r, answer, err = p.command()
	case "item/fileChange/requestApproval":
		r, answer = p.fileChange(c.Changes)
		err = dialect.NeedsInput("changes", c.Changes)
	case "item/permissions/requestApproval":
		r, answer = p.permissions()
		err = dialect.NeedsInput("permissions", p.Permissions)
	case "execCommandApproval", "applyPatchApproval":
		r, answer = p.legacy(c.Method)
		if err = dialect.NeedsInput("command", p.Command); c.Method == "applyPatchApproval" {
			err = dialect.NeedsInput("fileChanges", p.FileChanges)
		}
	case "item/tool/requestUserInput":
		r, answer, err = p.userInput()
	case "mcpServer/elicitation/request":
		r, answer, err = p.elicitation(c.Params)
	default:
		return dialect.Translation{}, bridge.Errorf(bridge.CodeUnsupported, "method: %q is not a request that people answer", c.Method).
			WithHint("use one of %s", strings.Join(Methods, ", "))
	}
	if err != nil {
		return dialect.Translation{}, err
	}
	if r.Approval != nil {
		r.Approval.AgentRemembers = true // the decisions of Codex contain the scope
	}
	r.Session, r.Turn = p.Thread+p.Conversation, p.Turn
	r.ToolCall = p.Item + p.LegacyCall
	return dialect.One(r, p.callID(c.Method, c.ID), answer), nil
}

// callID returns the ID of a request, which is the same for every repetition on
// any connection. A request without an item has only its own ID, and these IDs
// restart at 0 in each process of the app server.
func (p params) callID(method string, id json.RawMessage) string {
	item := p.Item + p.LegacyCall
	if p.Approval != nil {
		item = *p.Approval
	}
	if item == "" && p.Turn != "" {
		item = "id " + string(id)
	}
	return dialect.CallID("codex", item, method, p.Turn, strconv.FormatInt(p.Started, 10))
}

// decided returns the function that encodes the answer to an approval. The
// function uses by for a decision and in a stopped session. Otherwise, it
// reports that no one decided.
func decided(by func(bridge.Record) any) func(bridge.Record) (any, error) {
	return func(r bridge.Record) (any, error) {
		decision := (r.State == bridge.StateApproved || r.State == bridge.StateDenied) && r.Response.Actor != nil
		if !decision && !r.Response.Stops() {
			return nil, &bridge.EndedError{Record: r}
		}
		return by(r), nil
	}
}

type decision struct {
	Decision any `json:"decision"`
}

// Simple decisions of the app server.
const (
	accept        = "accept"
	acceptSession = "acceptForSession"
	decline       = "decline"
	cancel        = "cancel"
)

type amendment struct {
	Accept struct {
		Exec []string `json:"execpolicy_amendment"`
	} `json:"acceptWithExecpolicyAmendment"`
}

// available returns the simple decisions that the app server offers, and its
// amendment, if any.
func (p params) available() (plain []string, exec json.RawMessage) {
	if p.Available == nil {
		return []string{accept, acceptSession, decline, cancel}, nil
	}
	for _, raw := range p.Available {
		var word string
		if dialect.Decode("decision", raw, &word) == nil {
			plain = append(plain, word)
			continue
		}
		var a amendment
		if strictjson.DecodeKnown(raw, &a) == nil && len(a.Accept.Exec) > 0 {
			exec = raw
		}
	}
	return plain, exec
}

func (p params) command() (bridge.Request, func(bridge.Record) (any, error), error) {
	if p.Kind != "" && p.Kind != "command" {
		return bridge.Request{}, nil, bridge.Errorf(bridge.CodeUnsupported, "kind: %q cannot be shown in chat", p.Kind).
			WithHint("answer it at the terminal")
	}
	input := map[string]any{"command": p.Command}
	prompt := "Codex wants to run a command" + where(p.Cwd)
	more := []string{p.Reason}
	if p.Network != nil {
		prompt = "Codex wants network access"
		input = map[string]any{"host": p.Network.Host, "protocol": p.Network.Protocol}
		if len(p.Command) > 0 && string(p.Command) != "null" {
			input["command"] = p.Command
		}
	}
	if p.Network == nil {
		if err := dialect.NeedsInput("command", p.Command); err != nil {
			return bridge.Request{}, nil, err
		}
	}
	if len(p.Additional) > 0 && string(p.Additional) != "null" {
		input["additionalPermissions"] = p.Additional
	}
	raw, _ := json.Marshal(input) // strings and decoded JSON always encode
	r := approval("command", raw, prompt, more...)
	r.Approval.Where = p.Cwd
	plain, exec := p.available()
	offer(r.Approval, plain)
	if exec != nil {
		var a amendment
		_ = dialect.Decode("decision", exec, &a) // decoded before
		r.Approval.Decisions = append(r.Approval.Decisions, bridge.DecideAlways)
		r.Approval.ScopeNotes = map[bridge.Scope]string{bridge.ScopeAlways: "every command that starts with: " + strings.Join(a.Accept.Exec, " ")}
	}
	return r, decided(func(rec bridge.Record) any {
		if rec.State == bridge.StateApproved && rec.Response.Scope == bridge.ScopeAlways && exec != nil {
			return decision{exec}
		}
		return decision{word(rec, plain)}
	}), nil
}

// offer sets the decisions that correspond to the simple decisions. These
// contain no text.
func offer(a *bridge.Approval, plain []string) {
	for _, d := range []struct {
		word string
		bridge.Decision
	}{{decline, bridge.DecideDeny}, {cancel, bridge.DecideDenyStop}, {accept, bridge.DecideOnce}, {acceptSession, bridge.DecideSession}} {
		if slices.Contains(plain, d.word) {
			a.Decisions = append(a.Decisions, d.Decision)
		}
	}
}

// word returns the simple decision for a record.
func word(r bridge.Record, plain []string) string {
	switch {
	case r.State == bridge.StateApproved && r.Response.Scope == bridge.ScopeSession && slices.Contains(plain, acceptSession):
		return acceptSession
	case r.State == bridge.StateApproved:
		return accept
	case r.Response.Stop || !slices.Contains(plain, decline):
		return cancel
	}
	return decline
}

// widens describes permissions beyond the changes that an approval grants, if
// any.
func (p params) widens() string {
	if p.GrantRoot == "" {
		return ""
	}
	return "It asks to write in " + dialect.Code(p.GrantRoot) + " for the rest of the session."
}

func (p params) fileChange(changes json.RawMessage) (bridge.Request, func(bridge.Record) (any, error)) {
	r := approval("fileChange", changes, "Codex wants to change files", p.Reason, p.widens())
	plain := []string{accept, acceptSession, decline, cancel}
	offer(r.Approval, plain)
	return r, decided(func(rec bridge.Record) any { return decision{word(rec, plain)} })
}

type granted struct {
	Permissions json.RawMessage `json:"permissions"`
	Scope       string          `json:"scope"`
}

func (p params) permissions() (bridge.Request, func(bridge.Record) (any, error)) {
	r := approval("permissions", p.Permissions, "Codex wants more permissions"+where(p.Cwd), p.Reason)
	r.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideSession}
	return r, decided(func(rec bridge.Record) any {
		switch {
		case rec.State != bridge.StateApproved:
			return granted{json.RawMessage("{}"), "turn"}
		case rec.Response.Scope == bridge.ScopeSession:
			return granted{p.Permissions, "session"}
		}
		return granted{p.Permissions, "turn"}
	})
}

type denied struct {
	Denied struct {
		Rejection string `json:"rejection"`
	} `json:"denied"`
}

// legacy translates a request of an older version, which accepts a reason with
// a denial and has a decision for a timeout.
func (p params) legacy(method string) (bridge.Request, func(bridge.Record) (any, error)) {
	tool, prompt := "command", "Codex wants to run a command"+where(p.Cwd)
	input, _ := json.Marshal(map[string]json.RawMessage{"command": p.Command}) // decoded before
	if method == "applyPatchApproval" {
		tool, input, prompt = "fileChange", p.FileChanges, "Codex wants to change files"
	}
	r := approval(tool, input, prompt, p.Reason, p.widens())
	r.Approval.Where = p.Cwd
	r.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideSession}
	return r, func(rec bridge.Record) (any, error) {
		switch {
		case rec.State == bridge.StateApproved && rec.Response.Scope == bridge.ScopeSession:
			return decision{"approved_for_session"}, nil
		case rec.State == bridge.StateApproved:
			return decision{"approved"}, nil
		case rec.Response.Stops(), rec.State == bridge.StateDenied && rec.Response.Stop:
			return decision{"abort"}, nil
		case rec.State == bridge.StateDenied && rec.Response.Actor != nil:
			var d denied
			d.Denied.Rejection = dialect.WhyNot(rec)
			return decision{d}, nil
		}
		return decision{"timed_out"}, nil
	}
}

func (p params) userInput() (bridge.Request, func(bridge.Record) (any, error), error) {
	r := bridge.Request{Ask: bridge.Ask{Kind: bridge.KindAsk, ToolName: "requestUserInput", Prompt: "Codex asks"}}
	if len(p.Questions) == 0 {
		return r, nil, bridge.Errorf(bridge.CodeInvalid, "questions: required")
	}
	for _, q := range p.Questions {
		if q.IsSecret {
			return r, nil, bridge.
				Errorf(bridge.CodeUnsupported, "questions: %q asks for a secret, which people should not type in chat", q.ID).
				WithHint("answer it at the terminal")
		}
		out := bridge.Question{ID: q.ID, Header: bridge.ShortHeader(q.Header), Text: q.Question, Widget: bridge.WidgetText}
		for _, o := range q.Options {
			out.Widget, out.AllowOther = bridge.WidgetRadio, q.IsOther
			out.Options = append(out.Options, bridge.Option{Value: o.Label, Description: o.Description})
		}
		r.Questions = append(r.Questions, out)
	}
	if len(r.Questions) == 1 {
		r.Prompt, r.Questions[0].Text = r.Questions[0].Text, ""
	}
	return r, func(rec bridge.Record) (any, error) {
		if err := dialect.Refused(rec); err != nil {
			return nil, err
		}
		type answers struct {
			Answers []string `json:"answers"`
		}
		out := map[string]answers{}
		for _, q := range rec.Interaction.Questions {
			out[q.ID] = answers{dialect.Labels(q, rec.Response.Answers[q.ID])}
		}
		return struct {
			Answers map[string]answers `json:"answers"`
		}{out}, nil
	}, nil
}

// Denies reports whether a result refuses the request.
func Denies(result json.RawMessage) bool {
	var r struct {
		Decision json.RawMessage `json:"decision"`
		Action   string          `json:"action"`
	}
	if dialect.Decode("result", result, &r) != nil {
		return false
	}
	var word string
	_ = dialect.Decode("decision", r.Decision, &word) // an approval may be an object
	return word == decline || word == cancel || r.Action == decline || r.Action == cancel
}
