package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// TestRepeatedKey checks the results of calls with the key of an earlier call:
// they are marked, and an answer is sent only once.
func TestRepeatedKey(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	call := func(token, path, body string, header map[string]string) (int, bridge.Record) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		for name, v := range header {
			r.Header.Set(name, v)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var rec bridge.Record
		if err := json.NewDecoder(resp.Body).Decode(&rec); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, rec
	}
	for name, x := range map[string]struct {
		first, next, late string       // caller IDs; late calls only after the answer was sent
		state             bridge.State // that late gets
	}{
		"without caller IDs": {"", "", "", bridge.StateApproved}, // for a minute
		"that waited too":    {"a", "b", "b", ""},
		"another caller":     {"a", "b", "c", ""},
		"no caller":          {"a", "", "", bridge.StateApproved},
	} {
		header := func(caller string) map[string]string {
			h := map[string]string{"Idempotency-Key": name}
			if caller != "" {
				h["Nod-Caller"] = caller
			}
			return h
		}
		const body = `{"prompt": "Deploy?", "approval": {"tool": "deploy", "scopes": ["once"]}}`
		status, first := call("agent", "/v1/interactions", body, header(x.first))
		if status != http.StatusCreated || first.Repeated {
			t.Fatalf("%s: the first call gets %d, %+v", name, status, first)
		}
		status, again := call("agent", "/v1/interactions?wait=10ms", body, header(x.next))
		if status != http.StatusOK || !again.Repeated || again.State != bridge.StatePending || again.Interaction.ID != first.Interaction.ID {
			t.Errorf("%s: while it is open: %d, %+v", name, status, again)
		}
		call("ana", "/v1/interactions/"+string(first.Interaction.ID)+"/response", `{"decision": "once"}`, nil)
		if status, got := call("agent", "/v1/interactions", body, header(x.first)); got.State != bridge.StateApproved {
			t.Errorf("%s: the first caller gets %d, %+v", name, status, got)
		}
		status, again = call("agent", "/v1/interactions", body, header(x.late))
		if status != http.StatusOK || !again.Repeated || again.State != x.state || again.Interaction.ID != first.Interaction.ID {
			t.Errorf("%s: after the answer was sent: %d, %+v", name, status, again)
		}
	}
}

// TestKeyedApproval checks that if several callers wait for one key at the same
// time, only one of them gets the approval, even if it retries, and the others
// learn that the approval was already sent.
func TestKeyedApproval(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	call := func(method, path, body, caller string) bridge.Record {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return bridge.Record{}
		}
		r.Header.Set("Authorization", "Bearer agent")
		r.Header.Set("Idempotency-Key", "k")
		r.Header.Set("Nod-Caller", caller)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return bridge.Record{}
		}
		defer resp.Body.Close()
		var rec bridge.Record
		if err := json.NewDecoder(resp.Body).Decode(&rec); err != nil {
			t.Error(err)
		}
		return rec
	}
	const body = `{"prompt": "Deploy?", "approval": {"tool": "deploy", "scopes": ["once"]}}`
	callers := []string{"a", "b", "c", "d"}
	got := make(chan bridge.Record, len(callers))
	id := ""
	for n, caller := range callers {
		opened := string(call(http.MethodPost, "/v1/interactions", body, caller).Interaction.ID)
		go func() {
			if n%2 == 0 {
				got <- call(http.MethodPost, "/v1/interactions?wait=1m", body, caller)
			} else {
				got <- call(http.MethodGet, "/v1/interactions/"+opened+"?wait=1m", "", caller)
			}
		}()
		id = opened
	}
	answer, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/interactions/"+id+"/response", strings.NewReader(`{"decision": "once"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Header.Set("Authorization", "Bearer ana")
	resp, err := http.DefaultClient.Do(answer)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	approved := 0
	for range callers {
		switch rec := await.Receive(t, "an answer", got); {
		case rec.State == bridge.StateApproved:
			approved++
		case rec.State != "" || !rec.Repeated:
			t.Errorf("a caller gets %+v", rec)
		}
	}
	again := 0
	for _, caller := range callers {
		if call(http.MethodPost, "/v1/interactions", body, caller).State == bridge.StateApproved {
			again++
		}
	}
	if approved != 1 || again != 1 {
		t.Errorf("%d callers have the approval, and %d with their retries", approved, again)
	}
}

// TestKeyedMessage checks that the approvals of a message with several requests and a
// key go to one caller, however the callers read them.
func TestKeyedMessage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	part := func(id string) string {
		return `{"type":"tool-approval-request","approvalId":"` + id + `","toolCall":{"toolCallId":"t` + id + `","toolName":"Bash","input":{"command":"` + id + `"}}}`
	}
	const message = "/v1/dialects/ai_sdk?session=s"
	read := func(n int) func([]string) (string, string) {
		return func(ids []string) (string, string) { return http.MethodGet, "/v1/interactions/" + ids[n] }
	}
	whole := func([]string) (string, string) { return http.MethodPost, message }
	for name, x := range map[string]struct {
		decisions []string // of the parts
		calls     []func(ids []string) (method, path string)
		callers   []string // of the calls, in order
		get       []string // which callers get an approval, in order of the calls
	}{
		"a part each":                  {[]string{"once", "once"}, []func([]string) (string, string){read(0), read(1), read(0), read(1)}, []string{"a", "b", "b", "a"}, []string{"a", "", "", "a"}},
		"the last part first":          {[]string{"once", "once"}, []func([]string) (string, string){read(1), read(0), read(0)}, []string{"a", "b", "a"}, []string{"a", "", "a"}},
		"a part, then the message":     {[]string{"once", "once"}, []func([]string) (string, string){read(1), whole, whole}, []string{"a", "b", "a"}, []string{"a", "", "a"}},
		"the message, then a part":     {[]string{"once", "once"}, []func([]string) (string, string){whole, read(1), read(0), whole}, []string{"a", "b", "b", "a"}, []string{"a", "", "", "a"}},
		"a denial is everyone's":       {[]string{"deny", "once"}, []func([]string) (string, string){read(0), read(0), read(1), read(1)}, []string{"a", "b", "b", "a"}, []string{"", "", "b", ""}},
		"a denied part of the message": {[]string{"deny", "once"}, []func([]string) (string, string){read(1), whole}, []string{"a", "b"}, []string{"a", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := func(token, method, path, body, as string) (int, string) {
				r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+token)
				if as != "" {
					r.Header.Set("Nod-Caller", as)
				}
				if path == message || strings.HasPrefix(path, message+"&") {
					r.Header.Set("Idempotency-Key", name)
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				raw, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				return resp.StatusCode, string(raw)
			}
			body := "[" + part("one") + "," + part("two") + "]"
			var ids []string
			for _, as := range []string{"a", "b"} { // both wait
				_, got := call("agent", http.MethodPost, message+"&wait=1ms", body, as)
				var open bridge.List
				if err := json.Unmarshal([]byte(got), &open); err != nil || len(open.Items) != len(x.decisions) {
					t.Fatalf("%s opens %s", as, got)
				}
				ids = nil
				for _, rec := range open.Items {
					ids = append(ids, string(rec.Interaction.ID))
				}
			}
			for n, d := range x.decisions {
				if status, got := call("ana", http.MethodPost, "/v1/interactions/"+ids[n]+"/response", `{"decision": "`+d+`"}`, ""); status != http.StatusOK {
					t.Fatal(got)
				}
			}
			for n, of := range x.calls {
				method, path := of(ids)
				sent := ""
				if method == http.MethodPost {
					sent = body
				}
				status, got := call("agent", method, path, sent, x.callers[n])
				approved := status == http.StatusOK && (strings.Contains(got, `"state":"approved"`) || strings.Contains(got, `"approved":true`))
				if approved != (x.get[n] != "") {
					t.Errorf("call %d: %s gets %d, %s", n, x.callers[n], status, got)
				}
			}
		})
	}
}

// TestRefusedMessage checks that no one is asked about a message with a refused
// part, unless another caller waits.
func TestRefusedMessage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path, first = "/v1/dialects/ai_sdk?session=s&wait=1ms", `{"type":"tool-approval-request","approvalId":"a","toolCall":{"toolCallId":"t","toolName":"Bash","input":{"command":"ls"}}}`
	both := "[" + first + "," + strings.ReplaceAll(first, `"a"`, `"b"`) + "]"
	pending := func() int {
		_, got := s.sends(t, "agent", http.MethodGet, "/v1/interactions?state=pending&session=s", "")
		var all bridge.List
		if err := json.Unmarshal([]byte(got), &all); err != nil {
			t.Fatal(err)
		}
		return len(all.Items)
	}
	const alone = path + "&one_at_a_time=true" // refuses the second one
	if status, got := s.sends(t, "agent", http.MethodPost, alone, both); status != http.StatusConflict || pending() != 0 {
		t.Errorf("%d pending after %d, %s", pending(), status, got)
	}
	c := caller{t, s.URL}
	c.do("agent", path, "["+first+"]", "one")
	if resp, got := c.do("agent", alone, both, "two"); resp.StatusCode != http.StatusConflict || pending() != 1 {
		t.Errorf("%d pending after %s, %s; another caller waits for one", pending(), resp.Status, got)
	}
}
