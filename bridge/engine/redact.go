package engine

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// Redactor redacts the credentials in texts that people see. Without a
// bridge.Redactor, it redacts nothing.
type Redactor struct {
	hide bridge.Redactor
}

// redaction is the redaction of one interaction. It rejects credentials in
// fields that nod returns to the agent unchanged.
type redaction struct {
	r      bridge.Redactor
	hidden int
	// executed counts the redacted values that are part of the executed command
	// or input.
	executed int
	err      error
}

func (v *redaction) text(s *string) {
	if out := v.r.Redact(*s); out != *s {
		*s = out
		v.hidden++
	}
}

// use redacts a text according to its use.
func (v *redaction) use(t bridge.Text) {
	before := v.hidden
	switch {
	case t.Use.Has(bridge.TextHidden): // a text that only the agent reads
	case t.Use.Has(bridge.TextDropped):
		if v.text(t.Value); v.hidden > before {
			*t.Value = ""
		}
	case t.Use.Has(bridge.TextExecuted):
		v.text(t.Value)
		v.executed += v.hidden - before
	case t.Use.Has(bridge.TextShown):
		v.text(t.Value)
	default:
		v.refuse(t.Path, *t.Value)
	}
}

func (v *redaction) refuse(field, s string) {
	if v.err == nil && v.r.Redact(s) != s {
		v.err = bridge.Errorf(bridge.CodeInvalid, "%s: looks like a credential, which nod does not show to people", field).
			WithHint("send a placeholder instead")
	}
}

// interaction redacts an interaction before it is stored or shown. Its digest
// is computed earlier. The given fields of the input are redacted completely.
func (d *Redactor) interaction(i *bridge.Interaction, fields []string) error {
	if d.hide == nil {
		return nil
	}
	v := &redaction{r: d.hide}
	prompt := i.Prompt
	i.Ask = i.Editable()
	for t := range i.Texts() {
		v.use(t)
	}
	if a := i.Approval; a != nil {
		v.input(a, fields)
		if len(a.Input) == 0 && i.Prompt != prompt {
			v.executed++ // people see only the prompt of such an approval
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

// Texts redacts the texts of a report or a completion.
func (d *Redactor) Texts(all iter.Seq[bridge.Text]) error {
	if d == nil || d.hide == nil {
		return nil
	}
	v := &redaction{r: d.hide}
	for t := range all {
		v.use(t)
	}
	return v.err
}

// Text redacts text for people. The text may be an error from a platform, which
// may repeat the address or the header with nod's token.
func (d *Redactor) Text(s string) string {
	if d == nil || d.hide == nil {
		return s
	}
	return d.hide.Redact(s)
}

// Record returns a record in the form that cards show. The agent gets typed
// text unchanged, but cards do not repeat its credentials.
func (d *Redactor) Record(r bridge.Record) bridge.Record {
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
// grant, because a part of the executed command or input is redacted.
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
