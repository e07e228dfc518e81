// Package widgetblock translates the widget protocol of an agent runtime. An
// assistant's text contains fenced widget blocks, and each is answered by a
// user message that starts with WIDGET_SUBMIT.
package widgetblock

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Events that carry a widget and its submission.
const (
	EventRequest = "widget:request"
	EventSubmit  = "widget:submit"
)

// Tool is the name of the tool that checks a widget and returns its block.
const Tool = "ui.ask_user"

// Option is a choice of a selection.
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Item is an item of a feedback widget.
type Item struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

// Action is a choice of an action_selection.
type Action struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Payload is a widget.
type Payload struct {
	WidgetID  string `json:"widgetId"`
	Type      string `json:"type"`
	Message   string `json:"message"`
	Submitted bool   `json:"submitted"`

	Schema      json.RawMessage `json:"schema,omitempty"`      // for form
	Options     []Option        `json:"options,omitempty"`     // for selection
	Multi       bool            `json:"multi,omitempty"`       // for selection
	PlanContent string          `json:"planContent,omitempty"` // for plan_review
	Items       []Item          `json:"items,omitempty"`       // for feedback
	Actions     []Action        `json:"actions,omitempty"`     // for action_selection

	SubmittedValue json.RawMessage `json:"submittedValue,omitempty"`

	// Around holds the rest of the assistant's message. People see it with the
	// widget.
	Around string `json:"-"`
}

// Submission is a submitted answer.
type Submission struct {
	WidgetID string          `json:"widgetId"`
	Value    json.RawMessage `json:"value"`
}

// Decode decodes a widget and checks that it can be shown.
func Decode(raw []byte) (Payload, error) {
	var p Payload
	if err := dialect.Decode("widget", raw, &p); err != nil {
		return p, err
	}
	r, err := p.Request()
	if err != nil {
		return p, err
	}
	return p, dialect.Named(r.Normalize(), p.Names())
}

// question is the ID of the only question of a widget.
const question = "value"

const known = "form, selection, confirmation, plan_review, feedback, action_selection"

// Request returns the widget as a bridge request.
func (p Payload) Request() (bridge.Request, error) {
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: p.Message, ToolName: Tool, ToolCall: p.WidgetID,
	}}
	if strings.TrimSpace(p.WidgetID) == "" {
		return r, bridge.Errorf(bridge.CodeInvalid, "widgetId: required")
	}
	if strings.TrimSpace(p.Message) == "" {
		return r, bridge.Errorf(bridge.CodeInvalid, "message: required")
	}
	if p.Submitted {
		return r, bridge.Errorf(bridge.CodeInvalid, "submitted: widget %s has already been submitted", p.WidgetID)
	}
	q := bridge.Question{ID: question}
	switch { // people decide on the complete message
	case p.Around == "":
	case len(p.Message) <= bridge.MaxText:
		r.Prompt, q.Text = p.Around, p.Message
	default:
		r.Prompt += "\n\n" + p.Around
	}
	switch p.Type {
	case "form":
		q.Widget, q.Schema = bridge.WidgetForm, p.Schema
	case "selection":
		q.Widget = bridge.WidgetRadio
		if p.Multi {
			q.Widget = bridge.WidgetCheckbox
		}
		for _, o := range p.Options {
			q.Options = append(q.Options, bridge.Option{Value: o.Value, Label: o.Label, Description: o.Description})
		}
	case "confirmation":
		q.Widget = bridge.WidgetConfirm
		q.Options = []bridge.Option{{Value: "true", Label: "Confirm"}, {Value: "false", Label: "Cancel"}}
	case "plan_review":
		q.Widget, q.Plan = bridge.WidgetPlanReview, p.PlanContent
	case "feedback":
		q.Widget = bridge.WidgetFeedback
		for _, i := range p.Items {
			q.Items = append(q.Items, bridge.Item{ID: i.ID, Content: i.Content})
		}
	case "action_selection":
		q.Widget = bridge.WidgetActionSelection
		for _, a := range p.Actions {
			q.Options = append(q.Options, bridge.Option{Value: a.ID, Label: a.Label, Description: a.Description})
		}
	default:
		return r, bridge.Errorf(bridge.CodeInvalid, "Unknown widget type: %q", p.Type).WithHint("use one of %s", known)
	}
	r.Questions = []bridge.Question{q}
	return r, nil
}

// FromRecord returns the widget that a request came from, or false if the
// request did not come from a widget. The tool call of the request is the
// widget's ID.
func FromRecord(rec bridge.Record) (Payload, bool) {
	i := rec.Interaction
	if i.ToolName != Tool || len(i.Questions) != 1 || i.Questions[0].ID != question {
		return Payload{}, false
	}
	q := i.Questions[0]
	p := Payload{WidgetID: i.ToolCall, Message: cmp.Or(q.Text, i.Prompt)}
	switch q.Widget {
	case bridge.WidgetForm:
		p.Type, p.Schema = "form", q.Schema
	case bridge.WidgetRadio, bridge.WidgetCheckbox:
		p.Type, p.Multi = "selection", q.Multiple()
		for _, o := range q.Options {
			p.Options = append(p.Options, Option{Value: o.Value, Label: o.Text(), Description: o.Description})
		}
	case bridge.WidgetConfirm:
		p.Type = "confirmation"
	case bridge.WidgetPlanReview:
		p.Type, p.PlanContent = "plan_review", q.Plan
	case bridge.WidgetFeedback:
		p.Type = "feedback"
		for _, item := range q.Items {
			p.Items = append(p.Items, Item{ID: item.ID, Content: item.Content})
		}
	case bridge.WidgetActionSelection:
		p.Type = "action_selection"
		for _, o := range q.Options {
			p.Actions = append(p.Actions, Action{ID: o.Value, Label: o.Text(), Description: o.Description})
		}
	}
	return p, true
}

// Value returns the submitted value in the format for the widget's type.
func (p Payload) Value(r bridge.Record) (json.RawMessage, error) {
	if err := dialect.Refused(r); err != nil {
		return nil, err
	}
	a := r.Response.Answers[question]
	var v any = a
	switch p.Type {
	case "selection":
		v = append([]string{}, a.Values()...)
	case "confirmation":
		v = struct {
			Confirmed bool `json:"confirmed"`
		}{a.Text == "true"}
	}
	return dialect.Encode(v)
}

// Submit returns the submission of a widget.
func (p Payload) Submit(r bridge.Record) (Submission, error) {
	v, err := p.Value(r)
	return Submission{WidgetID: p.WidgetID, Value: v}, err
}

// Answered returns the widget in the form that is stored after the submission.
func (p Payload) Answered(s Submission) Payload {
	p.Submitted, p.SubmittedValue = true, s.Value
	return p
}

// UserMessage returns the user's message that contains a submission.
func (s Submission) UserMessage() (string, error) {
	raw, err := dialect.Encode(s)
	return "WIDGET_SUBMIT\n" + string(raw), err
}

// DecodeSubmission decodes a front end's submission for a request that came
// from a widget.
func DecodeSubmission(i bridge.Interaction, s Submission) (bridge.Reply, error) {
	if len(i.Questions) != 1 || i.Questions[0].ID != question {
		return bridge.Reply{}, bridge.Errorf(bridge.CodeInvalid, "widgetId: %q is not a widget", s.WidgetID)
	}
	q := i.Questions[0]
	var confirmed struct {
		Confirmed *bool `json:"confirmed"`
	}
	var a bridge.Answer
	switch q.Widget {
	case bridge.WidgetConfirm:
		if err := dialect.Decode("value", s.Value, &confirmed); err != nil {
			return bridge.Reply{}, err
		}
		if confirmed.Confirmed == nil {
			return bridge.Reply{}, bridge.Errorf(bridge.CodeInvalid, "value.confirmed: required")
		}
		a = bridge.TextAnswer(map[bool]string{true: "true", false: "false"}[*confirmed.Confirmed])
	default:
		if err := dialect.Decode("value", s.Value, &a); err != nil {
			return bridge.Reply{}, err
		}
		if q.Widget == bridge.WidgetRadio && len(a.List) == 1 {
			a = bridge.TextAnswer(a.List[0])
		}
	}
	return bridge.Reply{Answers: map[string]bridge.Answer{question: a}}, nil
}
