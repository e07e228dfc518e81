package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
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
		"that waited too":    {"a", "b", "b", bridge.StateApproved},
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
