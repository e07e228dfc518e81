package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Answer is the value given to one question: a string, a list of strings if the
// question takes several values, or another JSON value. Other JSON values are
// numbers, true and false, lists that contain one of these, and the object of a
// question with several fields. The zero value is the empty string. At most one
// field is set.
type Answer struct {
	Text string
	List []string        // not nil for a list, including an empty one
	JSON json.RawMessage // any other value
}

// TextAnswer returns an answer with a single value.
func TextAnswer(s string) Answer { return Answer{Text: s} }

// ListAnswer returns an answer with a list of values.
func ListAnswer(values ...string) Answer {
	if values == nil {
		values = []string{}
	}
	return Answer{List: values}
}

// JSONAnswer returns an answer that is neither a string nor a list of strings.
func JSONAnswer(raw string) Answer { return Answer{JSON: json.RawMessage(raw)} }

// null reports whether the answer is an explicit null. Such an answer counts as
// empty, but stays in the object of a form.
func (a Answer) null() bool { return string(a.JSON) == "null" }

// Values returns the chosen values. It returns none for an empty string or null.
func (a Answer) Values() []string {
	switch {
	case a.null():
		return nil
	case a.List != nil:
		return a.List
	case a.JSON != nil:
		return []string{string(a.JSON)}
	case a.Text == "":
		return nil
	}
	return []string{a.Text}
}

// Empty reports whether the answer has no value.
func (a Answer) Empty() bool { return len(a.Values()) == 0 }

// String returns the value on one line, for people and shells. It joins the
// values of a list with commas. If a value contains a comma, it returns the
// list as JSON.
func (a Answer) String() string {
	switch {
	case a.null():
		return ""
	case slices.ContainsFunc(a.List, func(v string) bool { return strings.Contains(v, ",") }):
		raw, _ := EncodeJSON(a.List) // encoding strings never fails
		return string(raw)
	case a.List != nil:
		return strings.Join(a.List, ",")
	case a.JSON != nil:
		return string(a.JSON)
	}
	return a.Text
}

// Object returns the members of an object. It returns false for any other
// value.
func (a Answer) Object() (map[string]Answer, bool) {
	if len(a.JSON) == 0 || a.JSON[0] != '{' {
		return nil, false
	}
	m := map[string]Answer{}
	if err := json.Unmarshal(a.JSON, &m); err != nil {
		return nil, false
	}
	return m, true
}

// MarshalJSON implements json.Marshaler. It writes the value unchanged.
func (a Answer) MarshalJSON() ([]byte, error) {
	switch {
	case a.List != nil:
		return json.Marshal(a.List)
	case a.JSON != nil:
		return a.JSON, nil
	}
	return json.Marshal(a.Text)
}

// UnmarshalJSON implements json.Unmarshaler. It reads any value.
func (a *Answer) UnmarshalJSON(b []byte) error {
	*a = Answer{}
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return nil
	case b[0] == '[':
		a.List = []string{}
		if json.Unmarshal(b, &a.List) == nil {
			return nil
		}
		a.List = nil
	case b[0] == '"':
		return json.Unmarshal(b, &a.Text)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return err
	}
	a.JSON = compact.Bytes()
	return nil
}
