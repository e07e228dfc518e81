package dialect

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Exchange is a request in a message, with a function that returns the outcome
// in the format of the message.
type Exchange struct {
	// Request is the request. Its CallID contains the ID that the agent
	// generated for the call, if the message has one.
	Request bridge.Request
	// Encode returns the outcome of a closed request in the format of the
	// message. Its error is a *bridge.EndedError if the format cannot express
	// the outcome. The record must contain the texts that the agent sent; see
	// Answer.
	Encode func(bridge.Record) (any, error)
	// Names translates the names of fields in errors with the request to
	// those of the message. If it is nil, the names stay unchanged.
	Names Names
}

// NoDecision is the output of a hook that decides nothing.
type NoDecision struct{}

// Answer returns the outcome of a closed request in the format of the message.
// It contains the texts that the agent sent, even if they were redacted for
// people. If the agent must decide on a call itself, the outcome contains no
// decision.
func (x Exchange) Answer(rec bridge.Record) (any, error) {
	if x.Request.OnlyRules && rec.State == bridge.StateCancelled && rec.Response.Reason == bridge.ReasonLeft {
		return NoDecision{}, nil
	}
	return x.Encode(AsSent(rec, x.Request.Ask))
}

// AsSent returns a record in which the texts from the agent replace the
// redacted ones.
func AsSent(rec bridge.Record, sent bridge.Ask) bridge.Record {
	if rec.Interaction.Redacted == 0 || sent.Normalize() != nil {
		return rec
	}
	i := &rec.Interaction
	i.Prompt, i.Error, i.CompletedView = sent.Prompt, sent.Error, sent.CompletedView
	if len(i.Questions) == len(sent.Questions) {
		i.Questions = sent.Questions
	}
	if i.Approval != nil && sent.Approval != nil {
		a := *i.Approval
		a.Tool, a.Input, a.Key, a.Where = sent.Approval.Tool, sent.Approval.Input, sent.Approval.Key, sent.Approval.Where
		i.Approval = &a
	}
	return rec
}

// Translation holds the requests of a message.
type Translation struct {
	Exchanges []Exchange
	// Answer is the answer if the message contains no requests.
	Answer any
	// Join combines the answers of several exchanges in their order. If it is
	// nil, the message has one exchange, and its answer is used unchanged.
	Join func([]any) (any, error)
	// Partly reports problems with some parts of the message. nod asks people
	// about the other parts only.
	Partly error
	// UnlessPending is a session. If the session has a pending request, the
	// message contains nothing new, and only Answer is used.
	UnlessPending string
	// Elsewhere, if not nil, reports a decision that was made without nod.
	Elsewhere *Elsewhere
	// Report, if not nil, is the report about the session in the message.
	Report *Report
}

// Elsewhere reports that people decided pending requests of a session at the
// agent's own terminal.
type Elsewhere struct {
	Session string
	// Tool and Input identify the request. An empty Tool means all requests of
	// the turn, or of the session if AllTurns is set.
	Tool     string
	Input    json.RawMessage
	Turn     string
	AllTurns bool
	// Call is the ID of the call, if the report contains one.
	Call string
	// Reason is the reason on the cards.
	Reason string
	// Question is set if the call only asks questions.
	Question bool
	// Agrees reports whether the call ran in accordance with a response in
	// chat. If it is nil, an approval is such a response.
	Agrees func(bridge.Record) bool
}

// Covers reports whether the report applies to a request.
func (e Elsewhere) Covers(i bridge.Interaction) bool {
	switch {
	case e.Tool == "":
		return e.AllTurns || i.Turn == e.Turn
	case e.Call != "" && i.ToolCall != "" && i.ToolCall != e.Call:
		return false
	case i.Approval != nil:
		return i.Approval.Tool == e.Tool && SameJSON(i.Approval.Input, e.Input)
	}
	return i.ToolName == e.Tool
}

// Decides returns the pending requests that the report is about. Pending is
// sorted, oldest first. It also reports whether the report is about one call:
// the call with its ID, or otherwise the oldest one of its turn. Another call
// with the same content stays pending.
func (e Elsewhere) Decides(pending []bridge.Interaction) (decided []bridge.Interaction, one bool) {
	covered := slices.DeleteFunc(slices.Clone(pending), func(i bridge.Interaction) bool { return !e.Covers(i) })
	if e.Tool == "" || len(covered) == 0 {
		return covered, false
	}
	for _, own := range []func(bridge.Interaction) bool{
		func(i bridge.Interaction) bool { return e.Call != "" && i.ToolCall == e.Call },
		func(i bridge.Interaction) bool { return i.Turn == e.Turn },
	} {
		if n := slices.IndexFunc(covered, own); n >= 0 {
			return covered[n : n+1], true
		}
	}
	return nil, true
}

// SameJSON reports whether two values are equal, regardless of their
// formatting.
func SameJSON(a, b json.RawMessage) bool {
	if bridge.CheckJSON(a) != nil || bridge.CheckJSON(b) != nil {
		return string(a) == string(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// One returns the translation of a message with one request. ID is the ID that
// the agent generated for the call, with its format. It may be empty.
func One(r bridge.Request, id string, answer func(bridge.Record) (any, error)) Translation {
	r.CallID.ID = id
	return Translation{Exchanges: []Exchange{{Request: r, Encode: answer}}}
}

// CallID returns the ID of a call. It consists of the ID that the agent
// generated, and of values that make it unique in the session. It is empty if
// the agent's ID is empty.
func CallID(format, id string, more ...string) string {
	if id == "" {
		return ""
	}
	parts := append([]string{format, id}, more...)
	for n := range parts {
		parts[n] = url.PathEscape(parts[n])
	}
	return strings.Join(parts, "/")
}

// NeedsInput returns CodeUnsupported if an agent does not send the arguments of
// a call, because people could not see what they approve. An empty object means
// that the call has no arguments.
func NeedsInput(field string, input json.RawMessage) error {
	switch string(bytes.TrimSpace(input)) {
	case "", "null", `""`, "[]":
		return bridge.Errorf(bridge.CodeUnsupported, "%s: missing, so no card can show what would be done", field).
			WithHint("answer it where the agent runs")
	}
	return nil
}

// OnlyRules lets only policy rules ask people about the requests of a message;
// see [bridge.Request].
func (t Translation) OnlyRules() {
	for n := range t.Exchanges {
		t.Exchanges[n].Request.OnlyRules = true
	}
}

// Gated limits a message to the requests that the given gates or policy rules
// select. Without gates, all of its requests need a decision.
func (t Translation) Gated(gates string) {
	if gates == "" {
		return
	}
	t.OnlyRules()
	for n := range t.Exchanges {
		t.Exchanges[n].Request.Gate = gates
	}
}

// Identify sets the identity of the call that sent the message on its requests.
// A request without an ID of its own gets the ID of the call. Requests with the
// same ID get a number, because a message does not repeat its own requests.
func (t Translation) Identify(by bridge.CallID) {
	seen := map[string]int{}
	for n := range t.Exchanges {
		c := &t.Exchanges[n].Request.CallID
		if c.ID == "" {
			c.ID = by.ID
		}
		c.Connection, c.Key, c.Caller, c.Part = by.Connection, by.Key, by.Caller, n
		if c.ID == "" {
			continue
		}
		if seen[c.ID]++; seen[c.ID] > 1 {
			c.ID += "#" + strconv.Itoa(seen[c.ID])
		}
	}
}

// Approved returns the approved input: the edited input, or otherwise the
// original.
func Approved(r bridge.Record) json.RawMessage {
	if r.Response != nil && len(r.Response.Input) > 0 {
		return r.Response.Input
	}
	return r.Interaction.Approval.Input
}

// WhyNot returns a sentence that tells an agent why it gets no answer, or why
// the request was denied. It never calls a timeout a denial.
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
	if r.Response.Stops() {
		return "No person has denied this. The session is " + reason + "."
	}
	switch r.State {
	case bridge.StateDenied:
		if r.Response.Rule != "" {
			return with("Denied by the policy, and no person was asked")
		}
		if r.Response.Actor == nil {
			return "No one answered in time, and the request treats that as a denial. No person has denied it."
		}
		return with("Denied" + who)
	case bridge.StateExpired:
		return "No one answered in time. No person has denied it; ask again or continue without an answer."
	case bridge.StateCancelled:
		if who != "" {
			return with("Declined" + who + ", without an answer")
		}
		if by := r.Response.WithdrawnBy; by != nil {
			return with("The request was cancelled by " + by.Display())
		}
		return with("The request was cancelled before anyone answered")
	case bridge.StateUndeliverable:
		return with("No one could be asked")
	}
	return "There is no answer: " + r.Outcome() + "."
}
