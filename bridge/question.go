package bridge

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Question is one thing to be answered.
type Question struct {
	ID          string   `json:"id"`
	Header      string   `json:"header,omitempty"` // a chip, at most MaxHeader characters
	Text        string   `json:"text,omitempty"`   // empty: the prompt is the question
	Description string   `json:"description,omitempty"`
	Widget      Widget   `json:"widget"`
	Options     []Option `json:"options,omitempty"`
	Default     *Answer  `json:"default,omitempty"`  // preselected, and the answer under OnTimeoutDefault
	Required    *bool    `json:"required,omitempty"` // nil means required
	AllowOther  bool     `json:"allow_other,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`

	// What a typed answer must be.
	MinLength   int      `json:"min_length,omitempty"`   // characters; 0: none
	MaxLength   int      `json:"max_length,omitempty"`   // characters; 0: DefaultMaxLength
	Pattern     string   `json:"pattern,omitempty"`      // RE2, matched against the whole text
	PatternHint string   `json:"pattern_hint,omitempty"` // what people read when it does not match; empty: the pattern
	Min         *float64 `json:"min,omitempty"`          // of a number; nil: none
	Max         *float64 `json:"max,omitempty"`
	Integer     bool     `json:"integer,omitempty"` // of a number

	// How many options of a list have to be chosen. 0: none, and any number.
	MinChoices int `json:"min_choices,omitempty"`
	MaxChoices int `json:"max_choices,omitempty"`

	Plan   string          `json:"plan,omitempty"`   // of a plan_review; Markdown
	Items  []Item          `json:"items,omitempty"`  // of a feedback
	Schema json.RawMessage `json:"schema,omitempty"` // of a form; see ParseSchema
}

// Item is one thing to comment on.
type Item struct {
	ID      string `json:"id"`
	Content string `json:"content"` // Markdown
}

// Option is one thing to choose.
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label,omitempty"` // empty: the value is shown
	Description string `json:"description,omitempty"`
	// Preview shows what the option would give, in a fixed width; only where
	// one option is chosen.
	Preview string `json:"preview,omitempty"`
}

// Text is what a human reads on the option.
func (o Option) Text() string {
	if o.Label != "" {
		return o.Label
	}
	return o.Value
}

func (r *Ask) normalizeAsk() error {
	if r.Approval != nil {
		return Errorf(CodeInvalid, "approval: not with kind ask")
	}
	if len(r.Questions) == 0 {
		r.Questions = []Question{{Widget: WidgetConfirm}}
	}
	if len(r.Questions) > MaxQuestions {
		return Errorf(CodeInvalid, "questions: %d are more than %d", len(r.Questions), MaxQuestions)
	}
	seen := map[string]bool{}
	for i := range r.Questions {
		at := "questions[" + strconv.Itoa(i) + "]"
		q := &r.Questions[i]
		if q.ID == "" {
			q.ID = "q" + strconv.Itoa(i+1)
		}
		if err := q.normalize(at); err != nil {
			return err
		}
		if seen[q.ID] {
			return Errorf(CodeInvalid, "%s.id: %q is there twice", at, q.ID)
		}
		seen[q.ID] = true
		if q.Text == "" && len(r.Questions) > 1 && q.Header == "" && !q.Composite() {
			return Errorf(CodeInvalid, "%s.text: is empty", at).WithHint("with several questions each needs its text or header")
		}
	}
	if n := len(fieldsOf(r.Questions)); n > MaxFields {
		return Errorf(CodeInvalid, "questions: have %d fields, more than %d", n, MaxFields)
	}
	return nil
}

var questionID = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

func (q *Question) normalize(at string) error {
	if !questionID.MatchString(q.ID) {
		return Errorf(CodeInvalid, "%s.id: want 1 to 64 of A-Z a-z 0-9 _ . : -", at)
	}
	if utf8.RuneCountInString(q.Header) > MaxHeader {
		return Errorf(CodeInvalid, "%s.header: is longer than %d characters", at, MaxHeader)
	}
	for _, f := range []struct{ name, text string }{{"header", q.Header}, {"text", q.Text}, {"description", q.Description}, {"placeholder", q.Placeholder}, {"pattern_hint", q.PatternHint}} {
		if err := CheckText(at+"."+f.name, f.text, MaxText); err != nil {
			return err
		}
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
		if problem := q.checkDefault(); problem != "" {
			return Errorf(CodeInvalid, "%s.default: %s", at, problem)
		}
	}
	return nil
}

// checkWidget checks that the question has what its widget needs and nothing
// that belongs to another.
func (q *Question) checkWidget(at string) error {
	kind, known := widgetKinds[q.Widget]
	switch {
	case q.Widget == "":
		return Errorf(CodeInvalid, "%s.widget: is empty", at).WithHint("use one of %s", knownWidgets)
	case !known:
		return Errorf(CodeInvalid, "%s.widget: unknown %q", at, q.Widget).WithHint("use one of %s", knownWidgets)
	case (kind.typed || kind.composite) && (len(q.Options) > 0 || q.AllowOther):
		return Errorf(CodeInvalid, "%s: %s has no options and no allow_other", at, q.Widget)
	case q.Widget == WidgetConfirm && len(q.Options) == 0:
		q.Options = []Option{{Value: "yes", Label: "Yes"}, {Value: "no", Label: "No"}}
	case q.Widget == WidgetConfirm && len(q.Options) != 2:
		return Errorf(CodeInvalid, "%s.options: confirm has two", at)
	case !kind.typed && !kind.composite && len(q.Options) == 0:
		return Errorf(CodeInvalid, "%s.options: %s needs some", at, q.Widget)
	}
	if err := q.checkOwned(at); err != nil {
		return err
	}
	return q.checkParts(at)
}

// checkOwned checks that the question has what one widget alone has if it is of
// that widget.
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
				return Errorf(CodeInvalid, "%s.%s: belongs to %s, not to %s", at, only.name, only.widget, q.Widget)
			}
			return Errorf(CodeInvalid, "%s.%s: is missing, %s needs it", at, only.name, only.widget)
		}
	}
	return nil
}

// checkParts checks what a question with several fields is made of.
func (q *Question) checkParts(at string) error {
	switch q.Widget {
	case WidgetPlanReview:
		if strings.TrimSpace(q.Plan) == "" {
			return Errorf(CodeInvalid, "%s.plan: is blank", at)
		}
		return CheckText(at+".plan", q.Plan, MaxPrompt)
	case WidgetFeedback:
		seen := map[string]bool{}
		for n, item := range q.Items {
			at := at + ".items[" + strconv.Itoa(n) + "]"
			switch {
			case item.ID == "" || len(item.ID) > 200:
				return Errorf(CodeInvalid, "%s.id: is not 1 to 200 bytes", at)
			case seen[item.ID]:
				return Errorf(CodeInvalid, "%s.id: %q is there twice", at, item.ID)
			case strings.TrimSpace(item.Content) == "":
				return Errorf(CodeInvalid, "%s.content: is blank", at)
			}
			seen[item.ID] = true
			if err := CheckText(at+".id", item.ID, 200); err != nil {
				return err
			}
			if err := CheckText(at+".content", item.Content, MaxPrompt); err != nil {
				return err
			}
		}
	case WidgetForm:
		if len(q.Schema) > MaxInput {
			return Errorf(CodeInvalid, "%s.schema: %d bytes are more than %d", at, len(q.Schema), MaxInput)
		}
		if _, err := ParseSchema(q.Schema); err != nil {
			e := PublicError(err)
			return Errorf(e.Code, "%s.%s", at, e.Message).WithHint("%s", e.Hint)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, q.Schema); err != nil {
			return Errorf(CodeInvalid, "%s.schema: is not JSON", at)
		}
		q.Schema = compact.Bytes()
	}
	return nil
}

// checkDefault says what is wrong with the default.
func (q Question) checkDefault() string {
	i := Interaction{Ask: Ask{Questions: []Question{q}}}
	given, problem := i.Split(map[string]Answer{q.ID: *q.Default})
	if problem != "" {
		return problem
	}
	for _, f := range i.Fields() {
		if a, ok := given[f.ID]; ok {
			if _, problem := f.Check(a, ""); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func (q *Question) checkOptions(at string) error {
	if len(q.Options) > MaxOptions {
		return Errorf(CodeInvalid, "%s.options: %d are more than %d", at, len(q.Options), MaxOptions)
	}
	seen := map[string]bool{}
	for i, o := range q.Options {
		at := at + ".options[" + strconv.Itoa(i) + "]"
		if err := CheckText(at+".value", o.Value, MaxValue); err != nil {
			return err
		}
		if err := CheckText(at+".description", o.Description, MaxText); err != nil {
			return err
		}
		if err := CheckText(at+".label", o.Label, 4*MaxLabel); err != nil {
			return err
		}
		if err := CheckText(at+".preview", o.Preview, MaxPrompt); err != nil {
			return err
		}
		if o.Preview != "" && q.Multiple() {
			return Errorf(CodeInvalid, "%s.preview: is shown where one option is chosen, not for %s", at, q.Widget)
		}
		switch {
		case o.Value == "":
			return Errorf(CodeInvalid, "%s.value: is empty", at)
		case strings.TrimSpace(o.Text()) == "":
			return Errorf(CodeInvalid, "%s.label: is blank", at)
		case utf8.RuneCountInString(o.Text()) > MaxLabel:
			return Errorf(CodeInvalid, "%s.label: is longer than %d characters", at, MaxLabel).WithHint("put the rest into description")
		case seen[o.Value]:
			return Errorf(CodeInvalid, "%s.value: %q is there twice", at, o.Value)
		}
		seen[o.Value] = true
	}
	return nil
}

func (q *Question) checkBounds(at string) error {
	if q.MinLength < 0 || q.MaxLength < 0 || q.MinLength > DefaultMaxLength || q.MaxLength > DefaultMaxLength {
		return Errorf(CodeInvalid, "%s: min_length and max_length are 0 to %d", at, DefaultMaxLength)
	}
	if q.MaxLength == 0 {
		q.MaxLength = DefaultMaxLength
	}
	if err := q.checkRange(at); err != nil {
		return err
	}
	if q.MinLength > q.MaxLength {
		return Errorf(CodeInvalid, "%s.min_length: is more than max_length", at)
	}
	if len(q.Pattern) > 1000 {
		return Errorf(CodeInvalid, "%s.pattern: is longer than 1000 bytes", at)
	}
	if _, err := q.pattern(); err != nil {
		return Errorf(CodeInvalid, "%s.pattern: is not a regular expression of RE2", at)
	}
	return nil
}

// checkRange checks the bounds of a number and of the number of choices.
func (q *Question) checkRange(at string) error {
	switch {
	case q.Widget != WidgetNumber && (q.Min != nil || q.Max != nil || q.Integer):
		return Errorf(CodeInvalid, "%s: min, max and integer belong to number, not to %s", at, q.Widget)
	case q.Min != nil && q.Max != nil && *q.Min > *q.Max:
		return Errorf(CodeInvalid, "%s.min: is more than max", at)
	case !q.Multiple() && (q.MinChoices != 0 || q.MaxChoices != 0):
		return Errorf(CodeInvalid, "%s: min_choices and max_choices belong to checkbox, not to %s", at, q.Widget)
	case q.MinChoices < 0, q.MaxChoices < 0, q.MaxChoices > 0 && q.MinChoices > q.MaxChoices,
		!q.AllowOther && q.MinChoices > len(q.Options):
		return Errorf(CodeInvalid, "%s: min_choices and max_choices can not be met", at)
	}
	return nil
}

func (q Question) pattern() (*regexp.Regexp, error) {
	return regexp.Compile(`\A(?:` + q.Pattern + `)\z`)
}
