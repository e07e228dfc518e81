package bridge_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
)

func vote(who string, s bridge.State, covers ...int) bridge.Vote {
	return bridge.Vote{Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Person: who}, State: s, Covers: covers}
}

// TestQuorum checks when votes suffice (with a quorum, required approvers and
// several routes) and which approvals are reported as missing.
func TestQuorum(t *testing.T) {
	t.Parallel()
	yes, no := bridge.StateApproved, bridge.StateDenied
	for name, x := range map[string]struct {
		set     func(*bridge.Interaction)
		votes   []bridge.Vote
		enough  bool
		missing string
	}{
		"one":                {func(*bridge.Interaction) {}, []bridge.Vote{vote("ana", yes)}, true, ""},
		"two of two":         {func(i *bridge.Interaction) { i.Quorum = 2 }, []bridge.Vote{vote("ana", yes), vote("bo", yes)}, true, ""},
		"one of two":         {func(i *bridge.Interaction) { i.Quorum = 2 }, []bridge.Vote{vote("ana", yes), vote("bo", no)}, false, "1 more"},
		"without a required": {func(i *bridge.Interaction) { i.Must = []string{"cy"} }, []bridge.Vote{vote("ana", yes)}, false, "cy"},
		"with a required":    {func(i *bridge.Interaction) { i.Must = []string{"cy"} }, []bridge.Vote{vote("cy", yes, 0)}, true, ""},
		"one of two routes": {func(i *bridge.Interaction) {
			i.Requirements = []bridge.Requirement{{Route: "a"}, {Route: "b", Quorum: 2, Must: []string{"cy"}}}
		}, []bridge.Vote{vote("ana", yes, 0)}, false, "b: 1 more and cy"},
		"a required one of two": {func(i *bridge.Interaction) {
			i.Requirements, i.Quorum = []bridge.Requirement{{Route: "a"}, {Route: "b", Quorum: 2, Must: []string{"cy"}}}, 2
		}, []bridge.Vote{vote("ana", yes, 0), vote("cy", yes, 1, 2)}, false, "b: 1 more"},
		"another one of two": {func(i *bridge.Interaction) {
			i.Requirements = []bridge.Requirement{{Route: "a"}, {Route: "b", Quorum: 2, Must: []string{"cy"}}}
		}, []bridge.Vote{vote("ana", yes, 0), vote("bo", yes, 1)}, false, "b: cy"},
		"both routes": {func(i *bridge.Interaction) {
			i.Requirements = []bridge.Requirement{{Route: "a"}, {Route: "b"}}
		}, []bridge.Vote{vote("ana", yes, 0), vote("bo", yes, 1)}, true, ""},
	} {
		r := bridge.Record{Votes: x.votes}
		x.set(&r.Interaction)
		if r.Enough(yes) != x.enough || r.Missing() != x.missing {
			t.Errorf("%s: %t, missing %q; want %t, %q", name, r.Enough(yes), r.Missing(), x.enough, x.missing)
		}
	}
	r := bridge.Record{Votes: []bridge.Vote{vote("ana", no)}}
	r.Interaction.Quorum = 2
	if !r.Enough(no) {
		t.Error("one denial does not close the request")
	}
	if r.Interaction.DenyCounts = true; r.Enough(no) {
		t.Error("one denial closes a request that counts denials")
	}
}

// TestAdd checks that added people count toward the route that they were added
// to, and that other copies of the interaction stay unchanged.
func TestAdd(t *testing.T) {
	t.Parallel()
	var i bridge.Interaction
	i.Requirements = []bridge.Requirement{{Route: "a"}, {Route: "b"}}
	next := i
	next.Add(bridge.Addition{For: "b", Responders: []bridge.Responder{{Person: "ana"}}, Groups: []string{"ops"}})
	if len(i.Requirements[1].Responders) > 0 || len(i.Added) > 0 {
		t.Errorf("the earlier interaction changed: %+v", i)
	}
	if len(next.Responders) != 1 || len(next.Requirements[0].Responders) > 0 || next.Requirements[1].Responders[0].Person != "ana" || next.Requirements[1].Groups[0] != "ops" {
		t.Errorf("%+v", next)
	}
	next.Add(bridge.Addition{For: "b", Responders: []bridge.Responder{{Person: "ana"}}})
	if len(next.Responders) != 1 {
		t.Errorf("a person was added twice: %+v", next.Responders)
	}
}

// TestQuiet checks the end of quiet hours across midnight and in their time
// zone, and that a risk level can be exempt.
func TestQuiet(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	night := &bridge.Quiet{From: "22:00", To: "07:00", Zone: "Europe/Berlin", Risks: []string{"high"}}
	for _, x := range []struct {
		q              *bridge.Quiet
		in, risk, want string
	}{
		{nil, "2026-01-05T23:00:00Z", "", "2026-01-05T23:00:00Z"},
		{night, "2026-01-05T20:59:00Z", "", "2026-01-05T20:59:00Z"},
		{night, "2026-01-05T21:00:00Z", "", "2026-01-06T06:00:00Z"},
		{night, "2026-01-06T05:59:00Z", "low", "2026-01-06T06:00:00Z"},
		{night, "2026-01-06T05:59:00Z", "high", "2026-01-06T05:59:00Z"},
		{night, "2026-01-06T06:00:00Z", "", "2026-01-06T06:00:00Z"},
		{night, "2026-10-24T22:00:00Z", "", "2026-10-25T06:00:00Z"}, // the night when summer time ends
		{&bridge.Quiet{From: "12:00", To: "13:00"}, "2026-01-05T12:30:00Z", "", "2026-01-05T13:00:00Z"},
		{&bridge.Quiet{From: "12:00", To: "12:00"}, "2026-01-05T12:00:00Z", "", "2026-01-05T12:00:00Z"},
		{&bridge.Quiet{From: "late", To: "12:00"}, "2026-01-05T11:00:00Z", "", "2026-01-05T11:00:00Z"},
	} {
		if got := x.q.Until(at(x.in), x.risk); !got.Equal(at(x.want)) {
			t.Errorf("%+v at %s: until %s, want %s", x.q, x.in, got, x.want)
		}
	}
	for d, want := range map[time.Duration]string{10 * time.Minute: "10 min", 2 * time.Hour: "2 h", 90 * time.Second: "1 min 30 s", 90 * time.Minute: "1 h 30 min", 720 * time.Hour: "30 days", time.Millisecond: "0 s", 49 * time.Hour: "49 h"} {
		if got := bridge.Brief(d); got != want {
			t.Errorf("%s is written %s", d, got)
		}
	}
}

// TestMatch checks that a filter ignores case and selects only records that the
// caller may read.
func TestMatch(t *testing.T) {
	t.Parallel()
	r := bridge.Record{State: bridge.StateDenied, Response: &bridge.Response{Actor: &bridge.Actor{Person: "ana"}}}
	i := &r.Interaction
	i.Prompt, i.Agent, i.Session, i.Approval = "Delete PROD?", "ci", "s", &bridge.Approval{Tool: "Bash", Where: "build-7:/srv/web", Input: json.RawMessage(`"rm"`)}
	for name, x := range map[string]struct {
		f    bridge.ListFilter
		want bool
	}{
		"everything": {bridge.ListFilter{}, true}, "state": {bridge.ListFilter{State: bridge.StateDenied}, true},
		"another state": {bridge.ListFilter{State: bridge.StatePending}, false}, "another agent": {bridge.ListFilter{Agent: "cd"}, false},
		"another session": {bridge.ListFilter{Session: "t"}, false}, "text": {bridge.ListFilter{Text: "prod"}, true}, "a tool": {bridge.ListFilter{Text: "BASH"}, true},
		"a location": {bridge.ListFilter{Text: "build-7:/srv"}, true},
		"input":      {bridge.ListFilter{Text: "rm"}, true}, "a person": {bridge.ListFilter{Text: "Ana"}, true}, "other text": {bridge.ListFilter{Text: "dev"}, false},
		"not readable": {bridge.ListFilter{May: func(bridge.Record) bool { return false }}, false},
	} {
		if x.f.Match(r) != x.want {
			t.Errorf("%s: %t", name, !x.want)
		}
	}
}

// TestDraft checks how clicks change a draft, and that people can move only
// past fields with valid answers.
func TestDraft(t *testing.T) {
	t.Parallel()
	var i bridge.Interaction
	i.Questions = []bridge.Question{
		{ID: "one", Widget: bridge.WidgetRadio, AllowOther: true, Options: []bridge.Option{{Value: "a"}, {Value: "b"}}},
		{ID: "many", Widget: bridge.WidgetCheckbox, AllowOther: true, Options: []bridge.Option{{Value: "a"}, {Value: "b"}}},
	}
	i.Initial = map[string]bridge.Answer{"many": bridge.ListAnswer("b", "else")}
	fields := i.Fields()
	d := &bridge.Draft{Answers: map[string]bridge.Answer{}, Others: map[string]string{"one": "else"}}
	if v, other := d.Value(fields[1]); !cmp.Equal(v, bridge.ListAnswer("b")) || other != "else" {
		t.Errorf("initial value: %v and %q", v, other)
	}
	d.Choose(fields[0], "b")
	if v, other := d.Value(fields[0]); v.Text != "b" || other != "" {
		t.Errorf("a choice keeps the free text: %v and %q", v, other)
	}
	d.Answers["one"] = bridge.Answer{}
	if wrong := d.Turn(fields, 1); wrong[0] == "" || d.Step != 0 {
		t.Errorf("past an unanswered field: %v, at %d", wrong, d.Step)
	}
	d.Choose(fields[0], "a")
	if wrong := d.Turn(fields, 1); wrong != nil || d.Step != 1 {
		t.Errorf("past a valid answer: %v, at %d", wrong, d.Step)
	}
	d.Choose(fields[1], "a")
	d.Choose(fields[1], "b")
	if v, _ := d.Value(fields[1]); !cmp.Equal(v, bridge.ListAnswer("a")) {
		t.Errorf("after a second click on b: %v", v)
	}
}

// TestSummary checks the agent's sentence on a closed card, and that a template
// with unknown placeholders is rejected.
func TestSummary(t *testing.T) {
	t.Parallel()
	q := []bridge.Question{{ID: "q", Widget: bridge.WidgetRadio, Options: []bridge.Option{{Value: "eu", Label: "Europe"}}}}
	hide := false
	for text, ok := range map[string]bool{"{{actor}} chose {{ input.q }} ({{action}})": true, "{{input.x}}": false, "{{who}}": false} {
		if err := (&bridge.CompletedView{SummaryTemplate: text}).Check(q); (err == nil) != ok {
			t.Errorf("%.30s: %v", text, err)
		}
	}
	if err := (&bridge.CompletedView{SummaryTemplate: "{{input.q}}", ShowInputs: &hide}).Check(q); err == nil {
		t.Error("a hidden value may be shown")
	}
	r := bridge.Record{State: bridge.StateAnswered, Response: &bridge.Response{State: bridge.StateAnswered, Reason: "r", Scope: bridge.ScopeOnce,
		Actor: &bridge.Actor{Person: "ana", Platform: "chat"}, Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("eu")}}}
	r.Interaction.Questions = q
	r.Interaction.CompletedView = &bridge.CompletedView{SummaryTemplate: "{{actor}} on {{platform}}: {{action}} {{input.q}} {{scope}} {{reason}}"}
	if got := r.Summary(); got != "ana on chat: submit Europe once r" {
		t.Errorf("%q", got)
	}
	if r.Response.State = bridge.StateExpired; r.Summary() != "" {
		t.Errorf("an expired request: %q", r.Summary())
	}
}

// TestReplay checks that a record rebuilt from its events equals the stored
// record.
func TestReplay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	var p bridge.Replay
	add := func(id bridge.ID, kind bridge.EventType, state bridge.State, data string) {
		t.Helper()
		if err := p.Add(bridge.Event{Type: kind, InteractionID: id, State: state, Timestamp: at, Data: json.RawMessage(data)}); err != nil {
			t.Fatal(err)
		}
	}
	add("unseen", bridge.EventDelivered, "", "")
	add("a", bridge.EventRequest, "", `{"id":"a","prompt":"?","created":"2020-01-01T00:00:00Z","deadline":"2020-01-01T00:01:00Z"}`)
	add("b", bridge.EventRequest, "", `{"id":"b"}`)
	add("a", bridge.EventPosted, "", `{"destination":0,"message":{"channel":"C","message":"1"}}`)
	add("a", bridge.EventFailed, "", `{"destination":1,"reason":"gone"}`)
	add("a", bridge.EventJoined, "", "")
	add("a", bridge.EventQueued, "", "")
	add("a", bridge.EventWidened, "", `{"id":"a","prompt":"more","deadline":"2030-01-01T00:00:00Z"}`)
	for _, s := range []string{"denied", "approved"} {
		add("a", bridge.EventVoted, "", `{"actor":{"platform":"chat","user":"U1"},"state":"`+s+`"}`)
	}
	add("a", bridge.EventResponse, bridge.StateApproved, `{"state":"approved","at":"2026-11-21T14:00:00Z"}`)
	add("a", bridge.EventDelivered, "", "")
	add("a", bridge.EventReprompted, "", `"c"`)
	add("a", bridge.EventCompleted, "", `{"result":"done"}`)
	got := p.Records()
	if len(got) != 2 || got[0].Interaction.ID != "a" || got[1].Interaction.ID != "b" {
		t.Fatalf("%+v", got)
	}
	a := got[0]
	if a.State != bridge.StateApproved || !a.Response.At.Equal(at) || !a.Delivered.Equal(at) || !a.Queued.Equal(at) || a.Joined != 1 || a.Next != "c" ||
		a.Completion.Result != "done" || len(a.Votes) != 1 || a.Votes[0].State != bridge.StateApproved {
		t.Errorf("%+v", a)
	}
	if a.Messages[0].Message != "1" || a.Failures[1] != "gone" || a.Interaction.Prompt != "more" || !a.Interaction.Deadline.Equal(at.Add(time.Minute)) {
		t.Errorf("%+v", a)
	}
	for _, kind := range []bridge.EventType{bridge.EventRequest, bridge.EventResponse, bridge.EventVoted, bridge.EventPosted, bridge.EventWidened} {
		if err := p.Add(bridge.Event{Type: kind, InteractionID: "a", Data: json.RawMessage(`{`)}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s that cannot be read: %v", kind, err)
		}
	}
}

// TestTrust checks that nod does not act on a record that does not verify.
func TestTrust(t *testing.T) {
	t.Parallel()
	r := bridge.Record{State: bridge.StateApproved, Response: &bridge.Response{State: bridge.StateApproved, Actor: &bridge.Actor{User: "1"}}}
	if err := r.Trusted(); err != nil {
		t.Error(err)
	}
	r.Unverified = "forged"
	d := r
	d.Distrust()
	if d.State != bridge.StateUndeliverable || d.Response.Actor != nil || d.Response.Reason != "forged" || r.Response.Actor == nil {
		t.Errorf("%+v", d)
	}
	if err := r.Trusted(); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Error(err)
	}
}
