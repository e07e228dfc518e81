package askwidget

import (
	"cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Block is an ask in the form that is stored with a chat message.
type Block struct {
	Type         string   `json:"type"`
	AskRequestID string   `json:"askRequestId,omitempty"`
	AskPrompt    string   `json:"askPrompt,omitempty"`
	AskWidgets   []Widget `json:"askWidgets,omitempty"`
	AskResponse  string   `json:"askResponse,omitempty"`
}

// ContentBlock returns an ask with its answer, if it has one.
func ContentBlock(id string, r bridge.Record) Block {
	b := Block{Type: "ask", AskRequestID: id, AskPrompt: r.Interaction.Prompt}
	b.AskWidgets, _ = Widgets(r.Interaction)
	if v, err := Value(r); err == nil {
		b.AskResponse = v
	}
	return b
}

// Widgets returns the questions of a request as widgets. It returns false if
// this dialect cannot express one of them.
func Widgets(i bridge.Interaction) ([]Widget, bool) {
	var out []Widget
	for _, q := range i.Questions {
		name := ""
		for n, w := range widgets {
			if w == q.Widget {
				name = n
			}
		}
		if name == "" || q.AllowOther {
			return nil, false
		}
		w := Widget{Type: name, Label: cmp.Or(q.Text, q.Description)}
		if q.Text == i.Prompt && len(i.Questions) > 1 {
			w.Label = "" // Request fills it in again
		}
		for _, o := range q.Options {
			w.Options = append(w.Options, o.Text())
		}
		if q.Default != nil {
			w.Default = line(q, *q.Default, false)
		}
		out = append(out, w)
	}
	return out, len(out) > 0
}

// EncodeRequest returns the frame that shows a request to a front end under an
// ID. It returns false if this dialect cannot express the request.
func EncodeRequest(id string, r bridge.Record) ([]byte, bool, error) {
	i := r.Interaction
	if i.Approval != nil {
		f := Frame{Type: ApprovalRequest, ID: id, InteractionID: i.ID}
		shown := Approval{Tool: i.Approval.Tool, Input: i.Approval.Input, Confirm: i.Approval.Confirm}
		if i.Prompt != allow(shown.Tool) {
			shown.Prompt = i.Prompt
		}
		raw, err := encode(f, shown)
		return raw, true, err
	}
	w, ok := Widgets(i)
	if !ok {
		return nil, false, nil
	}
	b := ContentBlock(id, r)
	raw, err := encode(Frame{Type: AskRequest, ID: id, InteractionID: i.ID, ContentBlock: &b}, Ask{Prompt: i.Prompt, Widgets: w})
	return raw, true, err
}

// EncodeResponse returns the frame that shows the outcome of a request to a
// front end under an ID.
func EncodeResponse(id string, r bridge.Record) ([]byte, error) {
	f := Frame{Type: ApprovalResponse, ID: id, InteractionID: r.Interaction.ID}
	if r.Interaction.Approval != nil {
		if err := dialect.Refused(r); err != nil {
			return nil, err
		}
		return encode(f, decision(id, r))
	}
	value, err := Value(r)
	if err != nil {
		return nil, err
	}
	b := ContentBlock(id, r)
	f.Type, f.ContentBlock = AskResponse, &b
	return encode(f, Answer{RequestID: id, Value: value})
}
