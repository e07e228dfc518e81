package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Redactor hides credentials. It is safe for concurrent use.
type Redactor interface {
	// Redact returns the text with what is secret masked, else as it is.
	Redact(string) string
	// Secret reports whether a field of that name holds what is secret.
	Secret(name string) bool
}

// veiler hides what is secret in an interaction. What an agent gets back
// byte for byte can not be hidden: it is refused.
type veiler struct {
	r      Redactor
	hidden int
	err    error
}

func (v *veiler) text(s *string) {
	if out := v.r.Redact(*s); out != *s {
		*s = out
		v.hidden++
	}
}

func (v *veiler) refuse(field, s string) {
	if v.err == nil && v.r.Redact(s) != s {
		v.err = Errorf(CodeInvalid, "%s: looks like a credential, which is not shown to people", field).WithHint("send something harmless that stands for it")
	}
}

// veil hides what is secret before anything of an interaction leaves the
// process; its digest was made before. Fields of the input are hidden whole.
func (e *Engine) veil(i *Interaction, fields []string) error {
	if e.redactor == nil {
		return nil
	}
	v := &veiler{r: e.redactor}
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
	}
	if i.Redacted = v.hidden; v.hidden > 0 && i.Approval != nil {
		i.Approval.withoutEdit()
	}
	return v.err
}

func (v *veiler) question(q *Question) {
	v.refuse("questions.id", q.ID)
	for _, s := range []*string{&q.Header, &q.Text, &q.Description, &q.Placeholder, &q.PatternHint, &q.Plan} {
		v.text(s)
	}
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

func (v *veiler) approval(a *Approval, fields []string) {
	for _, s := range []*string{&a.Tool, &a.Where, &a.Confirm} {
		v.text(s)
	}
	if key := v.r.Redact(a.Key); key != a.Key {
		a.Key = hashed(a.Key)
		v.hidden++
	}
	notes := map[Scope]string{}
	for s, note := range a.ScopeNotes {
		v.text(&note)
		notes[s] = note
	}
	if len(notes) > 0 {
		a.ScopeNotes = notes
	}
	if len(a.Input) == 0 {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(a.Input))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) != nil {
		return // Normalize took valid JSON only
	}
	before := v.hidden
	tree = v.tree(tree, nil, fields)
	if v.hidden == before {
		return // as it was, byte for byte
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(tree) == nil { // it was decoded a moment ago
		a.Input = bytes.TrimSpace(b.Bytes())
	}
}

// hiddenText stands where a whole field was hidden.
const hiddenText = "[redacted]"

// tree hides what is secret in a JSON value: fields by their name or path, and
// credentials in any text.
func (v *veiler) tree(t any, path, fields []string) any {
	switch x := t.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for name, value := range x {
			inner := append(slices.Clone(path), name)
			kept := name
			v.text(&kept)
			if s, isText := value.(string); slices.Contains(fields, strings.Join(inner, ".")) || isText && s != "" && v.r.Secret(name) {
				out[kept] = hiddenText
				v.hidden++
				continue
			}
			out[kept] = v.tree(value, inner, fields)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for n, value := range x {
			out[n] = v.tree(value, path, fields)
		}
		return out
	case string:
		v.text(&x)
		return x
	case json.Number:
		if s := v.r.Redact(x.String()); s != x.String() {
			v.hidden++
			return s
		}
	}
	return t
}

// veilText hides what is secret in one text.
func (e *Engine) veilText(s string) string {
	if e.redactor == nil {
		return s
	}
	return e.redactor.Redact(s)
}

// forPeople is a record as its cards show it: what people typed goes to the
// agent as it is, and is not repeated where it holds a credential.
func (e *Engine) forPeople(r Record) Record {
	if e.redactor == nil || r.Response == nil {
		return r
	}
	resp := *r.Response
	resp.Reason = e.redactor.Redact(resp.Reason)
	answers := map[string]Answer{}
	for id, a := range resp.Answers {
		if e.redactor.Redact(a.String()) != a.String() {
			a = TextAnswer(hiddenText)
		}
		answers[id] = a
	}
	resp.Answers = answers
	if len(resp.Input) > 0 && e.redactor.Redact(string(resp.Input)) != string(resp.Input) {
		resp.Input = json.RawMessage(`"` + hiddenText + `"`)
	}
	r.Response = &resp
	return r
}
