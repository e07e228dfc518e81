package dialect

import (
	"encoding/json"
	"reflect"

	"github.com/nodbridge/nod/bridge"
)

// Exchange is one thing that a message asks a human, and how its end is
// written in the message's own format.
type Exchange struct {
	Request bridge.Request
	Key     string // idempotency key; empty: none
	// Answer writes a record that has ended. Its error is a
	// *bridge.EndedError where the format has no form for that end.
	Answer func(bridge.Record) (any, error)
}

// Translation is what a message asks for.
type Translation struct {
	Exchanges []Exchange
	// Answer stands where no human is needed.
	Answer any
	// Join makes the answer of several exchanges, in their order; nil: there
	// is one, and its answer stands alone.
	Join func([]any) (any, error)
	// Elsewhere means that something was decided without nod.
	Elsewhere *Elsewhere
}

// Elsewhere is a report that what is pending in a session has been decided at
// the agent's own terminal.
type Elsewhere struct {
	Session string
	// Tool and Input name the one that was; an empty Tool means all of the
	// turn, and with AllTurns of the session.
	Tool     string
	Input    json.RawMessage
	Turn     string
	AllTurns bool
	// Reason is what people read on the cards.
	Reason string
}

// Covers reports whether it speaks of an interaction.
func (e Elsewhere) Covers(i bridge.Interaction) bool {
	switch {
	case e.Tool == "":
		return e.AllTurns || i.Turn == e.Turn
	case i.Approval != nil:
		return i.Approval.Tool == e.Tool && sameJSON(i.Approval.Input, e.Input)
	}
	return i.ToolName == e.Tool
}

// sameJSON compares two values except for how they are written.
func sameJSON(a, b json.RawMessage) bool {
	if bridge.CheckJSON(a) != nil || bridge.CheckJSON(b) != nil {
		return string(a) == string(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// One is the translation of a message that asks one thing.
func One(r bridge.Request, key string, answer func(bridge.Record) (any, error)) Translation {
	return Translation{Exchanges: []Exchange{{Request: r, Key: key, Answer: answer}}}
}

// Approved is the input that was approved: a person's own, else the one that
// was asked for.
func Approved(r bridge.Record) json.RawMessage {
	if r.Response != nil && len(r.Response.Input) > 0 {
		return r.Response.Input
	}
	return r.Interaction.Approval.Input
}

// WhyNot says in words, to an agent, why there is no answer or what the denial
// was. It never calls silence a denial.
func WhyNot(r bridge.Record) string {
	reason := ""
	if r.Response != nil {
		reason = r.Response.Reason
	}
	who := ""
	if r.Response != nil && r.Response.Actor != nil {
		who = " by " + r.Response.Actor.Display()
	}
	with := func(s string) string {
		if reason == "" {
			return s + "."
		}
		return s + ": " + reason
	}
	switch r.State {
	case bridge.StateDenied:
		if r.Response.Rule != "" {
			return with("Denied by the policy, and no person was asked")
		}
		if r.Response.Actor == nil {
			return "Nobody answered in time, and the request was set to count that as a denial. No person has denied it."
		}
		return with("Denied" + who)
	case bridge.StateExpired:
		return "Nobody answered in time. No person has denied it; ask again or do without."
	case bridge.StateCancelled:
		if who != "" {
			return with("Declined" + who + ", without an answer")
		}
		if by := r.Response.WithdrawnBy; by != nil {
			return with("The request was withdrawn by " + by.Display())
		}
		return with("The request was withdrawn before anybody answered")
	case bridge.StateUndeliverable:
		return with("Nobody could be asked")
	}
	return "There is no answer: " + r.Outcome() + "."
}
