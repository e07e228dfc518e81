package discordmsg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Field is one component of a form: an input, or the text above one.
type Field struct {
	Question int
	Other    bool // free text in addition to the options
	From, To int  // range of the options of a choice: From to To-1
	// Part means that the question continues on another page. The input then
	// keeps the rest of the answer.
	Part bool
	// Said means that the component is the text of the question, which is too
	// long for the label of an input.
	Said bool
}

// id returns the custom ID of the input.
func (f Field) id() string {
	out := "q" + strconv.Itoa(f.Question) + "." + strconv.Itoa(f.From)
	if f.Other {
		out = "x" + strconv.Itoa(f.Question)
	}
	if f.Part {
		out += "." + partMark
	}
	return out
}

// partMark ends the custom ID of an input for a part of an answer.
const partMark = "p"

// ParseField reads the custom ID of an input. It returns false for an ID that
// is not from nod. To may exceed the number of options of the question.
func ParseField(id string) (Field, bool) {
	if len(id) < 2 || id[0] != 'q' && id[0] != 'x' {
		return Field{}, false
	}
	all := strings.Split(id[1:], ".")
	n, err := strconv.Atoi(all[0])
	if err != nil || n < 0 || n >= bridge.MaxFields {
		return Field{}, false
	}
	f := Field{Question: n, Other: id[0] == 'x', Part: all[len(all)-1] == partMark}
	if f.Other || !f.Part {
		return f, true
	}
	f.From, err = strconv.Atoi(all[1])
	f.To = f.From + maxSelect
	return f, err == nil && f.From >= 0 && f.From < bridge.MaxOptions
}

// Page is the part of a form that one modal shows.
type Page struct{ Fields []Field }

// Pages lays out the form of an ask. The components of a question are on the
// same page, unless they fill more than one.
func Pages(i bridge.Interaction) []Page {
	pages := []Page{{}}
	all := i.Fields()
	for _, n := range i.FormFields() {
		fields := fieldsOf(n, all[n])
		part := len(fields) > maxModalFields && !oneOfMany(i)
		for len(fields) > 0 {
			last := &pages[len(pages)-1]
			if room := maxModalFields - len(last.Fields); len(fields) > room && len(last.Fields) > 0 {
				pages = append(pages, Page{})
				continue
			}
			k := min(len(fields), maxModalFields)
			for _, f := range fields[:k] {
				f.Part = part
				last.Fields = append(last.Fields, f)
			}
			fields = fields[k:]
		}
	}
	return pages
}

// oneOfMany reports whether an ask is a single choice, which each page of its
// form can answer.
func oneOfMany(i bridge.Interaction) bool {
	f, lone := i.Lone()
	return lone && !f.FreeText() && !f.Multiple()
}

// Collects reports whether the pages of a form are kept and submitted together.
func Collects(i bridge.Interaction) bool { return !oneOfMany(i) && len(Pages(i)) > 1 }

func fieldsOf(n int, q bridge.Field) []Field {
	var out []Field
	if saidAbove(q) != "" {
		out = append(out, Field{Question: n, Said: true})
	}
	if q.FreeText() {
		return append(out, Field{Question: n})
	}
	for at := 0; at < len(q.Options); at += maxSelect {
		out = append(out, Field{Question: n, From: at, To: min(at+maxSelect, len(q.Options))})
	}
	if q.AllowOther {
		out = append(out, Field{Question: n, Other: true})
	}
	return out
}

// saidAbove returns the text to show above the inputs of a question because
// their labels cannot hold it, or "".
func saidAbove(q bridge.Field) string {
	if render.Formatted(q) {
		return clip(render.FieldText(q), maxModalContext)
	}
	text, hint := captions(q.Question)
	if render.Runes(hint) <= maxLabelHint && (render.Runes(text) <= maxLabel || hint == text) {
		return ""
	}
	var lines []string
	for _, s := range []string{render.Line(q.Header), render.Line(q.Text), render.Line(q.Description)} {
		if s != "" && !slices.Contains(lines, s) {
			lines = append(lines, s)
		}
	}
	said := Escape(strings.Join(lines, "\n"))
	if cost(said) <= maxModalContext {
		return said
	}
	return render.Cut(said, maxModalContext-cost(textOnCard)-1, cost) + "\n" + textOnCard
}

// PageOf returns the page that a control opens or submits.
func PageOf(option int) int { return max(0, option-bridge.OptionPage) }
