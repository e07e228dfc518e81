// Package dialect holds the code that the translators in its subdirectories
// share. Each translator converts the wire format of another system to bridge
// requests, and bridge records back to that format.
//
// These packages are pure: they have no I/O, no clock and no state. The golden
// files of each translator fix its format. Connections, waiting and retries
// belong to the entry points. Start with [Translation] in exchange.go, and with
// one translator, such as claudecode.
package dialect

import (
	"errors"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Decode decodes a JSON value that has only one meaning; see strictjson. It
// ignores unknown fields, like the systems that define these formats. If the
// value is invalid, it returns CodeInvalid. The message starts with what and
// the location in the value.
func Decode(what string, raw []byte, v any) error {
	err := strictjson.Decode(raw, v)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Path != "" {
		return bridge.Errorf(bridge.CodeInvalid, "%s.%s: %s", what, e.Path, e.Reason)
	}
	return bridge.Errorf(bridge.CodeInvalid, "%s: %s", what, err)
}

// Encode encodes a value like these systems: compact, and without escapes for
// HTML.
func Encode(v any) ([]byte, error) {
	raw, err := bridge.EncodeJSON(v)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "answer")
	}
	return raw, nil
}

// Code returns a name as a Markdown code span, which shows every character.
func Code(name string) string {
	fence := "`"
	for strings.Contains(name, fence) {
		fence += "`"
	}
	if strings.HasPrefix(name, "`") || strings.HasSuffix(name, "`") {
		name = " " + name + " "
	}
	return fence + name + fence
}

// Fenced returns a text as a Markdown code block, which shows every line.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// Refused returns an error for a record without an answer, such as one that
// expired, was cancelled or could not be delivered. It returns nil for a record
// with an answer.
func Refused(r bridge.Record) error {
	switch r.State {
	case bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied:
		return nil
	}
	return &bridge.EndedError{Record: r}
}

// CheckScope returns an error if a decision would create a grant in nod. A
// format that does not show the coverage of a grant cannot offer such a
// decision.
func CheckScope(i bridge.Interaction, d bridge.Decision) error {
	if i.Approval == nil || i.Approval.AgentRemembers || d != bridge.DecideSession && d != bridge.DecideAlways {
		return nil
	}
	return bridge.Errorf(bridge.CodeInvalid, "decision: %q is not allowed here, because the front end does not show what a grant covers", d).WithHint("approve once, or respond on the card")
}

// Label returns the label of the option with a value, or the value itself.
func Label(q bridge.Question, value string) string {
	for _, o := range q.Options {
		if o.Value == value {
			return o.Text()
		}
	}
	return value
}

// Labels returns the labels for an answer's values.
func Labels(q bridge.Question, a bridge.Answer) []string {
	out := []string{}
	for _, v := range a.Values() {
		out = append(out, Label(q, v))
	}
	return out
}

// Choices returns the answer for labels in a question with options. If the
// question allows free text, a text that is not a label is free text. The error
// is CodeInvalid.
func Choices(q bridge.Question, labels []string) (bridge.Answer, string, error) {
	values, other := []string{}, ""
	for _, l := range labels {
		value, known := "", false
		for _, o := range q.Options {
			if o.Text() == l || o.Value == l {
				value, known = o.Value, true
			}
		}
		switch {
		case known:
			values = append(values, value)
		case !q.AllowOther || other != "":
			return bridge.Answer{}, "", bridge.Errorf(bridge.CodeInvalid, "answers.%s: %q is not one of the options", q.ID, l)
		default:
			other = l
		}
	}
	if q.Multiple() {
		return bridge.ListAnswer(values...), other, nil
	}
	if len(values) > 1 {
		return bridge.Answer{}, "", bridge.Errorf(bridge.CodeInvalid, "answers.%s: only one of %q is allowed", q.ID, labels)
	}
	return bridge.TextAnswer(strings.Join(values, "")), other, nil
}
