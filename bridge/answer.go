package bridge

import (
	"encoding/json"
	"strings"
)

// Answer is the value given to one question: a string, or a list of strings
// for a question that takes several. On the wire it is a JSON string or a JSON
// array of strings. The zero value is the empty string.
type Answer struct {
	Text string
	List []string // non-nil for a list, even an empty one
}

// TextAnswer is a single value.
func TextAnswer(s string) Answer { return Answer{Text: s} }

// ListAnswer is a list of values.
func ListAnswer(values ...string) Answer {
	if values == nil {
		values = []string{}
	}
	return Answer{List: values}
}

// Values returns the chosen values, none for an empty string.
func (a Answer) Values() []string {
	if a.List != nil {
		return a.List
	}
	if a.Text == "" {
		return nil
	}
	return []string{a.Text}
}

// Empty reports whether nothing was given.
func (a Answer) Empty() bool { return len(a.Values()) == 0 }

// String is the value as one line for people and shells: lists are joined by
// commas.
func (a Answer) String() string {
	if a.List != nil {
		return strings.Join(a.List, ",")
	}
	return a.Text
}

// MarshalJSON writes a string or an array.
func (a Answer) MarshalJSON() ([]byte, error) {
	if a.List != nil {
		return json.Marshal(a.List)
	}
	return json.Marshal(a.Text)
}

// UnmarshalJSON reads a string or an array of strings.
func (a *Answer) UnmarshalJSON(b []byte) error {
	*a = Answer{}
	if len(b) > 0 && b[0] == '[' {
		a.List = []string{}
		return json.Unmarshal(b, &a.List)
	}
	return json.Unmarshal(b, &a.Text)
}
