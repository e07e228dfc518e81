package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestMetadata checks that an agent gets its metadata back unchanged, even when it
// looks like a credential, and that no person reads it, whatever they call.
func TestMetadata(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const address = "https://n8n.example.com/webhook-waiting/7?signature=4f54b1fd0123456789abcdef0123456789abcdef"
	status, opened := s.sends(t, "agent", "POST", "/v1/interactions", `{"prompt": "Deploy?", "approval": {"tool": "deploy"}, "metadata": {"resume_url": "`+address+`"}}`)
	_, rest, _ := strings.Cut(opened, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if status != http.StatusCreated || !strings.Contains(opened, address) {
		t.Fatalf("%d %s", status, opened)
	}
	for _, x := range []struct {
		token, method, path, body string
		theirs                    bool
	}{
		{"agent", "GET", "/v1/interactions/" + id, "", true}, {"agent", "GET", "/v1/interactions", "", true},
		{"ana", "GET", "/v1/interactions/" + id, "", false}, {"ana", "GET", "/v1/interactions/" + id + "?wait=10ms", "", false},
		{"ana", "GET", "/v1/interactions", "", false}, {"ana", "GET", "/v1/interactions?text=webhook-waiting", "", false},
		{"ana", "GET", "/v1/events?after=0&follow=false", "", false},
		{"ana", "POST", "/v1/interactions/" + id + "/response", `{"decision": "once"}`, false},
		{"ana", "GET", "/v1/interactions/" + id, "", false},
		{"agent", "GET", "/v1/interactions/" + id + "?wait=10ms", "", true},
	} {
		status, got := s.sends(t, x.token, x.method, x.path, x.body)
		if status != http.StatusOK || strings.Contains(got, "webhook-waiting") != x.theirs {
			t.Errorf("%s %s %s: %d %s", x.token, x.method, x.path, status, got)
		}
	}
	for name, metadata := range map[string]string{
		"too long": `{"a": "` + strings.Repeat("x", 2001) + `"}`, "no name": `{"": "x"}`, "a long name": `{"` + strings.Repeat("x", 65) + `": "x"}`,
		"not a text": `{"a": 1}`, "too many": `{` + strings.TrimSuffix(manyNames(17), ",") + `}`,
	} {
		if status, got := s.sends(t, "agent", "POST", "/v1/interactions", `{"prompt": "x", "metadata": `+metadata+`}`); status != http.StatusBadRequest || !strings.Contains(got, "metadata") {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
}

// manyNames returns n members of a JSON object.
func manyNames(n int) string {
	var out strings.Builder
	for k := range n {
		out.WriteString(`"` + strings.Repeat("n", k+1) + `": "x",`)
	}
	return out.String()
}
