package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Check returns the answer in the form to store, or a sentence for people that
// describes the problem. Other is the text that a person typed alongside the
// options. Check handles the fields of a composite question one by one.
func (q Question) Check(a Answer, other string) (Answer, string) {
	if a.null() {
		a = Answer{}
	}
	if q.FreeText() {
		if a.List != nil || a.JSON != nil && q.Widget != WidgetNumber {
			return Answer{}, "Enter text."
		}
		return q.checkTyped(a.String())
	}
	values, problem := q.chosen(a, strings.TrimSpace(other))
	if problem != "" {
		return Answer{}, problem
	}
	if q.Multiple() {
		return q.checkMany(values)
	}
	switch {
	case len(values) == 0 && q.IsRequired():
		return Answer{}, "Choose one first."
	case len(values) > 1:
		return Answer{}, "Choose only one."
	case len(values) == 0:
		return Answer{}, ""
	}
	return TextAnswer(values[0]), ""
}

// chosen returns the values of the chosen options in their order, followed by
// other. If they are not valid, it returns a sentence that describes the
// problem.
func (q Question) chosen(a Answer, other string) ([]string, string) {
	values := slices.Clone(a.Values())
	for _, v := range values {
		if q.optionIndex(v) < 0 {
			return nil, "That is not one of the options."
		}
	}
	slices.SortFunc(values, func(x, y string) int { return q.optionIndex(x) - q.optionIndex(y) })
	values = slices.Compact(values)
	switch {
	case other == "":
		return values, ""
	case !q.AllowOther:
		return nil, "Only the given options can be chosen."
	case utf8.RuneCountInString(other) > DefaultMaxLength:
		return nil, "That is longer than " + strconv.Itoa(DefaultMaxLength) + " characters."
	case !q.Multiple():
		values = nil // typed text replaces the choice
	}
	return append(values, other), ""
}

func (q Question) checkMany(values []string) (Answer, string) {
	n := len(values)
	switch {
	case n == 0 && q.IsRequired() && q.MinChoices < 2:
		return Answer{}, "Choose at least one."
	case n < q.MinChoices && (n > 0 || q.IsRequired()):
		return Answer{}, "Choose at least " + strconv.Itoa(q.MinChoices) + "."
	case q.MaxChoices > 0 && n > q.MaxChoices:
		return Answer{}, "Choose at most " + strconv.Itoa(q.MaxChoices) + "."
	}
	return ListAnswer(values...), ""
}

func (q Question) optionIndex(value string) int {
	return slices.IndexFunc(q.Options, func(o Option) bool { return o.Value == value })
}

func (q Question) checkTyped(s string) (Answer, string) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if q.Widget != WidgetText && q.Widget != WidgetTextarea {
		s = strings.TrimSpace(s)
	}
	if strings.TrimSpace(s) == "" {
		if q.IsRequired() {
			return Answer{}, "Enter an answer."
		}
		return Answer{}, ""
	}
	n, limit := utf8.RuneCountInString(s), cmp.Or(q.MaxLength, DefaultMaxLength)
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return Answer{}, "That text is not valid."
	case q.Widget != WidgetTextarea && strings.Contains(s, "\n"):
		return Answer{}, "Enter a single line."
	case n < q.MinLength:
		return Answer{}, "Enter at least " + strconv.Itoa(q.MinLength) + " characters."
	case n > limit:
		return Answer{}, "Enter at most " + strconv.Itoa(limit) + " characters."
	}
	a, problem := q.convert(s)
	if problem == "" && !q.matches(s) {
		return Answer{}, "That does not match the required format: " + cmp.Or(q.PatternHint, q.Pattern)
	}
	return a, problem
}

func (q Question) matches(s string) bool {
	if q.Pattern == "" {
		return true
	}
	re, err := q.pattern()
	return err == nil && re.MatchString(s)
}

// timeOfDay also accepts an hour with one digit, because people type it.
var timeOfDay = lazyregexp.New(`^([01]?\d|2[0-3]):([0-5]\d)$`)

// convert returns the value of a typed text.
func (q Question) convert(s string) (Answer, string) {
	switch q.Widget {
	case WidgetNumber:
		return q.number(s)
	case WidgetDate:
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return Answer{}, "Enter a date such as 2026-11-21."
		}
	case WidgetTime:
		m := timeOfDay.FindStringSubmatch(s)
		if m == nil {
			return Answer{}, "Enter a time such as 14:30."
		}
		if len(m[1]) == 1 {
			s = "0" + s
		}
	case WidgetDateTime:
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return Answer{}, "Enter a date, time and offset such as 2026-11-21T14:30:00Z or 2026-11-21T14:30:00+01:00."
		}
	case WidgetEmail:
		if !isEmail(s) {
			return Answer{}, "Enter an email address such as name@example.com."
		}
	case WidgetURL:
		if !isURL(s) {
			return Answer{}, "Enter a full URL such as https://example.com/."
		}
	}
	return TextAnswer(s), ""
}

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && strings.Contains(s[strings.LastIndex(s, "@"):], ".")
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "") && !strings.ContainsAny(s, " \"<>\\^`{|}")
}

// wholeNumber accepts digits only. In some countries, 1.000 means one thousand,
// and not every agent reads 1e3 as an integer.
var wholeNumber = lazyregexp.New(`^-?\d+$`)

func (q Question) number(s string) (Answer, string) {
	var f float64
	if err := json.Unmarshal([]byte(s), &f); err != nil || math.IsInf(f, 0) {
		return Answer{}, "Enter " + q.bounds() + "."
	}
	switch {
	case q.Integer && !wholeNumber.MatchString(s), q.Min != nil && f < *q.Min, q.Max != nil && f > *q.Max:
		return Answer{}, "Enter " + q.bounds() + "."
	}
	if s == "-0" && q.Integer {
		s = "0"
	}
	return JSONAnswer(s), ""
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// numbers holds the limits of a number in a form that have no field in
// Question. A nil field means no limit.
type numbers struct{ above, below, step *float64 }

// numberType sets the limits of a number. It rounds the limits of an integer
// inward.
func (f *Field) numberType(at string, all memberList) error {
	n := &numbers{}
	minimum, above, err := limits(at, "minimum", "exclusiveMinimum", all)
	if err != nil {
		return err
	}
	maximum, below, err := limits(at, "maximum", "exclusiveMaximum", all)
	if err != nil {
		return err
	}
	if err := decode(at+".multipleOf", all.get("multipleOf"), &n.step); err != nil {
		return err
	}
	if n.step != nil && *n.step <= 0 {
		return Errorf(CodeInvalid, "%s.multipleOf: must be more than 0", at)
	}
	f.Min, f.Max = minimum, maximum
	if !f.Integer {
		n.above, n.below = above, below
		above, below = nil, nil
	}
	if above != nil {
		if least := math.Floor(*above) + 1; f.Min == nil || least > *f.Min {
			f.Min = &least
		}
	}
	if below != nil {
		if most := math.Ceil(*below) - 1; f.Max == nil || most < *f.Max {
			f.Max = &most
		}
	}
	if *n != (numbers{}) {
		f.numbers = n
	}
	return nil
}

// limits returns the inclusive limit and the exclusive limit of a number. In
// old versions of JSON Schema, the exclusive keyword is true or false, and true
// makes the other limit exclusive.
func limits(at, plain, exclusive string, all memberList) (included, excluded *float64, err error) {
	var only bool
	if json.Unmarshal(all.get(exclusive), &only) == nil {
		all = all.without(exclusive)
	}
	err = FirstOf(errors.Join(decode(at+"."+plain, all.get(plain), &included), decode(at+"."+exclusive, all.get(exclusive), &excluded)))
	if only {
		return nil, included, err
	}
	return included, excluded, err
}

// checkNumber is Check for a number with its own limits.
func (f Field) checkNumber(a Answer, other string) (Answer, string) {
	a, problem := f.Question.Check(a, other)
	switch {
	case problem == "Enter "+f.Question.bounds()+".", problem == "" && !a.Empty() && !f.numbers.take(a.String()):
		return Answer{}, "Enter " + f.bounds() + "."
	}
	return a, problem
}

// take reports whether a number is within the limits. The number must be valid
// JSON.
func (n numbers) take(s string) bool {
	var v float64
	if json.Unmarshal([]byte(s), &v) != nil || n.above != nil && v <= *n.above || n.below != nil && v >= *n.below {
		return false
	}
	if n.step == nil || v == 0 { // the exponent of any other number is small
		return true
	}
	value, ok := new(big.Rat).SetString(s)
	step, known := new(big.Rat).SetString(formatNumber(*n.step))
	return ok && known && new(big.Rat).Quo(value, step).IsInt()
}

// Example returns an example of an answer: the limits of a number, or the
// example of the question.
func (f Field) Example() string {
	if f.numbers != nil {
		return f.bounds()
	}
	return f.Question.Example()
}

// bounds describes the accepted numbers.
func (f Field) bounds() string {
	s := f.Question.bounds()
	for _, end := range []struct {
		words string
		value *float64
	}{{"more than ", f.numbers.above}, {"less than ", f.numbers.below}, {"a multiple of ", f.numbers.step}} {
		if end.value != nil {
			s += ", " + end.words + formatNumber(*end.value)
		}
	}
	return s
}
