package bridge

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Text is a text in an Ask that the agent wrote. Every such text has a row in
// the tables of this file. Several parts of nod loop over the rows: the check
// of lengths, redaction, the request digest, the facts on a card, openapi.yaml
// and the flags of the commands. The card of a private request shows none of
// the texts. Approval.Input is not among them: it has a separate redactor and a
// separate place on the card. The request digest also covers it.
type Text struct {
	Path  string // name in errors, such as questions[0].text
	Value *string
	Use   TextUse
	Most  int    // maximum length in bytes; zero means that the text has its own check
	Flag  string // flag of nod ask, approve and run; may be empty
	About string // description in openapi.yaml, and help of the flag
}

// TextUse is the use of a text. It determines what nod does with a credential
// in the text. nod refuses the credential unless the text has one of the first
// four uses, because it returns other texts to the agent unchanged.
type TextUse int

// The uses.
const (
	// TextShown is shown to people, with its credentials redacted.
	TextShown TextUse = 1 << iota
	// TextExecuted is visible to people, and names the executed program or
	// tool. If it contains a redacted credential, people do not see everything
	// that they approve.
	TextExecuted
	// TextDropped is not shown. nod removes it if it contains a credential.
	TextDropped
	// TextHidden is returned to the agent unchanged. No person sees it, so it
	// may contain a credential.
	TextHidden
	// TextCovered is part of the request digest.
	TextCovered
	// TextFact is shown on the card in a line with its name.
	TextFact
	// TextCounted has a maximum length in characters instead of bytes.
	TextCounted
)

// Has reports whether a text has a use.
func (u TextUse) Has(use TextUse) bool { return u&use != 0 }

// textRow describes one text of a T.
type textRow[T any] struct {
	name  string
	of    func(*T) *string
	use   TextUse
	most  int
	flag  string
	about string
}

var askTexts = []textRow[Ask]{
	{"prompt", func(a *Ask) *string { return &a.Prompt }, TextShown | TextCovered, MaxPrompt, "", "text that people see, in Markdown"},
	{"error", func(a *Ask) *string { return &a.Error }, TextShown | TextCovered, MaxText, "", "text above the questions, such as the reason why they are asked again"},
	{"session", func(a *Ask) *string { return &a.Session }, 0, 200, "session", "session of the request"},
	{"tool_call", func(a *Ask) *string { return &a.ToolCall }, 0, 200, "", "ID of the tool call, returned in events"},
	{"turn", func(a *Ask) *string { return &a.Turn }, 0, 200, "", "ID of the turn, returned in events"},
	{"response_id", func(a *Ask) *string { return &a.ResponseID }, 0, 200, "", "ID of the response, returned in events"},
	{"tool_name", func(a *Ask) *string { return &a.ToolName }, TextCovered, 200, "", "name of the tool that asks"},
	{"requester", func(a *Ask) *string { return &a.Requester }, 0, 100, "requester", "person for whom the agent asks, who can deny but not approve"},
	{"route", func(a *Ask) *string { return &a.Route }, 0, 100, "route", "route of the request (default \"default\")"},
}

var questionTexts = []textRow[Question]{
	{"id", func(q *Question) *string { return &q.ID }, TextCovered, 0, "", "ID of the question, which is the key of its answer"},
	{"header", func(q *Question) *string { return &q.Header }, TextShown | TextCovered | TextCounted, MaxHeader, "header", "short label on the card, at most 12 characters"},
	{"text", func(q *Question) *string { return &q.Text }, TextShown | TextCovered, MaxText, "question", "text of the question, below the prompt"},
	{"description", func(q *Question) *string { return &q.Description }, TextShown | TextCovered, MaxText, "", "explanation below the question"},
	{"placeholder", func(q *Question) *string { return &q.Placeholder }, TextShown | TextCovered, MaxText, "placeholder", "hint inside an empty text input"},
	{"pattern", func(q *Question) *string { return &q.Pattern }, TextCovered, 1000, "", "RE2 expression that must match the complete text"},
	{"pattern_hint", func(q *Question) *string { return &q.PatternHint }, TextShown | TextCovered, MaxText, "", "text for people if the pattern does not match"},
	{"plan", func(q *Question) *string { return &q.Plan }, TextShown | TextCovered, MaxPrompt, "", "plan of a plan_review in Markdown"},
	{"default", func(q *Question) *string { return answered(q.Default) }, TextCovered, 0, "", ""},
	{"schema", func(q *Question) *string { s := string(q.Schema); return &s }, TextCovered, 0, "", ""},
}

var optionTexts = []textRow[Option]{
	{"value", func(o *Option) *string { return &o.Value }, TextCovered, MaxValue, "", "value that the agent gets"},
	{"label", func(o *Option) *string { return &o.Label }, TextShown | TextCovered | TextCounted, MaxLabel, "", "label that people see; without it, people see the value"},
	{"description", func(o *Option) *string { return &o.Description }, TextShown | TextCovered, MaxText, "", "explanation below the label"},
	{"preview", func(o *Option) *string { return &o.Preview }, TextShown | TextCovered, MaxPrompt, "", "preview of the result of the option, for single choices only"},
}

var itemTexts = []textRow[Item]{
	{"id", func(i *Item) *string { return &i.ID }, TextCovered, 200, "", "ID of the item, which is the key of its comment"},
	{"content", func(i *Item) *string { return &i.Content }, TextShown | TextCovered, MaxPrompt, "", "text to comment on, in Markdown"},
}

var viewTexts = []textRow[CompletedView]{
	{
		"summary_template", func(c *CompletedView) *string { return &c.SummaryTemplate }, TextShown, MaxText, "",
		"sentence on the closed card, with {{action}}, {{scope}}, {{reason}}, {{actor}}, {{platform}}, {{input.QUESTION}}",
	},
}

// approvalTexts are the texts of an approval except its input. The redactor of
// the input checks each value by its name.
var approvalTexts = []textRow[Approval]{
	{"tool", func(a *Approval) *string { return &a.Tool }, TextExecuted | TextCovered, 200, "tool", "name of the tool that needs approval"},
	{"where", func(a *Approval) *string { return &a.Where }, TextExecuted | TextCovered | TextFact, MaxText, "where", "directory or environment; a grant applies only there"},
	{"key", func(a *Approval) *string { return &a.Key }, TextDropped | TextCovered, 500, "grant-key", "the tool's own name for the approval; does not affect grants"},
	{"confirm", func(a *Approval) *string { return &a.Confirm }, TextShown, 100, "confirm", "text that an approver must type, such as the name of the database"},
}

// reportTexts are the texts of a report about a session. A text that people see
// is truncated to its maximum length.
var reportTexts = []textRow[SessionReport]{
	{"title", func(r *SessionReport) *string { return &r.Title }, TextShown | TextCounted, MaxReportText, "", "title of the session"},
	{"prompt", func(r *SessionReport) *string { return &r.Prompt }, TextShown | TextCounted, MaxReportText, "", "text that started the session, which is the default title"},
	{"host", func(r *SessionReport) *string { return &r.Host }, TextShown | TextCounted, MaxReportText, "", "computer that the session runs on"},
	{"folder", func(r *SessionReport) *string { return &r.Folder }, TextShown | TextCounted, MaxReportText, "", "directory of the session"},
	{"branch", func(r *SessionReport) *string { return &r.Branch }, TextShown | TextCounted, MaxReportText, "", "branch of the session"},
	{"step", func(r *SessionReport) *string { return &r.Step }, TextShown | TextCounted, MaxReportText, "", "last step, such as a tool call"},
	{"waits_for", func(r *SessionReport) *string { return &r.Waits }, TextShown | TextCounted, MaxReportText, "", "input that a waiting session needs"},
	{"last_message", func(r *SessionReport) *string { return &r.Last }, TextShown | TextCounted, MaxLastMessage, "", "last message of the agent"},
	{"subagent", func(r *SessionReport) *string { return &r.Subagent }, TextShown | TextCounted, MaxReportText, "", "name of a subagent"},
	{"subagent_id", func(r *SessionReport) *string { return &r.SubagentID }, 0, 200, "", "value of turn in the requests of the subagent"},
	{"route", func(r *SessionReport) *string { return &r.Route }, 0, 100, "", "route of the session (default \"default\")"},
}

var completionTexts = []textRow[Completion]{
	{"result", func(c *Completion) *string { return &c.Result }, TextShown, MaxPrompt, "", "result, which is shown below the answer"},
	{"error", func(c *Completion) *string { return &c.Error }, TextShown, MaxPrompt, "", "reason why the tool failed"},
	{"ran", func(c *Completion) *string { return &c.Ran }, 0, 100, "", ""},
}

// Texts returns the texts of the report.
func (r *SessionReport) Texts() iter.Seq[Text] {
	return func(yield func(Text) bool) { rows("", r, reportTexts, yield) }
}

// Texts returns the texts of the completion.
func (c *Completion) Texts() iter.Seq[Text] {
	return func(yield func(Text) bool) { rows("", c, completionTexts, yield) }
}

func answered(a *Answer) *string {
	s := ""
	if a != nil {
		s = a.String()
	}
	return &s
}

// Texts returns the texts of the ask. The caller can change them if the ask
// comes from Editable.
func (r *Ask) Texts() iter.Seq[Text] {
	return func(yield func(Text) bool) {
		if !r.ownTexts(yield) {
			return
		}
		for n := range r.Questions {
			if !r.Questions[n].texts("questions["+strconv.Itoa(n)+"].", yield) {
				return
			}
		}
	}
}

// Texts returns the texts of the approval, without its input.
func (a *Approval) Texts() iter.Seq[Text] {
	return func(yield func(Text) bool) { rows("", a, approvalTexts, yield) }
}

// Texts returns the texts of the question, without its parts.
func (q *Question) Texts() iter.Seq[Text] {
	return func(yield func(Text) bool) { rows("", q, questionTexts, yield) }
}

// ownTexts yields the texts of the ask that do not belong to a question. It
// reports whether its caller expects more.
func (r *Ask) ownTexts(yield func(Text) bool) bool {
	return rows("", r, askTexts, yield) && r.initialTexts(yield) && r.metadataTexts(yield) &&
		(r.CompletedView == nil || rows("completed_view.", r.CompletedView, viewTexts, yield)) &&
		(r.Approval == nil || rows("approval.", r.Approval, approvalTexts, yield) && r.Approval.noteTexts(yield))
}

// rows yields the texts of a value. It reports whether its caller expects more.
func rows[T any](path string, v *T, table []textRow[T], yield func(Text) bool) bool {
	for _, t := range table {
		if !yield(Text{path + t.name, t.of(v), t.use, t.most, t.flag, t.about}) {
			return false
		}
	}
	return true
}

func (q *Question) texts(at string, yield func(Text) bool) bool {
	if !rows(at, q, questionTexts, yield) {
		return false
	}
	for n := range q.Options {
		if !rows(at+"options["+strconv.Itoa(n)+"].", &q.Options[n], optionTexts, yield) {
			return false
		}
	}
	for n := range q.Items {
		if !rows(at+"items["+strconv.Itoa(n)+"].", &q.Items[n], itemTexts, yield) {
			return false
		}
	}
	return true
}

func (r *Ask) initialTexts(yield func(Text) bool) bool {
	for id, a := range r.Initial {
		if !yield(Text{Path: "initial." + id, Value: answered(&a)}) {
			return false
		}
	}
	return true
}

func (r *Ask) metadataTexts(yield func(Text) bool) bool {
	for name, value := range r.Metadata {
		if !yield(Text{Path: "metadata." + name, Value: &value, Use: TextHidden, Most: MaxMetadata}) {
			return false
		}
	}
	return true
}

func (a *Approval) noteTexts(yield func(Text) bool) bool {
	for s, was := range a.ScopeNotes {
		note := was
		more := yield(Text{Path: "approval.scope_notes." + string(s), Value: &note, Use: TextShown, Most: MaxText})
		if note != was { // only the owner of the map writes to it
			a.ScopeNotes[s] = note
		}
		if !more {
			return false
		}
	}
	return true
}

// Editable returns a copy whose texts can be changed.
func (r Ask) Editable() Ask {
	r.Questions = slices.Clone(r.Questions)
	for n := range r.Questions {
		q := &r.Questions[n]
		q.Options, q.Items = slices.Clone(q.Options), slices.Clone(q.Items)
	}
	if r.CompletedView != nil {
		c := *r.CompletedView
		r.CompletedView = &c
	}
	if r.Approval != nil {
		a := *r.Approval
		a.ScopeNotes = maps.Clone(a.ScopeNotes)
		r.Approval = &a
	}
	return r
}

// Covered returns the values of a request that its digest covers, in their JSON
// form: the kind, the covered texts, all questions, and the input of an
// approval. nod does not change these values, so the agent can compute the
// digest from the request that it sends. Interaction.Content covers the values
// that nod adds.
func (r Ask) Covered() map[string]any {
	out := map[string]any{"kind": r.Kind}
	cover(out, &r, askTexts)
	if len(r.Questions) > 0 {
		out["questions"] = r.Questions
	}
	if a := r.Approval; a != nil {
		action := map[string]any{}
		if len(a.Input) > 0 {
			action["input"] = a.Input
		}
		cover(action, a, approvalTexts)
		out["approval"] = action
	}
	return out
}

func cover[T any](out map[string]any, v *T, table []textRow[T]) {
	for _, t := range table {
		if s := *t.of(v); s != "" && t.use.Has(TextCovered) {
			out[t.name] = s
		}
	}
}

// CheckTexts returns CodeInvalid for the first text that is too long or
// contains characters that cannot be shown.
func CheckTexts(texts iter.Seq[Text]) (err error) {
	texts(func(t Text) bool {
		most := t.Most
		if t.Use.Has(TextCounted) {
			most *= utf8.UTFMax
			if utf8.RuneCountInString(*t.Value) > t.Most {
				err = Errorf(CodeInvalid, "%s: too long (at most %d characters)", t.Path, t.Most)
			}
		}
		if most > 0 && err == nil {
			err = CheckText(t.Path, *t.Value, most)
		}
		return err == nil
	})
	return err
}
