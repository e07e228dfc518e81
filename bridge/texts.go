package bridge

import (
	"iter"
	"maps"
	"slices"
	"strconv"
)

// Text is a text in an Ask, which its agent wrote. Every such text has a row in the
// tables of this file, which check its length and hide credentials in it.
type Text struct {
	Path  string // its name in errors, such as questions[0].text
	Value *string
	Most  int // the maximum length in bytes; zero means that it has a check of its own
	Use   TextUse
}

// TextUse is the use of a text, which decides what happens to a credential in it.
type TextUse int

// The uses.
const (
	// TextShown is shown to people, without credentials.
	TextShown TextUse = iota
	// TextExecuted is shown as well, and names what is executed: if a credential
	// is hidden in it, people do not see everything that they approve.
	TextExecuted
	// TextKept goes back to the agent unchanged, so a credential in it is refused.
	// Changes of Value have no effect.
	TextKept
	// TextHidden goes back to the agent unchanged as well, but no person sees it, so
	// it may have a credential. Changes of Value have no effect.
	TextHidden
	// TextDropped is not shown, and left out if it has a credential.
	TextDropped
)

// textRow is a text of each T.
type textRow[T any] struct {
	name string
	of   func(*T) *string
	most int
	use  TextUse
}

var askTexts = []textRow[Ask]{
	{"prompt", func(a *Ask) *string { return &a.Prompt }, MaxPrompt, TextShown},
	{"error", func(a *Ask) *string { return &a.Error }, MaxText, TextShown},
	{"session", func(a *Ask) *string { return &a.Session }, 200, TextKept},
	{"tool_call", func(a *Ask) *string { return &a.ToolCall }, 200, TextKept},
	{"turn", func(a *Ask) *string { return &a.Turn }, 200, TextKept},
	{"response_id", func(a *Ask) *string { return &a.ResponseID }, 200, TextKept},
	{"tool_name", func(a *Ask) *string { return &a.ToolName }, 200, TextKept},
	{"requester", func(a *Ask) *string { return &a.Requester }, 100, TextKept},
	{"route", func(a *Ask) *string { return &a.Route }, 100, TextKept},
}

var questionTexts = []textRow[Question]{
	{"id", func(q *Question) *string { return &q.ID }, 0, TextKept},
	{"header", func(q *Question) *string { return &q.Header }, MaxText, TextShown},
	{"text", func(q *Question) *string { return &q.Text }, MaxText, TextShown},
	{"description", func(q *Question) *string { return &q.Description }, MaxText, TextShown},
	{"placeholder", func(q *Question) *string { return &q.Placeholder }, MaxText, TextShown},
	{"pattern", func(q *Question) *string { return &q.Pattern }, 1000, TextKept},
	{"pattern_hint", func(q *Question) *string { return &q.PatternHint }, MaxText, TextShown},
	{"plan", func(q *Question) *string { return &q.Plan }, MaxPrompt, TextShown},
	{"default", func(q *Question) *string { return answered(q.Default) }, 0, TextKept},
	{"schema", func(q *Question) *string { s := string(q.Schema); return &s }, 0, TextKept},
}

var optionTexts = []textRow[Option]{
	{"value", func(o *Option) *string { return &o.Value }, MaxValue, TextKept},
	{"label", func(o *Option) *string { return &o.Label }, 4 * MaxLabel, TextShown},
	{"description", func(o *Option) *string { return &o.Description }, MaxText, TextShown},
	{"preview", func(o *Option) *string { return &o.Preview }, MaxPrompt, TextShown},
}

var itemTexts = []textRow[Item]{
	{"id", func(i *Item) *string { return &i.ID }, 200, TextKept},
	{"content", func(i *Item) *string { return &i.Content }, MaxPrompt, TextShown},
}

var viewTexts = []textRow[CompletedView]{
	{"summary_template", func(c *CompletedView) *string { return &c.SummaryTemplate }, MaxText, TextShown},
}

// approvalTexts are those of an approval, apart from its input, in which each value
// is checked by its name.
var approvalTexts = []textRow[Approval]{
	{"tool", func(a *Approval) *string { return &a.Tool }, 200, TextExecuted},
	{"where", func(a *Approval) *string { return &a.Where }, MaxText, TextExecuted},
	{"key", func(a *Approval) *string { return &a.Key }, 500, TextDropped},
	{"confirm", func(a *Approval) *string { return &a.Confirm }, 100, TextShown},
}

func answered(a *Answer) *string {
	s := ""
	if a != nil {
		s = a.String()
	}
	return &s
}

// Texts returns the texts of the ask. They can be changed if it is one that
// Editable returned.
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

// ownTexts yields the texts of the ask that are not of a question, and reports
// whether its caller expects more.
func (r *Ask) ownTexts(yield func(Text) bool) bool {
	return rows("", r, askTexts, yield) && r.initialTexts(yield) && r.metadataTexts(yield) &&
		(r.CompletedView == nil || rows("completed_view.", r.CompletedView, viewTexts, yield)) &&
		(r.Approval == nil || rows("approval.", r.Approval, approvalTexts, yield) && r.Approval.noteTexts(yield))
}

// rows yields the texts of a value, and reports whether its caller expects more.
func rows[T any](path string, v *T, table []textRow[T], yield func(Text) bool) bool {
	for _, t := range table {
		if !yield(Text{path + t.name, t.of(v), t.most, t.use}) {
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
		if !yield(Text{"initial." + id, answered(&a), 0, TextKept}) {
			return false
		}
	}
	return true
}

func (r *Ask) metadataTexts(yield func(Text) bool) bool {
	for name, value := range r.Metadata {
		if !yield(Text{"metadata." + name, &value, MaxMetadata, TextHidden}) {
			return false
		}
	}
	return true
}

func (a *Approval) noteTexts(yield func(Text) bool) bool {
	for s, was := range a.ScopeNotes {
		note := was
		more := yield(Text{"approval.scope_notes." + string(s), &note, MaxText, TextShown})
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

// checkTexts returns CodeInvalid for the first text that is too long or cannot be
// shown.
func checkTexts(texts func(yield func(Text) bool) bool) (err error) {
	texts(func(t Text) bool {
		if t.Most > 0 {
			err = CheckText(t.Path, *t.Value, t.Most)
		}
		return err == nil
	})
	return err
}
