package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Question is one question, or one form, to answer.
type Question struct {
	ID          string   `json:"id"`
	Header      string   `json:"header,omitempty"` // short label, at most MaxHeader characters
	Text        string   `json:"text,omitempty"`   // if empty, the prompt is the question
	Description string   `json:"description,omitempty"`
	Widget      Widget   `json:"widget"`
	Options     []Option `json:"options,omitempty"`
	Default     *Answer  `json:"default,omitempty"`  // preselected, and the answer under OnTimeoutDefault
	Required    *bool    `json:"required,omitempty"` // nil means required
	AllowOther  bool     `json:"allow_other,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`

	// Constraints on a typed answer.
	MinLength   int      `json:"min_length,omitempty"`   // characters; zero means no minimum
	MaxLength   int      `json:"max_length,omitempty"`   // characters; zero means DefaultMaxLength
	Pattern     string   `json:"pattern,omitempty"`      // RE2, must match the complete text
	PatternHint string   `json:"pattern_hint,omitempty"` // shown if the text does not match; if empty, the pattern is shown
	Min         *float64 `json:"min,omitempty"`          // for a number; nil means no limit
	Max         *float64 `json:"max,omitempty"`
	Integer     bool     `json:"integer,omitempty"` // for a number

	// MinChoices and MaxChoices limit the number of chosen options of a list.
	// Zero means no limit.
	MinChoices int `json:"min_choices,omitempty"`
	MaxChoices int `json:"max_choices,omitempty"`

	Plan   string          `json:"plan,omitempty"`   // plan of a plan_review, in Markdown
	Items  []Item          `json:"items,omitempty"`  // items of a feedback
	Schema json.RawMessage `json:"schema,omitempty"` // JSON Schema of a form; see ParseSchema
}

// Heading returns the title and the description of the question. If a form has
// none, they come from its schema.
func (q Question) Heading() (title, description string) {
	if q.Widget != WidgetForm || q.Text != "" && q.Description != "" {
		return q.Text, q.Description
	}
	title, description = schemaTitle(q.Schema)
	description = cmp.Or(q.Description, description)
	switch {
	case q.Text == "" || q.Text == title:
		return title, description
	case title != "": // the question does not replace the title of its form
		description = strings.TrimSpace(title + "\n" + description)
	}
	return q.Text, description
}

// Item is one item to comment on.
type Item struct {
	ID      string `json:"id"`
	Content string `json:"content"` // Markdown
}

// Option is one option to choose.
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label,omitempty"` // if empty, the value is shown
	Description string `json:"description,omitempty"`
	// Preview shows the effect of the option, in a fixed-width font. It is
	// not supported for lists with several choices.
	Preview string `json:"preview,omitempty"`
}

// Text returns the text that people see on the option.
func (o Option) Text() string {
	if o.Label != "" {
		return o.Label
	}
	return o.Value
}

// ShortHeader shortens a text to MaxHeader characters.
func ShortHeader(s string) string {
	if r := []rune(s); len(r) > MaxHeader {
		return strings.TrimSpace(string(r[:MaxHeader-1])) + "…"
	}
	return s
}

func (r *Ask) normalizeAsk() error {
	if r.Approval != nil {
		return Errorf(CodeInvalid, "approval: not allowed with kind ask")
	}
	if len(r.Questions) == 0 {
		r.Questions = []Question{{Widget: WidgetConfirm}}
	}
	if len(r.Questions) > MaxQuestions {
		return Errorf(CodeInvalid, "questions: %d questions are too many (at most %d)", len(r.Questions), MaxQuestions)
	}
	seen := map[string]bool{}
	var wrong Problems
	for i := range r.Questions {
		at := "questions[" + strconv.Itoa(i) + "]"
		q := &r.Questions[i]
		if q.ID == "" {
			q.ID = "q" + strconv.Itoa(i+1)
		}
		wrong.Add(q.normalize(at))
		if seen[q.ID] {
			wrong.Add(Errorf(CodeInvalid, "%s.id: duplicate ID %q", at, q.ID))
		}
		seen[q.ID] = true
		if q.Text == "" && len(r.Questions) > 1 && q.Header == "" && !q.Composite() {
			wrong.Add(Errorf(CodeInvalid, "%s.text: required", at).WithHint("give each question a text or a header"))
		}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if n := len(fieldsOf(r.Questions)); n > MaxFields {
		return Errorf(CodeInvalid, "questions: %d fields are too many (at most %d)", n, MaxFields)
	}
	return nil
}

var questionID = lazyregexp.New(`^[A-Za-z0-9_.:-]{1,64}$`)

func (q *Question) normalize(at string) error {
	if !questionID.MatchString(q.ID) {
		return Errorf(CodeInvalid, "%s.id: invalid ID %q (1 to 64 characters of A-Z a-z 0-9 _ . : -)", at, q.ID)
	}
	if err := CheckTexts(func(yield func(Text) bool) { q.texts(at+".", yield) }); err != nil {
		return err
	}
	for _, s := range []*string{&q.Header, &q.Text, &q.Description, &q.Placeholder} {
		if strings.TrimSpace(*s) == "" {
			*s = ""
		}
	}
	q.Options = slices.Clone(q.Options)
	if err := q.checkWidget(at); err != nil {
		return err
	}
	if err := q.checkOptions(at); err != nil {
		return err
	}
	if err := q.checkBounds(at); err != nil {
		return err
	}
	if q.Default != nil {
		return q.checkDefault(at)
	}
	return nil
}

// checkWidget checks that the question has all fields that its widget requires,
// and no fields of other widgets.
func (q *Question) checkWidget(at string) error {
	kind, known := widgetKinds[q.Widget]
	switch {
	case q.Widget == "":
		return Errorf(CodeInvalid, "%s.widget: required", at).WithHint("use one of %s", knownWidgets)
	case !known:
		return Errorf(CodeInvalid, "%s.widget: unknown widget %q", at, q.Widget).WithHint("use one of %s", knownWidgets)
	case (kind.typed || kind.composite) && (len(q.Options) > 0 || q.AllowOther):
		return Errorf(CodeInvalid, "%s: options and allow_other are not allowed for %s", at, q.Widget)
	case q.Widget == WidgetConfirm && len(q.Options) == 0:
		q.Options = []Option{{Value: "yes", Label: "Yes"}, {Value: "no", Label: "No"}}
	case q.Widget == WidgetConfirm && len(q.Options) != 2:
		return Errorf(CodeInvalid, "%s.options: confirm requires exactly 2 options", at)
	case !kind.typed && !kind.composite && len(q.Options) == 0:
		return Errorf(CodeInvalid, "%s.options: required for %s", at, q.Widget)
	}
	if err := q.checkOwned(at); err != nil {
		return err
	}
	return q.checkParts(at)
}

// checkOwned checks that a field of a single widget is set if and only if the
// question has that widget.
func (q *Question) checkOwned(at string) error {
	for _, only := range []struct {
		name   string
		set    bool
		widget Widget
	}{
		{"plan", q.Plan != "", WidgetPlanReview}, {"items", len(q.Items) > 0, WidgetFeedback}, {"schema", len(q.Schema) > 0, WidgetForm},
	} {
		if only.set != (q.Widget == only.widget) {
			if only.set {
				return Errorf(CodeInvalid, "%s.%s: not allowed for %s (only for %s)", at, only.name, q.Widget, only.widget)
			}
			return Errorf(CodeInvalid, "%s.%s: required for %s", at, only.name, only.widget)
		}
	}
	return nil
}

// checkParts checks the parts of a composite question.
func (q *Question) checkParts(at string) error {
	switch q.Widget {
	case WidgetPlanReview:
		if strings.TrimSpace(q.Plan) == "" {
			return Errorf(CodeInvalid, "%s.plan: required", at)
		}
		return nil
	case WidgetFeedback:
		seen := map[string]bool{}
		for n, item := range q.Items {
			at := at + ".items[" + strconv.Itoa(n) + "]"
			switch {
			case item.ID == "":
				return Errorf(CodeInvalid, "%s.id: required", at)
			case seen[item.ID]:
				return Errorf(CodeInvalid, "%s.id: duplicate ID %q", at, item.ID)
			case strings.TrimSpace(item.Content) == "":
				return Errorf(CodeInvalid, "%s.content: required", at)
			}
			seen[item.ID] = true
		}
	case WidgetForm:
		if len(q.Schema) > MaxInput {
			return Errorf(CodeInvalid, "%s.schema: %d bytes are too many (at most %d)", at, len(q.Schema), MaxInput)
		}
		if _, err := ParseSchema(q.Schema); err != nil {
			return within(at, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, q.Schema); err != nil {
			return Errorf(CodeInvalid, "%s.schema: invalid JSON", at)
		}
		q.Schema = compact.Bytes()
	}
	return nil
}

// checkDefault returns CodeInvalid if the default at a path is not a valid
// answer.
func (q Question) checkDefault(at string) error {
	q.ID = "default"
	i := Interaction{Ask: Ask{Questions: []Question{q}}}
	given, err := i.Split(at, map[string]Answer{q.ID: *q.Default})
	if err != nil {
		return err
	}
	for _, f := range i.Fields() {
		if a, ok := given[f.ID]; ok {
			if _, problem := f.Check(a, ""); problem != "" {
				return Errorf(CodeInvalid, "%s.default: %s", at, problem)
			}
		}
	}
	return nil
}

func (q *Question) checkOptions(at string) error {
	if len(q.Options) > MaxOptions {
		return Errorf(CodeInvalid, "%s.options: %d options are too many (at most %d)", at, len(q.Options), MaxOptions)
	}
	seen := map[string]bool{}
	for i, o := range q.Options {
		at := at + ".options[" + strconv.Itoa(i) + "]"
		if o.Preview != "" && q.Multiple() {
			return Errorf(CodeInvalid, "%s.preview: not supported for %s", at, q.Widget)
		}
		switch {
		case o.Value == "":
			return Errorf(CodeInvalid, "%s.value: required", at)
		case strings.TrimSpace(o.Text()) == "":
			return Errorf(CodeInvalid, "%s.label: required", at)
		case utf8.RuneCountInString(o.Text()) > MaxLabel:
			return Errorf(CodeInvalid, "%s.label: too long (at most %d characters)", at, MaxLabel).WithHint("move the rest to description")
		case seen[o.Value]:
			return Errorf(CodeInvalid, "%s.value: duplicate value %q", at, o.Value)
		}
		seen[o.Value] = true
	}
	tellApart(q.Options)
	return nil
}

// tellApart adds the values to labels that people cannot tell apart.
func tellApart(all []Option) {
	same := map[string]int{}
	for _, o := range all {
		same[OneLine(o.Text())]++
	}
	for n := range all {
		if o := &all[n]; same[OneLine(o.Text())] > 1 && o.Text() != o.Value {
			o.Label = o.Text() + " (" + o.Value + ")"
		}
	}
}

func (q *Question) checkBounds(at string) error {
	if q.MinLength < 0 || q.MaxLength < 0 || q.MinLength > DefaultMaxLength || q.MaxLength > DefaultMaxLength {
		return Errorf(CodeInvalid, "%s: min_length or max_length is out of range (0 to %d)", at, DefaultMaxLength)
	}
	if q.MaxLength == 0 {
		q.MaxLength = DefaultMaxLength
	}
	if err := q.checkRange(at); err != nil {
		return err
	}
	if q.MinLength > q.MaxLength {
		return Errorf(CodeInvalid, "%s.min_length: %d is greater than max_length (%d)", at, q.MinLength, q.MaxLength)
	}
	if _, err := q.pattern(); err != nil {
		return Errorf(CodeInvalid, "%s.pattern: invalid RE2 regular expression", at)
	}
	return nil
}

// checkRange checks the bounds of a number, and of the number of choices.
func (q *Question) checkRange(at string) error {
	switch {
	case q.Widget != WidgetNumber && (q.Min != nil || q.Max != nil || q.Integer):
		return Errorf(CodeInvalid, "%s: min, max and integer are not allowed for %s (only for number)", at, q.Widget)
	case q.Min != nil && q.Max != nil && *q.Min > *q.Max:
		return Errorf(CodeInvalid, "%s.min: greater than max", at)
	case !q.Multiple() && (q.MinChoices != 0 || q.MaxChoices != 0):
		return Errorf(CodeInvalid, "%s: min_choices and max_choices are not allowed for %s (only for checkbox)", at, q.Widget)
	case q.MinChoices < 0, q.MaxChoices < 0, q.MaxChoices > 0 && q.MinChoices > q.MaxChoices,
		!q.AllowOther && q.MinChoices > len(q.Options):
		return Errorf(CodeInvalid, "%s: min_choices and max_choices do not fit the options", at)
	}
	return nil
}

func (q Question) pattern() (*regexp.Regexp, error) {
	return regexp.Compile(`\A(?:` + q.Pattern + `)\z`)
}
