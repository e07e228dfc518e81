package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// shownRow is a line of a list as the page receives it.
type shownRow struct {
	ID             bridge.ID
	State          bridge.State
	Title, Preview string
	Lines          int
	Mine           bool
	Card           *shownCard
}

type shownInbox struct {
	Counts         struct{ Mine, Others, Soon int }
	Items          []shownRow
	Total, Pages   int
	Agents, Routes []string
	Next           string
}

func (b *browser) list(path string) shownInbox {
	b.t.Helper()
	status, text := b.call(http.MethodGet, path, nil)
	if status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", path, status, text)
	}
	var in shownInbox
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		b.t.Fatal(err)
	}
	return in
}

// within returns an option that sets the time in which people can answer.
func within(d time.Duration) func(*bridge.Request) {
	return func(r *bridge.Request) { r.Timeout = bridge.Duration(d) }
}

func command(text string) func(*bridge.Request) {
	raw, _ := json.Marshal(map[string]string{"command": text})
	return func(r *bridge.Request) { r.Approval = &bridge.Approval{Tool: "Bash", Input: raw} }
}

// asks opens a request with several options.
func (o *office) asks(options ...func(*bridge.Request)) bridge.ID {
	o.t.Helper()
	return o.ask(func(r *bridge.Request) {
		for _, change := range options {
			change(r)
		}
	})
}

// TestInbox checks that the inbox has the requests of a person by deadline,
// however many there are, with counts, filters and pages.
func TestInbox(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if _, text := o.signedIn("ana").call(http.MethodGet, "/console/inbox", nil); strings.Contains(text, "null") {
		t.Errorf("an empty inbox is %s", text)
	}
	urgent := o.asks(command("make urgent"), within(4*time.Minute))
	for n := range 119 {
		o.asks(command(fmt.Sprint("make ", n)), within(time.Hour), func(r *bridge.Request) { r.Session = fmt.Sprint("s", n%2) })
	}
	strict := o.asks(approval, func(r *bridge.Request) { r.Route = "strict" })
	b := o.signedIn("ana")
	in := b.list("/console/inbox")
	if in.Counts.Mine != 120 || in.Counts.Others != 0 || in.Counts.Soon != 1 || in.Pages != 3 || len(in.Items) != 50 || in.Items[0].ID != urgent {
		t.Errorf("ana has %+v, %d pages, %d items, first %s", in.Counts, in.Pages, len(in.Items), in.Items[0].Title)
	}
	if in.Items[0].Title != "Run make urgent?" || !in.Items[0].Mine || in.Items[0].Card.Seen == "" {
		t.Errorf("the first is %+v", in.Items[0])
	}
	if in := b.list("/console/inbox?page=3"); len(in.Items) != 20 {
		t.Errorf("the last page has %d", len(in.Items))
	}
	now := time.Now().UTC()
	day := func(plus int) string { return now.AddDate(0, 0, plus).Format(time.DateOnly) }
	if status, text := b.call(http.MethodGet, "/console/inbox?since=yesterday", nil); status != http.StatusBadRequest || !strings.Contains(text, "since: enter a date") {
		t.Errorf("a wrong date: %d %s", status, text)
	}
	for query, want := range map[string]int{
		"since=" + day(-1): 120, "since=" + day(2): 0, "until=" + day(1): 120, "until=" + day(-2): 0,
		"text=urgent": 1, "session=s1": 59, "agent=ci": 120, "agent=x": 0, "route=default": 120, "person=bo": 120, "person=cy": 0, "who=others": 0, "who=all": 120,
	} {
		if in := b.list("/console/inbox?" + query); in.Total != want {
			t.Errorf("%s finds %d, want %d", query, in.Total, want)
		}
	}
	if in := o.signedIn("aud").list("/console/inbox?who=others"); in.Counts.Others != 121 || in.Total != 121 || in.Items[0].Card.MayAnswer {
		t.Errorf("the auditor has %+v", in.Counts)
	}
	cy := o.signedIn("cy")
	if in := cy.list("/console/inbox"); len(in.Items) != 1 || in.Items[0].ID != strict {
		t.Errorf("cy has %+v", in.Items)
	}
	if status, text := cy.approve(strict, map[string]any{"decision": "once"}); status != http.StatusOK {
		t.Fatal(status, text)
	}
	if in := cy.list("/console/inbox"); len(in.Items) != 0 || in.Counts.Others != 1 {
		t.Errorf("after the vote, cy has %+v", in.Items)
	}
}

// TestLongRows checks that a list names the command of a long request, and does
// not offer to approve what it does not show.
func TestLongRows(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.asks(command("deploy "+strings.Repeat("x", 100)), within(time.Hour))
	o.asks(command(strings.Repeat("echo\n", 40)), within(2*time.Hour))
	in := o.signedIn("ana").list("/console/inbox")
	if short := in.Items[0]; !strings.HasPrefix(short.Title, "Run deploy xxx") || short.Card == nil {
		t.Errorf("the long command is %+v", short)
	}
	if long := in.Items[1]; !strings.Contains(long.Title, "script: echo") || long.Card != nil || long.Lines < 40 || strings.Count(long.Preview, "\n") != 3 {
		t.Errorf("the script is %+v", long)
	}
}

// TestSeveral checks that several requests are decided together only with what
// the page showed of each, and only those that allow it.
func TestSeveral(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn("ana")
	one, two := o.asks(command("make a")), o.asks(command("make b"))
	confirm := o.asks(command("make c"), func(r *bridge.Request) { r.Approval.Confirm = "prod" })
	foreign := o.asks(approval, func(r *bridge.Request) { r.Route = "strict" })
	item := func(id bridge.ID, seen string) map[string]any { return map[string]any{"id": id, "seen": seen} }
	seen := func(id bridge.ID) string { return b.card(http.MethodGet, id, nil).Seen }
	decide := func(d string, items ...map[string]any) (int, string) {
		return b.call(http.MethodPost, "/console/answers", map[string]any{"decision": d, "items": items})
	}
	status, text := decide("once", item(one, seen(one)), item(two, seen(one)), item(confirm, seen(confirm)), item(foreign, ""))
	if status != http.StatusOK || strings.Count(text, `"error"`) != 3 {
		t.Errorf("%d %s", status, text)
	}
	for id, want := range map[bridge.ID]bridge.State{one: bridge.StateApproved, two: bridge.StatePending, confirm: bridge.StatePending, foreign: bridge.StatePending} {
		if got := o.get(id).State; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	for _, d := range []string{"always", "session", "edit", ""} {
		if status, text := decide(d, item(two, seen(two))); status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", d, status, text)
		}
	}
	if status, _ := decide("once"); status != http.StatusBadRequest {
		t.Errorf("none: %d", status)
	}
	b.header.Set("Origin", "https://evil.example.com")
	b.header.Set("Sec-Fetch-Site", "cross-site")
	if status, _ := decide("deny", item(two, "")); status != http.StatusForbidden {
		t.Errorf("from another site: %d", status)
	}
	b.header = http.Header{}
	if status, text := decide("deny", item(two, ""), item(confirm, ""), item(one, "")); status != http.StatusOK || o.get(two).State != bridge.StateDenied ||
		o.get(confirm).State != bridge.StateDenied || o.get(one).State != bridge.StateApproved {
		t.Errorf("denying: %d %s", status, text)
	}
}

// TestHistory checks the filters of the history.
func TestHistory(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn("ana")
	id := o.asks(command("make a"))
	other := o.asks(command("make b"), func(r *bridge.Request) { r.Session = "other" })
	if status, text := b.approve(id, map[string]any{"decision": "once"}); status != http.StatusOK {
		t.Fatal(status, text)
	}
	day := func(id bridge.ID, plus int) string {
		return o.get(id).Interaction.Created.UTC().AddDate(0, 0, plus).Format(time.DateOnly)
	}
	for query, want := range map[string]int{
		"": 2, "state=approved": 1, "state=denied": 0, "session=other": 1, "text=make+a": 1, "person=bo": 2, "person=cy": 0,
		"since=" + day(id, 0): 2, "until=" + day(other, 0): 2, "since=" + day(other, 1): 0, "route=strict": 0,
	} {
		if in := b.list("/console/history?" + query); len(in.Items) != want {
			t.Errorf("%s finds %d, want %d", query, len(in.Items), want)
		}
	}
	if _, text := b.call(http.MethodGet, "/console/history", nil); !strings.Contains(text, `"people":["ana","bo"`) || !strings.Contains(text, `"routes":["default"`) {
		t.Errorf("the choices of the filters are missing: %s", text)
	}
	if in := o.signedIn("cy").list("/console/history"); len(in.Items) != 0 {
		t.Errorf("cy reads %+v", in.Items)
	}
	if status, text := b.call(http.MethodGet, "/console/history?since=soon", nil); status != http.StatusBadRequest || !strings.Contains(text, "2026-11-21") {
		t.Errorf("a bad date: %d %s", status, text)
	}
}
