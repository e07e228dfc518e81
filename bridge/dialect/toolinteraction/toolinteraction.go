// Package toolinteraction translates the client-interactive tools of a chat
// server: interaction_request and interaction_response events, and the messages
// of front ends that answer them.
package toolinteraction

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Types of messages and events.
const (
	TypeHello           = "hello"
	TypeSetMode         = "set_interaction_mode"
	TypeRequest         = "interaction_request"
	TypeResponse        = "interaction_response"
	TypeToolResponse    = "tool_interaction_response"
	CodeUnavailable     = "interaction_unavailable"
	interactionInput    = "input"
	interactionApproval = "approval"
)

// Option is a choice of a field.
type Option struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Field is an input of a form.
type Field struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Label        string         `json:"label"`
	Description  string         `json:"description,omitempty"`
	Required     bool           `json:"required,omitempty"`
	DefaultValue *bridge.Answer `json:"defaultValue,omitempty"`
	Options      []Option       `json:"options,omitempty"`
}

// Schema is the form of an input interaction.
type Schema struct {
	Type          string                   `json:"type"`
	Fields        []Field                  `json:"fields"`
	InitialValues map[string]bridge.Answer `json:"initialValues,omitempty"`
}

// CompletedView configures how front ends show a closed request.
type CompletedView struct {
	ShowInputs      *bool  `json:"showInputs,omitempty"`
	SummaryTemplate string `json:"summaryTemplate,omitempty"`
}

// Request is the request of a tool.
type Request struct {
	Type           string         `json:"type"` // approval or input
	Prompt         string         `json:"prompt,omitempty"`
	Error          string         `json:"error,omitempty"`
	ApprovalScopes []bridge.Scope `json:"approvalScopes,omitempty"`
	InputSchema    *Schema        `json:"inputSchema,omitempty"`
	TimeoutMs      int64          `json:"timeoutMs,omitempty"`
	CompletedView  *CompletedView `json:"completedView,omitempty"`
	Presentation   string         `json:"presentation,omitempty"`
}

// Event is an interaction_request or an interaction_response.
type Event struct {
	Type          string    `json:"type"`
	Timestamp     time.Time `json:"timestamp"`
	SessionID     string    `json:"sessionId,omitempty"`
	TurnID        string    `json:"turnId,omitempty"`
	ResponseID    string    `json:"responseId,omitempty"`
	ToolCallID    string    `json:"toolCallId"`
	InteractionID bridge.ID `json:"interactionId"`

	// Fields of a request.
	ToolName        string         `json:"toolName,omitempty"`
	InteractionType string         `json:"interactionType,omitempty"`
	Prompt          string         `json:"prompt,omitempty"`
	Error           string         `json:"error,omitempty"`
	ApprovalScopes  []bridge.Scope `json:"approvalScopes,omitempty"`
	// ToolInput is the input that an approval covers. The protocol's own tools
	// have none.
	ToolInput     json.RawMessage `json:"toolInput,omitempty"`
	InputSchema   *Schema         `json:"inputSchema,omitempty"`
	TimeoutMs     int64           `json:"timeoutMs,omitempty"`
	CompletedView *CompletedView  `json:"completedView,omitempty"`
	Presentation  string          `json:"presentation,omitempty"`
	// Confirm is the text that an approver must type, if a rule of nod's policy
	// requires it.
	Confirm string `json:"confirm,omitempty"`

	// Fields of a response.
	Action        string                   `json:"action,omitempty"`
	ApprovalScope bridge.Scope             `json:"approvalScope,omitempty"`
	Input         map[string]bridge.Answer `json:"input,omitempty"`
	Reason        string                   `json:"reason,omitempty"`
	// State is the state of a request that was closed without a person:
	// expired, cancelled, superseded or undeliverable. The action for these
	// states is cancel.
	State bridge.State `json:"state,omitempty"`
}

// ToolResponse is a front end's answer.
type ToolResponse struct {
	Type          string                   `json:"type"`
	SessionID     string                   `json:"sessionId"`
	CallID        string                   `json:"callId"`
	ToolCallID    string                   `json:"toolCallId,omitempty"` // the same ID, under its name in events
	InteractionID bridge.ID                `json:"interactionId"`
	Action        string                   `json:"action"`
	ApprovalScope bridge.Scope             `json:"approvalScope,omitempty"`
	Input         map[string]bridge.Answer `json:"input,omitempty"`
	Reason        string                   `json:"reason,omitempty"`
	// Confirm is the typed confirmation, if the event requires one.
	Confirm string `json:"confirm,omitempty"`
}

// For returns an error unless the answer belongs to a request. The answer may
// omit the session and the call.
func (t ToolResponse) For(i bridge.Interaction) error {
	call, err := sameCall(t.ToolCallID, t.CallID)
	switch {
	case err != nil:
		return err
	case t.SessionID != "" && t.SessionID != i.Session:
		return bridge.Errorf(bridge.CodeInvalid, "sessionId: the interaction belongs to another session")
	case call != "" && call != i.ToolCall:
		return bridge.Errorf(bridge.CodeInvalid, "callId: the interaction belongs to another call")
	}
	return nil
}

// Mode holds the capabilities and permissions of a front end.
type Mode struct {
	Supported bool `json:"supported"`
	Enabled   bool `json:"enabled"`
}

// Hello is a front end's first message.
type Hello struct {
	Type        string `json:"type"`
	SessionID   string `json:"sessionId"`
	Interaction *Mode  `json:"interaction,omitempty"`
	// After is the position at which the events start: an event ID or a time to
	// continue after it, 0 or empty for the oldest event, or now for the next
	// event.
	After string `json:"after,omitempty"`
	// Frames is the format of requests: interaction (the default), ask or
	// widget.
	Frames string `json:"frames,omitempty"`
}

// SetMode changes the permissions of a front end.
type SetMode struct {
	Type    string `json:"type"`
	Enabled bool   `json:"enabled"`
}

// DecodeRequest decodes a tool's request. The session and the IDs that
// correlate it are not part of the request.
func DecodeRequest(raw []byte) (bridge.Request, error) {
	var in struct {
		Request
		ToolCallID      string          `json:"toolCallId"`
		CallID          string          `json:"callId"`
		ToolName        string          `json:"toolName"`
		TurnID          string          `json:"turnId"`
		ResponseID      string          `json:"responseId"`
		SessionID       string          `json:"sessionId"`
		InteractionType string          `json:"interactionType"`
		Input           json.RawMessage `json:"input"`
	}
	if err := dialect.Decode("request", raw, &in); err != nil {
		return bridge.Request{}, err
	}
	field := "type"
	if in.InteractionType != "" || in.Type == TypeRequest { // in an event, the field "type" is the type of the message
		in.Type, field = in.InteractionType, "interactionType"
	}
	r, err := in.Bridge()
	if err != nil {
		return r, dialect.Named(err, func(f bridge.FieldError) bridge.FieldError {
			if f.Field == "type" {
				f.Field = field
			}
			return f
		})
	}
	if in.ToolCallID, err = sameCall(in.ToolCallID, in.CallID); err != nil {
		return r, err
	}
	r.ToolCall, r.ToolName, r.Turn, r.ResponseID, r.Session = in.ToolCallID, in.ToolName, in.TurnID, in.ResponseID, in.SessionID
	if r.Approval != nil {
		r.Approval.Tool, r.Approval.Input = in.ToolName, in.Input
		if in.Prompt == "" && in.ToolName != "" {
			r.Prompt = `Allow "` + in.ToolName + `"?` // in the wording of the protocol's clients
		}
	}
	if r.Approval != nil && len(r.Approval.Scopes) == 0 {
		r.Approval.Scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession} // scopes that the tool remembers
	}
	return r, nil
}

// sameCall returns the ID of a call. The protocol calls it toolCallId in events
// and callId in messages.
func sameCall(event, message string) (string, error) {
	if event != "" && message != "" && event != message {
		return "", bridge.Errorf(bridge.CodeInvalid, "callId: %q is not the toolCallId %q", message, event)
	}
	return cmp.Or(event, message), nil
}

// Bridge returns the request as a bridge request.
func (in Request) Bridge() (bridge.Request, error) {
	r := bridge.Request{Ask: bridge.Ask{
		Prompt: in.Prompt, Error: in.Error, Timeout: bridge.Duration(time.Duration(in.TimeoutMs) * time.Millisecond),
		Presentation: bridge.Presentation(in.Presentation),
	}}
	if in.CompletedView != nil {
		r.CompletedView = &bridge.CompletedView{ShowInputs: in.CompletedView.ShowInputs, SummaryTemplate: in.CompletedView.SummaryTemplate}
	}
	switch in.Type {
	case interactionApproval:
		r.Kind, r.Approval = bridge.KindApproval, &bridge.Approval{Scopes: in.ApprovalScopes, AgentRemembers: true}
		if r.Prompt == "" {
			r.Prompt = "May this tool run?"
		}
		return r, nil
	case interactionInput:
		r.Kind, r.Declinable = bridge.KindAsk, true
	default:
		return r, bridge.Errorf(bridge.CodeInvalid, "type: unknown type %q", in.Type).WithHint("use approval or input")
	}
	if in.InputSchema == nil || in.InputSchema.Type != "form" {
		return r, bridge.Errorf(bridge.CodeInvalid, "inputSchema.type: must be \"form\"")
	}
	var wrong bridge.Problems
	for n, f := range in.InputSchema.Fields {
		if fieldTypes[f.Type] == "" {
			wrong.Add(bridge.Errorf(bridge.CodeInvalid, "inputSchema.fields[%d].type: unknown type %q", n, f.Type).
				WithHint("use text, textarea, select, checkbox or radio"))
			f.Type = "text" // keep the indexes of the other fields
		}
		r.Questions = append(r.Questions, f.question())
	}
	if len(r.Questions) == 0 {
		return r, bridge.Errorf(bridge.CodeInvalid, "inputSchema.fields: required")
	}
	if r.Prompt == "" {
		r.Prompt = in.InputSchema.Fields[0].Label
	}
	if len(r.Questions) == 1 && r.Prompt == r.Questions[0].Text {
		r.Questions[0].Text = "" // the prompt contains the only question
	}
	if len(in.InputSchema.InitialValues) > 0 {
		r.Initial = map[string]bridge.Answer{}
		for id, a := range in.InputSchema.InitialValues {
			r.Initial[id] = unwrap(a)
		}
	}
	return r, dialect.Refuse(wrong, r, Names)
}

var fieldTypes = map[string]bridge.Widget{
	"text": bridge.WidgetText, "textarea": bridge.WidgetTextarea, "select": bridge.WidgetSelect, "radio": bridge.WidgetRadio, "checkbox": bridge.WidgetCheckbox,
}

// Values of a checkbox without options.
const yes, no = "true", "false"

func (f Field) question() bridge.Question {
	q := bridge.Question{ID: f.ID, Text: f.Label, Description: f.Description, Widget: fieldTypes[f.Type], Required: &f.Required}
	for _, o := range f.Options {
		q.Options = append(q.Options, bridge.Option{Value: o.Value, Label: o.Label})
	}
	if f.Type == "checkbox" && len(f.Options) == 0 {
		q.Widget, q.Options = bridge.WidgetConfirm, []bridge.Option{{Value: yes, Label: "Yes"}, {Value: no, Label: "No"}}
	}
	if f.DefaultValue != nil && !f.DefaultValue.Empty() {
		d := unwrap(*f.DefaultValue)
		if q.Multiple() && d.List == nil {
			d = bridge.ListAnswer(d.Values()...)
		}
		q.Default = &d
	}
	return q
}

// unwrap converts booleans and numbers to the values of options and text
// fields.
func unwrap(a bridge.Answer) bridge.Answer {
	if !a.Empty() && a.JSON != nil && a.JSON[0] != '{' {
		return bridge.TextAnswer(string(a.JSON))
	}
	return a
}

// boolean reports whether a question is a checkbox without options.
func boolean(q bridge.Question) bool {
	return q.Widget == bridge.WidgetConfirm && len(q.Options) == 2 && q.Options[0].Value == yes && q.Options[1].Value == no
}

// EncodeRequest returns the interaction_request event for a request.
func EncodeRequest(i bridge.Interaction, at time.Time) Event {
	e := Event{
		Type: TypeRequest, Timestamp: at, SessionID: i.Session, TurnID: i.Turn, ResponseID: i.ResponseID, ToolCallID: i.ToolCall, InteractionID: i.ID,
		ToolName: i.ToolName, InteractionType: interactionInput, Prompt: i.Prompt, Error: i.Error,
		TimeoutMs: timeout(i).Milliseconds(), Presentation: string(i.Presentation),
	}
	if c := i.CompletedView; c != nil {
		e.CompletedView = &CompletedView{ShowInputs: c.ShowInputs, SummaryTemplate: c.SummaryTemplate}
	}
	if i.Approval != nil {
		e.InteractionType, e.ApprovalScopes, e.ToolInput = interactionApproval, i.Approval.Scopes, i.Approval.Input
		e.Confirm = i.Approval.Confirm
		if !i.Approval.AgentRemembers {
			e.ApprovalScopes = []bridge.Scope{bridge.ScopeOnce} // the event does not show the coverage of a grant
		}
		if e.ToolName == "" {
			e.ToolName = i.Approval.Tool
		}
		return e
	}
	e.InputSchema = &Schema{Type: "form", Fields: []Field{}}
	for _, f := range i.Fields() {
		e.InputSchema.Fields = append(e.InputSchema.Fields, field(i, f))
		if f.Initial != nil {
			if e.InputSchema.InitialValues == nil {
				e.InputSchema.InitialValues = map[string]bridge.Answer{}
			}
			e.InputSchema.InitialValues[f.ID] = wrap(f.Question, *f.Initial)
		}
	}
	return e
}

// timeout returns the timeout that the tool requested, which a deferral does
// not change.
func timeout(i bridge.Interaction) time.Duration {
	if i.Stated != (bridge.Times{}) {
		return i.Stated.Deadline.Sub(i.Stated.Created)
	}
	return i.Deadline.Sub(i.Created)
}

func field(i bridge.Interaction, f bridge.Field) Field {
	out := Field{ID: f.ID, Type: "text", Label: f.Text, Description: f.Description, Required: f.IsRequired()}
	if out.Label == "" {
		out.Label = i.Prompt
	}
	if plan := i.Questions[f.Of].Plan; plan != "" && len(f.Options) > 0 {
		out.Description = plan // the person approves the text in it
	}
	for name, w := range fieldTypes {
		if w == f.Widget {
			out.Type = name
		}
	}
	switch {
	case boolean(f.Question):
		out.Type = "checkbox"
	case f.OneTap(), f.Widget == bridge.WidgetActionSelection:
		out.Type = "radio"
	}
	if out.Type != "checkbox" || f.Multiple() {
		for _, o := range f.Options {
			out.Options = append(out.Options, Option{Value: o.Value, Label: o.Text()})
		}
	}
	if f.Default != nil {
		d := wrap(f.Question, *f.Default)
		out.DefaultValue = &d
	}
	return out
}

func wrap(q bridge.Question, a bridge.Answer) bridge.Answer {
	if boolean(q) && a.Text != "" {
		return bridge.JSONAnswer(a.Text)
	}
	return a
}

// EncodeResponse returns the interaction_response event for a closed request.
// It omits the values if show_inputs is false.
func EncodeResponse(i bridge.Interaction, r bridge.Response) Event {
	e := Event{
		Type: TypeResponse, Timestamp: r.At, SessionID: i.Session, TurnID: i.Turn, ResponseID: i.ResponseID, ToolCallID: i.ToolCall, InteractionID: i.ID,
		Action: r.Action(), ApprovalScope: r.Scope, Reason: r.Reason,
	}
	if e.Action == "" {
		e.Action, e.State = "cancel", r.State
	}
	if r.State == bridge.StateAnswered {
		e.Input = map[string]bridge.Answer{}
		for _, f := range i.Fields() {
			if a := f.FieldAnswer(i, r.Answers); !a.Empty() || a.List != nil {
				e.Input[f.ID] = wrap(f.Question, a)
			}
		}
	}
	return e
}

// Reply returns the reply for a front end's answer to a request.
func (t ToolResponse) Reply(i bridge.Interaction) (bridge.Reply, error) {
	r := bridge.Reply{Reason: t.Reason, Confirm: t.Confirm, Answers: map[string]bridge.Answer{}, Others: map[string]string{}}
	switch {
	case t.Action == "cancel" && i.Kind == bridge.KindAsk:
		r.Decline = true
		return r, nil
	case t.Action == "approve" && i.Kind == bridge.KindApproval:
		r.Decision = bridge.DecideOnce
		if t.ApprovalScope == "" {
			return r, nil
		}
		if offered := i.Approval.Scopes; !slices.Contains(offered, t.ApprovalScope) {
			return r, bridge.Errorf(bridge.CodeInvalid, "approvalScope: %q is not offered", t.ApprovalScope).WithHint("use one of %s", list(offered))
		}
		r.Decision = bridge.Decision(t.ApprovalScope)
		return r, dialect.CheckScope(i, r.Decision)
	case (t.Action == "deny" || t.Action == "cancel") && i.Kind == bridge.KindApproval:
		r.Decision = bridge.DecideDeny
		if t.Reason != "" {
			r.Decision = bridge.DecideDenyReason
		}
		return r, nil
	case t.Action != "submit" || i.Kind != bridge.KindAsk:
		return r, bridge.Errorf(bridge.CodeInvalid, "action: %q is not allowed for this request", t.Action).WithHint("use approve or deny for an approval, and submit or cancel for an input")
	}
	return r, t.fill(i, &r)
}

// list returns scopes as text.
func list(scopes []bridge.Scope) string {
	var out []string
	for _, s := range scopes {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

// fill sets the answers of a reply from the input, by field or by question.
func (t ToolResponse) fill(i bridge.Interaction, r *bridge.Reply) error {
	objects := map[string]map[string]bridge.Answer{}
	fields := i.Fields()
	var wrong bridge.Problems
	for _, id := range slices.Sorted(maps.Keys(t.Input)) {
		a := t.Input[id]
		n := slices.IndexFunc(fields, func(f bridge.Field) bool { return f.ID == id })
		if n < 0 {
			if !slices.ContainsFunc(i.Questions, func(q bridge.Question) bool { return q.ID == id }) {
				wrong.Add(bridge.Errorf(bridge.CodeInvalid, "input: unknown field %q", id))
			}
			r.Answers[id] = a
			continue
		}
		f := fields[n]
		switch {
		case boolean(f.Question) && f.Part == "":
			a = unwrap(a)
		case f.FreeText() && f.Widget != bridge.WidgetNumber:
			a = unwrap(a)
		case f.Multiple() && a.List == nil:
			a = bridge.ListAnswer(strings.FieldsFunc(a.Text, func(c rune) bool { return c == ',' })...)
		}
		if f.Part == "" {
			r.Answers[id] = a
			continue
		}
		q := i.Questions[f.Of].ID
		if objects[q] == nil {
			objects[q] = map[string]bridge.Answer{}
		}
		objects[q][f.Part] = a
	}
	for q, parts := range objects {
		raw, err := dialect.Encode(parts)
		if err != nil {
			return err
		}
		r.Answers[q] = bridge.JSONAnswer(string(raw))
	}
	return wrong.Err()
}
