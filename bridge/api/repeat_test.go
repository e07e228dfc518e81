package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// TestRepeatedKey checks what calls with the key of an earlier call get: they
// are marked, and an answer that was sent is spent.
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

// TestKeyedApproval checks that of callers that wait for one key at the same time,
// one gets the approval, also with its retry, and the others learn that it is spent.
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
		id = string(call(http.MethodPost, "/v1/interactions", body, caller).Interaction.ID)
		go func() {
			if n%2 == 0 {
				got <- call(http.MethodPost, "/v1/interactions?wait=1m", body, caller)
			} else {
				got <- call(http.MethodGet, "/v1/interactions/"+id+"?wait=1m", "", caller)
			}
		}()
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
