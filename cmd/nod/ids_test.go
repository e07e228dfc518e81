package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/proof"
)

// aged returns the ID of a request that was created some time ago.
func aged(age time.Duration, tail string) bridge.ID {
	ms := fmt.Sprintf("%012x", time.Now().Add(-age).UnixMilli())
	return bridge.ID(ms[:8] + "-" + ms[8:] + "-7000-8000-" + tail)
}

// listing serves requests, newest first, in pages of two, and sessions. A request
// without a state is unreadable.
func listing(t *testing.T, records []bridge.Record, sessions ...bridge.Session) (cl *client.Client, pages *int) {
	t.Helper()
	pages = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/sessions" {
			_ = json.NewEncoder(w).Encode(map[string]any{"items": sessions})
			return
		}
		*pages++
		var all []bridge.Record
		for _, rec := range records {
			if s := r.URL.Query().Get("state"); s == "" || rec.State == "" || s == string(rec.State) {
				all = append(all, rec)
			}
		}
		at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		page := bridge.List{Items: []bridge.Record{}}
		for _, rec := range all[min(at, len(all)):min(at+2, len(all))] {
			if rec.State == "" {
				page.Unreadable++
			} else {
				page.Items = append(page.Items, rec)
			}
		}
		if at+2 < len(all) {
			page.Next = strconv.Itoa(at + 2)
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(server.Close)
	return client.New(server.URL, "token", nil), pages
}

func request(id bridge.ID, state bridge.State, left time.Duration) bridge.Record {
	r := bridge.Record{State: state}
	r.Interaction.ID, r.Interaction.Created = id, id.Time()
	r.Interaction.Kind, r.Interaction.Prompt, r.Interaction.Agent = bridge.KindApproval, "May I?", "ci"
	r.Interaction.Deadline = time.Now().Add(left)
	r.Interaction.Approval = &bridge.Approval{}
	r.Interaction.Digest, _ = proof.Digest(r.Interaction.Ask) // the ask has no numbers
	r.Revision = 1
	if r.State.Final() {
		r.Response = &bridge.Response{State: r.State, Digest: r.Interaction.Digest, Scope: bridge.ScopeOnce}
	}
	return r
}

// TestRequestID checks that the beginning of an ID stands for it only if no
// other request on any page begins in the same way.
func TestRequestID(t *testing.T) {
	t.Parallel()
	a, b, c, d := aged(time.Minute, "aaaaaaaaaaaa"), aged(time.Hour, "bbbbbbbbbbbb"), aged(24*time.Hour, "cccccccccccc"),
		aged(1000*time.Hour, "dddddddddddd")
	twin := c[:35] + "f"
	var records []bridge.Record
	for _, id := range []bridge.ID{a, b, twin, c, d} {
		records = append(records, request(id, bridge.StatePending, time.Hour))
	}
	cl, pages := listing(t, records)
	for arg, want := range map[string]bridge.ID{
		string(a): a, strings.ToUpper(string(a)): a, "last": a, string(a[:20]): a, string(b[:30]): b, string(twin): twin,
		string(d[:8]): d, strings.ToUpper(string(b[:13])): b,
	} {
		if got, err := requestID(t.Context(), cl, arg, ""); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", arg, got, err, want)
		}
	}
	for arg, code := range map[string]bridge.Code{
		string(c[:35]): bridge.CodeInvalid, string(a[:4]): bridge.CodeInvalid, "": bridge.CodeInvalid, "abc": bridge.CodeInvalid,
		"nonsense": bridge.CodeInvalid, "LAST": bridge.CodeInvalid,
		"0000ffff": bridge.CodeNotFound, "ffffffff": bridge.CodeNotFound, string(a[:24]) + "f": bridge.CodeNotFound,
		string(a) + "0": bridge.CodeInvalid, "0193--": bridge.CodeInvalid,
	} {
		if got, err := requestID(t.Context(), cl, arg, ""); bridge.ErrorCode(err) != code {
			t.Errorf("%q: %s, %v; want %s", arg, got, err, code)
		}
	}
	*pages = 0
	if _, err := requestID(t.Context(), cl, string(a[:20]), ""); err != nil || *pages != 2 {
		t.Errorf("it reads %d pages, %v; want those of the newest hour", *pages, err)
	}
	empty, _ := listing(t, nil)
	if got, err := requestID(t.Context(), empty, "last", bridge.StatePending); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("no requests: %s, %v", got, err)
	}
}

// TestSessionID checks that only a generated session ID can be abbreviated, so
// that a name never means another session that begins with it.
func TestSessionID(t *testing.T) {
	t.Parallel()
	const generated = "7d44b0f2-3c1a-4e51-9d1c-0a2f6f9be111"
	cl, _ := listing(t, nil, bridge.Session{ID: "release-10"}, bridge.Session{ID: "deadbeef-10"}, bridge.Session{ID: generated})
	for arg, want := range map[string]string{
		"": "", "release-1": "release-1", "last": "release-10", "7d44": generated, "7D44B0F2": generated, "deadbeef": "deadbeef",
		generated: generated, "9d1c": "9d1c",
	} {
		if got, err := sessionID(t.Context(), cl, arg); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", arg, got, err, want)
		}
	}
}

// TestByDeadline checks that the pending requests come first, the one that ends
// next at the top, including those of later pages, and that an unreadable one is
// counted once.
func TestByDeadline(t *testing.T) {
	t.Parallel()
	late, closed, soon, old := aged(time.Minute, "aaaaaaaaaaaa"), aged(2*time.Minute, "bbbbbbbbbbbb"), aged(3*time.Minute,
		"cccccccccccc"), aged(4*time.Minute, "dddddddddddd")
	middle := aged(5*time.Minute, "eeeeeeeeeeee")
	cl, _ := listing(t, []bridge.Record{
		request(late, bridge.StatePending, 3*time.Hour), request(closed, bridge.StateDenied, 0), request(soon, bridge.StatePending,
			time.Minute),
		request(old, bridge.StateApproved, 0), request(middle, bridge.StatePending, time.Hour), {},
	})
	for limit, want := range map[int][]bridge.ID{0: {soon, middle, late, closed, old}, 2: {soon, middle}, 3: {soon, middle, late},
		4: {soon, middle, late, closed}} {
		page, left, err := byDeadline(t.Context(), cl, bridge.ListFilter{Limit: limit})
		var got []bridge.ID
		for _, r := range page.Items {
			got = append(got, r.Interaction.ID)
		}
		if err != nil || !slices.Equal(got, want) || limit == 2 && left != 1 || page.Unreadable != 1 {
			t.Errorf("limit %d: %v, %d left, %d unreadable, %v; want %v", limit, got, left, page.Unreadable, err, want)
		}
	}
}

// TestPrintList checks the columns of nod list.
func TestPrintList(t *testing.T) {
	t.Parallel()
	run := request(aged(5*time.Minute, "aaaaaaaaaaaa"), bridge.StatePending, 90*time.Minute+time.Second)
	run.Interaction.Prompt, run.Interaction.Approval = runPrompt, &bridge.Approval{Tool: "run",
		Input: json.RawMessage(`{"argv":["kubectl","delete","pod","my x"],"program":"/bin/kubectl"}`)}
	done := request(aged(50*time.Hour, "bbbbbbbbbbbb"), bridge.StateApproved, 0)
	var out, talk strings.Builder
	if err := printList(&out, &talk, bridge.List{Items: []bridge.Record{run, done}, Next: "c"}, 3, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for n, want := range []string{"ID ", "  pending   5m   90m   ci     kubectl delete pod 'my x'",
		"  approved  2d         ci     May I?"} {
		if !strings.HasPrefix(lines[n], want) && !strings.HasSuffix(lines[n], want) {
			t.Errorf("line %d is %q, want %q", n, lines[n], want)
		}
	}
	if !strings.Contains(talk.String(), "not listed: 3") || !strings.Contains(talk.String(), "--cursor c") {
		t.Errorf("stderr: %s", talk.String())
	}
}

// TestStopAll checks that a session that cannot be stopped does not keep the
// others running, and is named.
func TestStopAll(t *testing.T) {
	t.Parallel()
	var all []bridge.Session
	for _, id := range []string{"one", "hidden", "two"} {
		all = append(all, bridge.Session{Agent: "ci", ID: id})
	}
	mux := http.NewServeMux()
	serve := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(bridge.HeaderDaemon, "1")
		var answer any = bridge.Page[bridge.Session]{Items: all}
		if id := r.PathValue("id"); id == "hidden" {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]any{"error": bridge.Errorf(bridge.CodeNotFound, "session not found")}
		} else if id != "" {
			answer = bridge.Page[bridge.Stop]{Items: []bridge.Stop{{Agent: "ci", Session: id}}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
	mux.HandleFunc("GET /v1/sessions", serve)
	mux.HandleFunc("POST /v1/sessions/{id}/stop", serve)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	got, err := stopSessions(client.New(server.URL, "token", nil), t.Context(), "", "all")
	if len(got) != 2 || got[0].Session != "one" || got[1].Session != "two" {
		t.Errorf("it stops %+v", got)
	}
	if bridge.ErrorCode(err) != bridge.CodeNotFound || !strings.Contains(err.Error(), "ci hidden (session not found)") {
		t.Error(err)
	}
}
