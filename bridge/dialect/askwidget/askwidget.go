// Package askwidget translates the frames of an agent hub: ask_request with
// widgets, which is answered by one string, and approval_request, which is
// answered by approved and always. An ask may also arrive as a tool call.
package askwidget

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Types of frames. Every frame contains the ID of its request at the top level.
const (
	AskRequest       = "ask_request"
	AskResponse      = "ask_response"
	ApprovalRequest  = "approval_request"
	ApprovalResponse = "approval_response"
)

// Frame is a WebSocket message. In frames for front ends, the ID is one from nod. For
// an ask, such a frame also contains the content block to store with the chat
// message.
type Frame struct {
	Type          string          `json:"type"`
	ID            string          `json:"id"`
	Payload       json.RawMessage `json:"payload"`
	InteractionID bridge.ID       `json:"interactionId,omitempty"`
	ContentBlock  *Block          `json:"contentBlock,omitempty"`
}

// Widget is one input of an ask.
type Widget struct {
	Type    string   `json:"type"`
	Label   string   `json:"label,omitempty"`
	Options []string `json:"options,omitempty"`
	Default string   `json:"default,omitempty"`
}

// Ask is the payload of an ask_request.
type Ask struct {
	Prompt  string   `json:"prompt"`
	Widgets []Widget `json:"widgets"`
}

// Approval is the payload of an approval_request.
type Approval struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	// Prompt is the text from an agent that uses another protocol, for front
	// ends. nod ignores it in a request.
	Prompt string `json:"prompt,omitempty"`
	// Confirm is the text that an approver must type, if a rule of nod's policy
	// requires it. nod ignores it in a request.
	Confirm string `json:"confirm,omitempty"`
}

// Answer is the payload of an ask_response.
type Answer struct {
	RequestID string `json:"request_id"`
	Value     string `json:"value"`
}

// Decision is the payload of an approval_response.
type Decision struct {
	RequestID string `json:"request_id"`
	Approved  bool   `json:"approved"`
	Always    bool   `json:"always,omitempty"`
	// Confirm is the typed confirmation, if the request requires one.
	Confirm string `json:"confirm,omitempty"`
}

// Errors in the wording of the tool.
const (
	ErrNoPrompt = "'prompt' (or 'text') is required for ask action"
	ErrNobody   = "Interactive prompts require the web UI"
)

var widgets = map[string]bridge.Widget{
	"buttons": bridge.WidgetButtons, "confirm": bridge.WidgetConfirm, "select": bridge.WidgetSelect, "radio": bridge.WidgetRadio, "checkbox": bridge.WidgetCheckbox,
}

// DecodeAsk decodes the payload of an ask_request.
func DecodeAsk(raw []byte) (bridge.Request, error) {
	var a Ask
	if err := dialect.Decode("payload", raw, &a); err != nil {
		return bridge.Request{}, err
	}
	return a.Request()
}

// Request returns the ask as a bridge request.
func (a Ask) Request() (bridge.Request, error) {
	r := bridge.Request{Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: a.Prompt}}
	if strings.TrimSpace(a.Prompt) == "" {
		return r, bridge.Errorf(bridge.CodeInvalid, "%s", ErrNoPrompt)
	}
	if len(a.Widgets) == 0 {
		a.Widgets = []Widget{{Type: "confirm", Options: []string{"Yes", "No"}}}
	}
	var wrong bridge.Problems
	for n, w := range a.Widgets {
		kind, ok := widgets[w.Type]
		if !ok {
			wrong.Add(bridge.Errorf(bridge.CodeInvalid, "widgets[%d].type: unknown type %q", n, w.Type).
				WithHint("use buttons, confirm, select, radio or checkbox"))
			kind = bridge.WidgetText // keep the indexes of the other widgets
		}
		q := bridge.Question{ID: "w" + strconv.Itoa(n+1), Text: w.Label, Widget: kind}
		if len(a.Widgets) == 1 { // a single widget's prompt is the question
			q.Text, q.Description = "", w.Label
		}
		if kind == bridge.WidgetConfirm && len(w.Options) == 0 {
			w.Options = []string{"Yes", "No"}
		}
		if kind == bridge.WidgetConfirm && len(w.Options) != 2 {
			q.Widget = bridge.WidgetButtons // a confirm widget is shown as a row of buttons
		}
		for _, o := range w.Options {
			q.Options = append(q.Options, bridge.Option{Value: o})
		}
		if q.Text == "" && len(a.Widgets) > 1 {
			q.Text = a.Prompt
		}
		q.Default = w.defaultOf(q)
		r.Questions = append(r.Questions, q)
	}
	return r, dialect.Refuse(wrong, r, Names)
}

// defaultOf returns the default of a question, or nil if it is not one of the
// options. The default of a checkbox can be several labels joined by commas.
func (w Widget) defaultOf(q bridge.Question) *bridge.Answer {
	if w.Default == "" {
		return nil
	}
	labels, err := w.labels(q)
	if err != nil {
		return nil
	}
	a, _, err := dialect.Choices(q, labels)
	if err != nil {
		return nil
	}
	return &a
}

// labels returns the labels in the default.
func (w Widget) labels(q bridge.Question) ([]string, error) {
	if !q.Multiple() {
		return []string{w.Default}, nil
	}
	return dialect.Apart(q, w.Default, separator)
}

// separator joins the labels of a checkbox.
const separator = ","

// call holds the arguments of the tool.
type call struct {
	Resource string   `json:"resource"`
	Action   string   `json:"action"`
	Prompt   string   `json:"prompt"`
	Text     string   `json:"text"`
	Widgets  []Widget `json:"widgets"`
}

// DecodeCall decodes the arguments of agent(resource: message, action: ask, …).
func DecodeCall(raw []byte) (bridge.Request, error) {
	var c call
	if err := dialect.Decode("arguments", raw, &c); err != nil {
		return bridge.Request{}, err
	}
	if c.Resource != "message" || c.Action != "ask" {
		return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "action: %q is not supported for resource %q", c.Action, c.Resource).WithHint("use action ask with resource message")
	}
	if c.Prompt == "" {
		c.Prompt = c.Text
	}
	return Ask{Prompt: c.Prompt, Widgets: c.Widgets}.Request()
}

// DecodeApproval decodes the payload of an approval_request. The card offers
// the scopes "once" and "always".
func DecodeApproval(raw []byte) (bridge.Request, error) {
	var a Approval
	if err := dialect.Decode("payload", raw, &a); err != nil {
		return bridge.Request{}, err
	}
	if strings.TrimSpace(a.Tool) == "" {
		return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "payload.tool: required")
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: allow(a.Tool),
		Approval: &bridge.Approval{Tool: a.Tool, Input: a.Input, Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeAlways}, AgentRemembers: true},
	}}, nil
}

// allow returns the prompt of an approval, because the format has none.
func allow(tool string) string { return "Allow " + dialect.Code(tool) + "?" }

// Value returns the answer to an ask as one string: the chosen label, or
// several labels joined by commas. The answers to several widgets are on
// separate lines, in the order of the widgets. If the joined labels could also
// stand for other labels, they are a JSON list. If no one could be asked, the
// error has the text of the tool, followed by nod's reason.
func Value(r bridge.Record) (string, error) {
	if r.State == bridge.StateUndeliverable && r.Response != nil {
		return "", bridge.Errorf(bridge.CodeUnavailable, "%s: %s", ErrNobody, r.Response.Reason)
	}
	if err := dialect.Refused(r); err != nil {
		return "", err
	}
	var lines []string
	for _, q := range r.Interaction.Questions {
		lines = append(lines, line(q, r.Response.Answers[q.ID], len(r.Interaction.Questions) > 1))
	}
	return strings.Join(lines, "\n"), nil
}

// line returns the answer to a widget, which may be one of several.
func line(q bridge.Question, a bridge.Answer, several bool) string {
	labels := dialect.Labels(q, a)
	text := strings.Join(labels, separator)
	if q.Multiple() {
		text = dialect.Joined(q, labels, separator)
	}
	if several && strings.Contains(text, "\n") {
		raw, _ := dialect.Encode(labels) // strings always encode
		return string(raw)
	}
	return text
}

// EncodeAnswer returns the ask_response to a request.
func EncodeAnswer(id string, r bridge.Record) ([]byte, error) {
	value, err := Value(r)
	if err != nil {
		return nil, err
	}
	return encode(Frame{Type: AskResponse, ID: id}, Answer{RequestID: id, Value: value})
}

// EncodeDecision returns the approval_response to a request.
func EncodeDecision(id string, r bridge.Record) ([]byte, error) {
	if err := dialect.Refused(r); err != nil {
		return nil, err
	}
	return encode(Frame{Type: ApprovalResponse, ID: id}, decision(id, r))
}

func decision(id string, r bridge.Record) Decision {
	approved := r.State == bridge.StateApproved
	return Decision{RequestID: id, Approved: approved, Always: approved && r.Response.Scope == bridge.ScopeAlways}
}

func encode(f Frame, payload any) (raw []byte, err error) {
	if f.Payload, err = dialect.Encode(payload); err != nil {
		return nil, err
	}
	return dialect.Encode(f)
}

// DecodeAnswer decodes a front end's ask_response to a request.
func DecodeAnswer(i bridge.Interaction, a Answer) (bridge.Reply, error) {
	reply := bridge.Reply{Answers: map[string]bridge.Answer{}, Others: map[string]string{}}
	lines := strings.Split(a.Value, "\n")
	if len(i.Questions) == 1 {
		lines = []string{a.Value}
	}
	if len(lines) != len(i.Questions) {
		return reply, bridge.Errorf(bridge.CodeInvalid, "value: %d lines for %d widgets", len(lines), len(i.Questions))
	}
	var wrong bridge.Problems
	for n, q := range i.Questions {
		answer, err := chosen(q, lines[n], len(lines) > 1)
		wrong.Add(err)
		reply.Answers[q.ID] = answer
	}
	return reply, wrong.Err()
}

// chosen returns the answer to a widget, which may be one of several.
func chosen(q bridge.Question, s string, several bool) (bridge.Answer, error) {
	labels, err := []string{s}, error(nil)
	if many := q.Multiple(); many || several && strings.HasPrefix(s, "[") && !labeled(q, s) {
		labels, err = dialect.Apart(q, s, separator)
	}
	if err != nil {
		return bridge.Answer{}, err
	}
	a, _, err := dialect.Choices(q, labels)
	return a, err
}

// labeled reports whether a text is a label of a question.
func labeled(q bridge.Question, s string) bool {
	return slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return o.Text() == s })
}

// DecodeDecision decodes a front end's approval_response to a request.
func DecodeDecision(i bridge.Interaction, d Decision) (bridge.Reply, error) {
	switch {
	case !d.Approved:
		return bridge.Reply{Decision: bridge.DecideDeny}, nil
	case d.Always:
		return bridge.Reply{Decision: bridge.DecideAlways, Confirm: d.Confirm}, dialect.CheckScope(i, bridge.DecideAlways)
	}
	return bridge.Reply{Decision: bridge.DecideOnce, Confirm: d.Confirm}, nil
}
