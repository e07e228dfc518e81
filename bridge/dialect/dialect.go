// Package dialect holds what the translators below it share. Each of them
// turns the wire format of another system into bridge requests, and bridge
// records back into that format.
//
// What belongs here and below is pure: no I/O, no clock, no state. The golden
// files of each translator pin its format. Connections, waiting and retries
// belong to the entry points.
package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Decode reads one JSON value that has only one meaning: see strictjson. It
// ignores unknown members, as the systems that these formats come from do. The
// error is CodeInvalid and names what.
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

// Encode writes a value as these systems do: compact, and without escaping
// what only HTML would mind.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "answer")
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Refused is the error of a record that brought no answer to give back: it
// expired, was withdrawn, could not be delivered. Nil for one that did.
func Refused(r bridge.Record) error {
	switch r.State {
	case bridge.StateAnswered, bridge.StateApproved, bridge.StateDenied:
		return nil
	}
	return &bridge.EndedError{Record: r}
}

// CheckScope returns an error if a decision would give a grant of nod. A format
// that does not show what the grant covers cannot take that decision.
func CheckScope(i bridge.Interaction, d bridge.Decision) error {
	if i.Approval == nil || i.Approval.AgentRemembers || d != bridge.DecideSession && d != bridge.DecideAlways {
		return nil
	}
	return bridge.Errorf(bridge.CodeInvalid, "decision: %q is not on offer here, where its coverage is not shown", d).WithHint("approve once, or use the card")
}

// Label is what a human read on the option of a value, else the value.
func Label(q bridge.Question, value string) string {
	for _, o := range q.Options {
		if o.Value == value {
			return o.Text()
		}
	}
	return value
}

// Labels are the labels of an answer's values.
func Labels(q bridge.Question, a bridge.Answer) []string {
	out := []string{}
	for _, v := range a.Values() {
		out = append(out, Label(q, v))
	}
	return out
}

// Choices turns labels into an answer to a question with options: what is no
// label is free text, where the question takes it. The error is CodeInvalid.
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
			return bridge.Answer{}, "", bridge.Errorf(bridge.CodeInvalid, "answers: %q is not one of the options", l)
		default:
			other = l
		}
	}
	if q.Multiple() {
		return bridge.ListAnswer(values...), other, nil
	}
	if len(values) > 1 {
		return bridge.Answer{}, "", bridge.Errorf(bridge.CodeInvalid, "answers: only one of %q can be chosen", labels)
	}
	return bridge.TextAnswer(strings.Join(values, "")), other, nil
}

// SplitLabels takes a list of labels joined by sep apart; labels that hold sep
// themselves are recognized.
func SplitLabels(q bridge.Question, s, sep string) []string {
	var out []string
	for s != "" {
		best := ""
		for _, o := range q.Options {
			if t := o.Text(); len(t) > len(best) && (s == t || strings.HasPrefix(s, t+sep)) {
				best = t
			}
		}
		if best == "" {
			best, _, _ = strings.Cut(s, sep)
		}
		if best != "" {
			out = append(out, best)
		}
		s = strings.TrimPrefix(strings.TrimPrefix(s, best), sep)
	}
	return out
}
