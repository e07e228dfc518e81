package engine

import (
	"encoding/json"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// redactor redacts the credentials in what people see.
type redactor struct {
	hide bridge.Redactor
}

// redaction is the redaction of one interaction. It rejects credentials in
// fields that the agent gets back unchanged.
type redaction struct {
	r      bridge.Redactor
	hidden int
	// executed counts the redacted places that are part of what is
	// executed.
	executed int
	err      error
}

func (v *redaction) text(s *string) {
	if out := v.r.Redact(*s); out != *s {
		*s = out
		v.hidden++
	}
}

func (v *redaction) refuse(field, s string) {
	if v.err == nil && v.r.Redact(s) != s {
		v.err = bridge.Errorf(bridge.CodeInvalid, "%s: looks like a credential, which nod does not show to people", field).
			WithHint("send a placeholder instead")
	}
}

// interaction redacts an interaction before it is stored or shown. Its digest
// has already been computed. The given fields of the input are redacted
// completely.
func (d *redactor) interaction(i *bridge.Interaction, fields []string) error {
	if d.hide == nil {
		return nil
	}
	v := &redaction{r: d.hide}
	prompt := i.Prompt
	v.text(&i.Prompt)
	v.text(&i.Error)
	for field, s := range map[string]string{"session": i.Session, "tool_call": i.ToolCall, "turn": i.Turn, "response_id": i.ResponseID, "tool_name": i.ToolName, "requester": i.Requester} {
		v.refuse(field, s)
	}
	i.Questions = slices.Clone(i.Questions)
	for n := range i.Questions {
		v.question(&i.Questions[n])
	}
	for id, a := range i.Initial {
		v.refuse("initial."+id, a.String())
	}
	if i.CompletedView != nil {
		c := *i.CompletedView
		v.text(&c.SummaryTemplate)
		i.CompletedView = &c
	}
	if i.Approval != nil {
		a := *i.Approval
		v.approval(&a, fields)
		i.Approval = &a
		if len(a.Input) == 0 && i.Prompt != prompt {
			v.executed++ // people approve only the prompt
		}
	}
	if i.Redacted = v.hidden; v.hidden > 0 && i.Approval != nil {
		i.Approval.WithoutEdit()
	}
	if v.executed > 0 {
		i.RedactedCommand = true
		guardHidden(i)
	}
	return v.err
}

func (v *redaction) question(q *bridge.Question) {
	v.refuse("questions.id", q.ID)
	for _, s := range []*string{&q.Header, &q.Text, &q.Description, &q.Placeholder, &q.PatternHint, &q.Plan} {
		v.text(s)
	}
	v.refuse("questions."+q.ID+".pattern", q.Pattern)
	if q.Default != nil {
		v.refuse("questions."+q.ID+".default", q.Default.String())
	}
	q.Options = slices.Clone(q.Options)
	for n := range q.Options {
		o := &q.Options[n]
		v.refuse("questions."+q.ID+".options.value", o.Value)
		v.text(&o.Label)
		v.text(&o.Description)
		v.text(&o.Preview)
	}
	q.Items = slices.Clone(q.Items)
	for n := range q.Items {
		v.refuse("questions."+q.ID+".items.id", q.Items[n].ID)
		v.text(&q.Items[n].Content)
	}
	if len(q.Schema) > 0 {
		v.refuse("questions."+q.ID+".schema", string(q.Schema))
	}
}

// text redacts text for people, and the error of a platform, which may repeat the
// address or the header with the token of nod.
func (d *redactor) text(s string) string {
	if d == nil || d.hide == nil {
		return s
	}
	return d.hide.Redact(s)
}

// record returns a record as cards show it. The agent gets typed text
// unchanged, but cards do not repeat credentials in it.
func (d *redactor) record(r bridge.Record) bridge.Record {
	if d.hide == nil || r.Response == nil {
		return r
	}
	resp := *r.Response
	resp.Reason = d.hide.Redact(resp.Reason)
	answers := map[string]bridge.Answer{}
	for id, a := range resp.Answers {
		if d.hide.Redact(a.String()) != a.String() {
			a = bridge.TextAnswer(hiddenValue(a.String()))
		}
		answers[id] = a
	}
	resp.Answers = answers
	if len(resp.Input) > 0 && d.hide.Redact(string(resp.Input)) != string(resp.Input) {
		resp.Input = json.RawMessage(`"` + hiddenValue(string(resp.Input)) + `"`)
	}
	r.Response = &resp
	return r
}

// hiddenConfirm is the typed confirmation of an approval with redacted parts.
const hiddenConfirm = "hidden"

// guardHidden removes every decision that approves with one click or creates a
// grant, because a part of what is executed is redacted.
func guardHidden(i *bridge.Interaction) {
	a := i.Approval
	if a.Confirm == "" {
		a.Confirm = hiddenConfirm
	}
	a.WithoutEdit()
	a.Scopes = []bridge.Scope{bridge.ScopeOnce}
	if len(a.Decisions) > 0 {
		a.Decisions = slices.DeleteFunc(slices.Clone(a.Decisions), func(d bridge.Decision) bool { return d.Approves() && d != bridge.DecideOnce })
		if !slices.Contains(a.Decisions, bridge.DecideOnce) {
			a.Decisions = append(a.Decisions, bridge.DecideOnce)
		}
	}
}
