package bridge

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Check returns the answer as it is stored, or a sentence for the human that
// says what is wrong with it. Other is free text typed beside the options.
func (q Question) Check(a Answer, other string) (Answer, string) {
	if q.FreeText() {
		return q.checkTyped(a.String())
	}
	values := slices.Clone(a.Values())
	for _, v := range values {
		if !slices.ContainsFunc(q.Options, func(o Option) bool { return o.Value == v }) {
			return Answer{}, "That is not one of the options."
		}
	}
	slices.SortFunc(values, func(x, y string) int { return q.optionIndex(x) - q.optionIndex(y) })
	values = slices.Compact(values)
	if other = strings.TrimSpace(other); other != "" {
		if !q.AllowOther {
			return Answer{}, "Only the given options can be chosen."
		}
		if utf8.RuneCountInString(other) > DefaultMaxLength {
			return Answer{}, "That is longer than " + strconv.Itoa(DefaultMaxLength) + " characters."
		}
		if !q.Multiple() {
			values = nil // typed text stands instead of a choice
		}
		values = append(values, other)
	}
	if q.Multiple() {
		if len(values) == 0 && q.IsRequired() {
			return Answer{}, "Choose at least one."
		}
		return ListAnswer(values...), ""
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

func (q Question) optionIndex(value string) int {
	return slices.IndexFunc(q.Options, func(o Option) bool { return o.Value == value })
}

func (q Question) checkTyped(s string) (Answer, string) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.TrimSpace(s) == "" {
		if q.IsRequired() {
			return Answer{}, "An answer is needed."
		}
		return Answer{}, ""
	}
	n := utf8.RuneCountInString(s)
	limit := q.MaxLength
	if limit == 0 {
		limit = DefaultMaxLength
	}
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return Answer{}, "That text can not be read."
	case q.Widget == WidgetText && strings.Contains(s, "\n"):
		return Answer{}, "Only one line, please."
	case n < q.MinLength:
		return Answer{}, "Please write at least " + strconv.Itoa(q.MinLength) + " characters."
	case n > limit:
		return Answer{}, "Please write at most " + strconv.Itoa(limit) + " characters."
	}
	if q.Pattern != "" {
		if re, err := q.pattern(); err != nil || !re.MatchString(s) {
			return Answer{}, "That does not have the form asked for: " + q.Pattern
		}
	}
	return TextAnswer(s), ""
}
