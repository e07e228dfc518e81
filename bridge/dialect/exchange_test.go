package dialect_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// TestDecides checks which pending requests a report from the terminal closes:
// that of its own call, and never another call with the same content.
func TestDecides(t *testing.T) {
	t.Parallel()
	call := func(id bridge.ID, turn, toolCall string) bridge.Interaction {
		return bridge.Interaction{ID: id, Ask: bridge.Ask{Turn: turn, ToolCall: toolCall, Approval: &bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"a":1}`)}}}
	}
	pending := []bridge.Interaction{call("1", "t1", "c1"), call("2", "t1", "c2"), call("3", "t2", ""), call("4", "t2", "")}
	bash := func(turn, toolCall string) dialect.Elsewhere {
		return dialect.Elsewhere{Tool: "Bash", Input: json.RawMessage(`{ "a": 1 }`), Turn: turn, Call: toolCall}
	}
	for name, x := range map[string]struct {
		e    dialect.Elsewhere
		want []bridge.ID
		one  bool
	}{
		"a turn":              {dialect.Elsewhere{Turn: "t1"}, []bridge.ID{"1", "2"}, false},
		"the session":         {dialect.Elsewhere{AllTurns: true}, []bridge.ID{"1", "2", "3", "4"}, false},
		"by its ID":           {bash("t1", "c2"), []bridge.ID{"2"}, true},
		"the oldest, no ID":   {bash("t2", ""), []bridge.ID{"3"}, true},
		"the oldest, new ID":  {bash("t2", "c3"), []bridge.ID{"3"}, true},
		"of another turn":     {bash("t3", ""), nil, true},
		"of another tool":     {dialect.Elsewhere{Tool: "Edit", Turn: "t1"}, nil, false},
		"of an unknown turn":  {dialect.Elsewhere{Turn: "t3"}, nil, false},
		"of a turn, wrong ID": {bash("t1", "c9"), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decided, one := x.e.Decides(pending)
			var got []bridge.ID
			for _, i := range decided {
				got = append(got, i.ID)
			}
			if !slices.Equal(got, x.want) || one != x.one {
				t.Errorf("it closes %q, one call is %t; want %q, %t", got, one, x.want, x.one)
			}
		})
	}
}

// TestCalls checks that a report finds the request of its call, and no other one.
func TestCalls(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		id, input string // of the request
		e         dialect.Elsewhere
		found     bool
	}{
		"the same ID":               {"c1", `{"a":1}`, dialect.Elsewhere{Tool: "Bash", Call: "c1"}, true},
		"another ID":                {"c1", `{"a":1}`, dialect.Elsewhere{Tool: "Bash", Call: "c2", Input: json.RawMessage(`{"a":1}`)}, false},
		"an ID in the report only":  {"", `{"a":1,"b":2}`, dialect.Elsewhere{Tool: "Bash", Call: "c1", Input: json.RawMessage(`{"b":2, "a":1}`)}, true},
		"an ID in the request only": {"c1", `{"a":1}`, dialect.Elsewhere{Tool: "Bash", Input: json.RawMessage(`{"a":1}`)}, false},
		"the same input":            {"", `{"a":1}`, dialect.Elsewhere{Tool: "Bash", Input: json.RawMessage(`{ "a": 1 }`)}, true},
		"another input":             {"", `{"a":1}`, dialect.Elsewhere{Tool: "Bash", Input: json.RawMessage(`{"a":2}`)}, false},
		"another tool":              {"", `{"a":1}`, dialect.Elsewhere{Tool: "Edit", Input: json.RawMessage(`{"a":1}`)}, false},
		"ambiguous inputs":          {"", `{"a":1,"a":2}`, dialect.Elsewhere{Tool: "Bash", Input: json.RawMessage(`{"a":1,"a":2}`)}, false},
		"no input":                  {"", ``, dialect.Elsewhere{Tool: "Bash"}, false},
		"a report about a turn":     {"c1", `{"a":1}`, dialect.Elsewhere{Call: "c1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := dialect.CallOf(x.id, "Bash", json.RawMessage(x.input))
			if got := call != "" && slices.Contains(x.e.Calls(), call); got != x.found {
				t.Errorf("%q is found by %q: %t, want %t", call, x.e.Calls(), got, x.found)
			}
		})
	}
}

// TestRan checks that a call counts as approved in chat only if the agent got that
// response and ran the call as it says.
func TestRan(t *testing.T) {
	t.Parallel()
	yes, no := func(bridge.Record) bool { return true }, func(bridge.Record) bool { return false }
	for name, x := range map[string]struct {
		state     bridge.State
		delivered bool
		e         dialect.Elsewhere
		want      string
	}{
		"approved":                  {bridge.StateApproved, true, dialect.Elsewhere{}, bridge.RanApproved},
		"approved, not delivered":   {bridge.StateApproved, false, dialect.Elsewhere{}, bridge.ReasonAllowed},
		"denied":                    {bridge.StateDenied, true, dialect.Elsewhere{}, bridge.ReasonAllowed},
		"an edited input":           {bridge.StateApproved, true, dialect.Elsewhere{Agrees: no}, bridge.ReasonAllowed},
		"answered":                  {bridge.StateAnswered, true, dialect.Elsewhere{Question: true, Agrees: yes}, bridge.RanApproved},
		"answered at the terminal":  {bridge.StateAnswered, true, dialect.Elsewhere{Question: true, Agrees: no}, bridge.ReasonAnswered},
		"answered before it got it": {bridge.StateAnswered, false, dialect.Elsewhere{Question: true, Agrees: yes}, bridge.ReasonAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := bridge.Record{State: x.state}
			if x.delivered {
				r.Delivered = time.Unix(1, 0)
			}
			if got := x.e.Ran(r); got != x.want {
				t.Errorf("it ran as %q, want %q", got, x.want)
			}
		})
	}
}

// TestStep checks the line that names a tool call.
func TestStep(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"description":"Run the tests","command":" go test "}`: "Tool: go test",
		`{"command":["git","push",1]}`:                          "Tool: git push",
		`{"command":[],"path":"a.go"}`:                          "Tool: a.go",
		`{"command":" ","url":"https://example.com"}`:           "Tool: https://example.com",
		`{"count":1}`: "Tool",
		`[1]`:         "Tool",
		``:            "Tool",
	} {
		if got := dialect.Step("Tool", json.RawMessage(input)); got != want {
			t.Errorf("%s is %q, want %q", input, got, want)
		}
	}
}

// requests returns a translation with requests that have these call IDs.
func requests(ids ...string) dialect.Translation {
	var t dialect.Translation
	for _, id := range ids {
		t.Exchanges = append(t.Exchanges, dialect.Exchange{Request: bridge.Request{CallID: bridge.CallID{ID: id}}})
	}
	return t
}

// TestIdentify checks that the requests of a message have different call IDs if
// the message is known, and none otherwise.
func TestIdentify(t *testing.T) {
	t.Parallel()
	for by, want := range map[string][]string{"m": {"m", "x", "x#2", "m#2"}, "": {"", "x", "x#2", ""}} {
		tr := requests("", "x", "x", "")
		tr.Identify(bridge.CallID{ID: by, Connection: "c", Key: "k", Caller: "r"})
		for n, x := range tr.Exchanges {
			expected := bridge.CallID{ID: want[n], Connection: "c", Key: "k", Caller: "r", Part: n}
			if got := x.Request.CallID; got != expected {
				t.Errorf("request %d of %q has %+v, want %+v", n, by, got, expected)
			}
		}
	}
}

// TestGated checks that a gate leaves a message to rules, and that a request which
// no rule decides has no decision.
func TestGated(t *testing.T) {
	t.Parallel()
	for _, gate := range []string{"", "writes"} {
		tr := requests("a", "b")
		tr.Gated(gate)
		for _, x := range tr.Exchanges {
			if x.Request.Gate != gate || x.Request.OnlyRules != (gate != "") {
				t.Errorf("gate %q: the request has %q, only rules %t", gate, x.Request.Gate, x.Request.OnlyRules)
			}
			x.Encode = func(bridge.Record) (any, error) { return "decided", nil }
			var none any = dialect.NoDecision{}
			for reason, want := range map[string]any{bridge.ReasonLeft: none, "over": "decided"} {
				if gate == "" {
					want = "decided"
				}
				rec := bridge.Record{State: bridge.StateCancelled, Response: &bridge.Response{Reason: reason}}
				if got, err := x.Answer(rec); err != nil || got != want {
					t.Errorf("gate %q, %q: %v, %v, want %v", gate, reason, got, err, want)
				}
			}
		}
	}
}

// TestRenames checks that problems have the names of the sender's message.
func TestRenames(t *testing.T) {
	t.Parallel()
	names := dialect.Renames(strings.NewReplacer("question", "field"), `^questions(\[\d+\])`, "fields$1", `^q`, "never", `^prompt$`, "message")
	wrong := bridge.Invalid(
		bridge.FieldError{Field: "questions[1].text", Message: "the question is empty"},
		bridge.FieldError{Field: "prompt", Message: "required"}, bridge.FieldError{Field: "other", Message: "unknown"},
	)
	want := []bridge.FieldError{{Field: "fields[1].text", Message: "the field is empty"}, {Field: "message", Message: "required"}, {Field: "other", Message: "unknown"}}
	if d := cmp.Diff(want, bridge.PublicError(dialect.Named(wrong, names)).Fields); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	lost := errors.New("lost")
	if got := dialect.Named(lost, names); !errors.Is(got, lost) {
		t.Errorf("an error without a code becomes %v", got)
	}
	if got := dialect.Named(wrong, nil); !errors.Is(got, wrong) {
		t.Errorf("without names, it becomes %v", got)
	}
	for n, x := range requests("a", "b").Named(names).Exchanges {
		if x.Names == nil {
			t.Errorf("request %d has no names", n)
		}
	}
	var own bridge.Problems
	own.Add(bridge.Errorf(bridge.CodeInvalid, "kind: unknown"))
	if err := dialect.Refuse(own, bridge.Request{}, names); err == nil || !strings.Contains(err.Error(), "message") {
		t.Errorf("the problems of the request are not told: %v", err)
	}
	if err := dialect.Refuse(nil, bridge.Request{}, names); err != nil {
		t.Errorf("a message without a problem is refused: %v", err)
	}
}
