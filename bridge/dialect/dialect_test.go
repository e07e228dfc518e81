package dialect_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/render"
)

func choice(w bridge.Widget, other bool) bridge.Question {
	return bridge.Question{ID: "q", Widget: w, AllowOther: other, Options: []bridge.Option{
		{Value: "eu", Label: "Europe"}, {Value: "us"}, {Value: "both", Label: "Europe, us"},
	}}
}

// TestDecode checks that an ambiguous value is rejected with an error that
// names its location.
func TestDecode(t *testing.T) {
	t.Parallel()
	var v struct {
		A struct{ B int } `json:"a"`
	}
	if err := dialect.Decode("input", []byte(`{"a":{"B":1},"unknown":2}`), &v); err != nil || v.A.B != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	for in, names := range map[string]string{`{"a":{"B":1,"B":2}}`: "input.a", `{`: "input", `{"a":{"B":"x"}}`: "input"} {
		err := dialect.Decode("input", []byte(in), &v)
		if bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestEncode checks that text is not escaped and that there is no final
// newline.
func TestEncode(t *testing.T) {
	t.Parallel()
	if b, err := dialect.Encode(map[string]string{"a": "<b> & c"}); err != nil || string(b) != `{"a":"<b> & c"}` {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := dialect.Encode(make(chan int)); bridge.ErrorCode(err) != bridge.CodeInternal {
		t.Errorf("a value that JSON cannot represent: %v", err)
	}
}

// TestCode checks that a card shows a tool's name with every character.
func TestCode(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mcp__github__create_issue", "__init__", "a*b_c", "run`x`", "`", "``a", "<b>[x](y)\\z"} {
		if got := render.PlainText(render.Markdown("Allow " + dialect.Code(name) + "?")); got != "Allow "+name+"?" {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}

// TestRefused checks which states have an answer.
func TestRefused(t *testing.T) {
	t.Parallel()
	for state, answers := range map[bridge.State]bool{
		bridge.StateAnswered: true, bridge.StateApproved: true, bridge.StateDenied: true, bridge.StatePending: false,
		bridge.StateExpired: false, bridge.StateCancelled: false, bridge.StateUndeliverable: false,
	} {
		err := dialect.Refused(bridge.Record{State: state})
		ended, ok := errors.AsType[*bridge.EndedError](err)
		if ok == answers || ok && ended.Record.State != state {
			t.Errorf("%s: %v", state, err)
		}
	}
}

// TestCheckScope checks that a format that does not show what a grant covers
// cannot give one, unless the agent stores the approval itself.
func TestCheckScope(t *testing.T) {
	t.Parallel()
	var ask, approval, own bridge.Interaction
	approval.Approval, own.Approval = &bridge.Approval{}, &bridge.Approval{AgentRemembers: true}
	for d, refused := range map[bridge.Decision]bool{
		bridge.DecideOnce: false, bridge.DecideDeny: false, bridge.DecideSession: true, bridge.DecideAlways: true,
	} {
		if err := dialect.CheckScope(approval, d); (bridge.ErrorCode(err) == bridge.CodeInvalid) != refused {
			t.Errorf("%s: %v", d, err)
		}
		if err := errors.Join(dialect.CheckScope(ask, d), dialect.CheckScope(own, d)); err != nil {
			t.Errorf("%s where nod gives no grant: %v", d, err)
		}
	}
}

// TestChoices checks how labels become an answer, and that a text that is not
// an option is free text only if the question allows that.
func TestChoices(t *testing.T) {
	t.Parallel()
	one, many := bridge.WidgetRadio, bridge.WidgetCheckbox
	for name, x := range map[string]struct {
		q      bridge.Question
		labels []string
		want   bridge.Answer
		other  string
		fails  bool
	}{
		"a label":            {choice(one, false), []string{"Europe"}, bridge.TextAnswer("eu"), "", false},
		"a value":            {choice(one, false), []string{"eu"}, bridge.TextAnswer("eu"), "", false},
		"several":            {choice(many, false), []string{"Europe", "us"}, bridge.ListAnswer("eu", "us"), "", false},
		"several, one asked": {choice(one, false), []string{"Europe", "us"}, bridge.Answer{}, "", true},
		"free text":          {choice(one, true), []string{"Asia"}, bridge.TextAnswer(""), "Asia", false},
		"a mix":              {choice(many, true), []string{"us", "Asia"}, bridge.ListAnswer("us"), "Asia", false},
		"two free texts":     {choice(many, true), []string{"Asia", "Mars"}, bridge.Answer{}, "", true},
		"not an option":      {choice(one, false), []string{"Asia"}, bridge.Answer{}, "", true},
		"nothing":            {choice(many, false), nil, bridge.ListAnswer(), "", false},
	} {
		got, other, err := dialect.Choices(x.q, x.labels)
		if (err != nil) != x.fails || x.fails && bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(x.want, got); !x.fails && (d != "" || other != x.other) {
			t.Errorf("%s: free text %q, (-want +got):\n%s", name, other, d)
		}
	}
}

// ambiguous stands for a text that several choices have in common.
const ambiguous = "?"

// TestLabels checks that values become the labels that people see, and that a
// joined list is split again, even if a label contains the separator.
func TestLabels(t *testing.T) {
	t.Parallel()
	q := choice(bridge.WidgetCheckbox, true)
	got := dialect.Labels(q, bridge.ListAnswer("eu", "us", "mars"))
	if d := cmp.Diff([]string{"Europe", "us", "mars"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := dialect.Labels(q, bridge.Answer{}); got == nil || len(got) > 0 {
		t.Errorf("no answer has the labels %#v", got)
	}
	for in, want := range map[string][]string{
		"":                       nil,
		"Europe":                 {"Europe"},
		"Europea, us":            {"Europea", "us"},
		", us":                   {"us"},
		`["Europe","us"]`:        {"Europe", "us"},
		`["Europe, us","Mars"]`:  {"Europe, us", "Mars"},
		`["Europe", 1]`:          {`["Europe", 1]`},
		"Europe, us, Europe":     {ambiguous},
		"Mars, Europe, us":       {ambiguous},
		"Europe, us, Mars, us":   {ambiguous},
		"Mars, us, Venus, Earth": {"Mars", "us", "Venus, Earth"},
	} {
		got, err := dialect.Apart(q, in, ", ")
		if err != nil {
			got = []string{ambiguous}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestElsewhere checks which pending requests a decision at the terminal
// closes: those of the turn, or the one with the same tool and input.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	var call, ask bridge.Interaction
	call.Turn, call.ToolName = "t1", "Bash"
	call.Approval = &bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"a":1,"b":[2]}`)}
	ask.Turn, ask.ToolName = "t1", "AskUserQuestion"
	bash := func(input string) dialect.Elsewhere {
		return dialect.Elsewhere{Tool: "Bash", Input: json.RawMessage(input)}
	}
	for name, x := range map[string]struct {
		e         dialect.Elsewhere
		call, ask bool
	}{
		"of the turn":        {dialect.Elsewhere{Turn: "t1"}, true, true},
		"of another turn":    {dialect.Elsewhere{Turn: "t2"}, false, false},
		"of the session":     {dialect.Elsewhere{Turn: "t2", AllTurns: true}, true, true},
		"of the call":        {bash(`{ "b": [2], "a": 1 }`), true, false},
		"of another call":    {bash(`{"a":1,"b":[3]}`), false, false},
		"of what is no JSON": {bash(`{`), false, false},
		"of another tool":    {dialect.Elsewhere{Tool: "AskUserQuestion"}, false, true},
	} {
		if x.e.Covers(call) != x.call || x.e.Covers(ask) != x.ask {
			t.Errorf("%s: the call %t, the question %t", name, x.e.Covers(call), x.e.Covers(ask))
		}
	}
	call.Approval.Input = json.RawMessage(`{`)
	if !bash(`{`).Covers(call) || bash(`[`).Covers(call) {
		t.Error("inputs that are not JSON are not compared as text")
	}
}

// TestApproved checks that an edited input is the approved one.
func TestApproved(t *testing.T) {
	t.Parallel()
	var r bridge.Record
	r.Interaction.Approval = &bridge.Approval{Input: json.RawMessage(`1`)}
	if got := dialect.Approved(r); string(got) != `1` {
		t.Errorf("without a response: %s", got)
	}
	if r.Response = new(bridge.Response); string(dialect.Approved(r)) != `1` {
		t.Errorf("unchanged: %s", dialect.Approved(r))
	}
	if r.Response.Input = json.RawMessage(`2`); string(dialect.Approved(r)) != `2` {
		t.Errorf("changed: %s", dialect.Approved(r))
	}
}

// TestWhyNot checks that an agent reads who denied a request and why, and that
// only a person or a rule is named as having denied it.
func TestWhyNot(t *testing.T) {
	t.Parallel()
	ana := &bridge.Actor{Person: "ana"}
	for name, x := range map[string]struct {
		state bridge.State
		r     *bridge.Response
		says  []string
	}{
		"by a person":         {bridge.StateDenied, &bridge.Response{Actor: ana}, []string{"Denied by ana."}},
		"with a reason":       {bridge.StateDenied, &bridge.Response{Actor: ana, Reason: "no"}, []string{"Denied by ana: no"}},
		"by a rule":           {bridge.StateDenied, &bridge.Response{Rule: "r", Reason: "no"}, []string{"policy", ": no"}},
		"by its timeout":      {bridge.StateDenied, &bridge.Response{}, []string{"in time", "No person has denied it"}},
		"expired":             {bridge.StateExpired, &bridge.Response{}, []string{"in time", "No person has denied it"}},
		"declined":            {bridge.StateCancelled, &bridge.Response{Actor: ana}, []string{"Declined by ana"}},
		"withdrawn":           {bridge.StateCancelled, &bridge.Response{WithdrawnBy: ana}, []string{"cancelled by ana"}},
		"by the agent":        {bridge.StateCancelled, &bridge.Response{Reason: "over"}, []string{"cancelled before", ": over"}},
		"undeliverable":       {bridge.StateUndeliverable, &bridge.Response{Reason: "no chat"}, []string{": no chat"}},
		"undeliverable, bare": {bridge.StateUndeliverable, nil, []string{"asked."}},
		"superseded":          {bridge.StateSuperseded, nil, []string{"superseded"}},
	} {
		got := dialect.WhyNot(bridge.Record{State: x.state, Response: x.r})
		for _, want := range x.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not contain %q", name, got, want)
			}
		}
		denied := strings.HasPrefix(got, "Denied")
		if byPerson := x.state == bridge.StateDenied && (x.r.Actor != nil || x.r.Rule != ""); denied != byPerson {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestHookBOM checks that a byte-order mark before the input of a hook is dropped,
// wherever the input is split.
func TestHookBOM(t *testing.T) {
	t.Parallel()
	const input = `{"hook_event_name":"PreToolUse","tool_name":"Bash"}`
	for split := range 5 {
		in := dialect.NewHookInput(func(string) bool { return false })
		marked := "\ufeff" + input
		for _, part := range []string{marked[:split], marked[split:]} {
			if n, err := in.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if body, err := in.Body(); err != nil || string(body) != input || in.Event() != "PreToolUse" {
			t.Errorf("split at %d: %q, %q, %v", split, body, in.Event(), err)
		}
	}
	if got := dialect.TrimBOM([]byte("\ufeff" + input)); string(got) != input {
		t.Errorf("a whole input becomes %q", got)
	}
}

// TestHookReport checks that a report keeps only the members that nod reads and
// that have one meaning, regardless of their length.
func TestHookReport(t *testing.T) {
	t.Parallel()
	const event = `"hook_event_name":"Stop"`
	for name, x := range map[string]struct{ in, want string }{
		"others":                {`{"x":{"session_id":"y"},"session_id":"s",` + event + `}`, `{` + event + `,"session_id":"s"}`},
		"the same twice":        {`{` + event + `,"session_id":"s","session_id":"s"}`, `{` + event + `,"session_id":"s"}`},
		"two sessions":          {`{` + event + `,"session_id":"s","session_id":"x"}`, `{` + event + `}`},
		"an ambiguous value":    {`{` + event + `,"tool_input":{"a":1,"a":2}}`, `{` + event + `}`},
		"a value":               {`{` + event + `,"tool_input":{"a":[1, true]},"stop_hook_active":true}`, `{` + event + `,"stop_hook_active":true,"tool_input":{"a":[1,true]}}`},
		"invalid UTF-8":         {`{` + event + `,"message":"a` + "\xff" + `"}`, `{` + event + `,"message":"a` + "\ufffd" + `"}`},
		"an escaped text":       {`{` + event + `,"message":"\"}\\"}`, `{` + event + `,"message":"\"}\\"}`},
		"a long text":           {`{` + event + `,"message":"` + strings.Repeat("é", 1<<20) + `"}`, `{` + event + `,"message":"` + strings.Repeat("é", 2<<10) + `"}`},
		"a long list":           {`{` + event + `,"background_tasks":[` + strings.Repeat(`{},`, 1<<20) + `1]}`, `{` + event + `,"background_tasks":[null]}`},
		"a long value":          {`{` + event + `,"tool_input":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, `{` + event + `}`},
		"the end of it is gone": {`{` + event + `,"session_id":"s","message":"a`, `{` + event + `,"session_id":"s"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := dialect.NewHookInput(func(string) bool { return true })
			_, _ = in.Write([]byte(x.in)) // Write never fails
			if got, err := in.Body(); err != nil || string(got) != x.want {
				t.Errorf("it is %.200s, %v; want %.200s", got, err, x.want)
			}
			if got := in.Events(); !slices.Equal(got, []string{"Stop"}) {
				t.Errorf("the events are %q, want Stop", got)
			}
			if got, want := len(in.Sessions()) > 1, name == "two sessions"; got != want {
				t.Errorf("the sessions are %q, several is %t", in.Sessions(), want)
			}
			if got, want := in.True("stop_hook_active"), name == "a value"; got != want {
				t.Errorf("stop_hook_active is %t, want %t", got, want)
			}
		})
	}
	in := dialect.NewHookInput(func(string) bool { return false })
	_, _ = in.Write([]byte(`{"message":"` + strings.Repeat("x", dialect.MaxHookBody))) // Body tells it
	if got, err := in.Body(); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("an input that asks and is too long has the body %.20q, %v", got, err)
	}
}
