package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestCompletion checks what a shell suggests for arguments and flags, and that
// it suggests nothing and exits with 0 if the daemon cannot be reached.
func TestCompletion(t *testing.T) {
	rec := request(aged(time.Minute, "aaaaaaaaaaaa"), bridge.StatePending, time.Hour)
	rec.Interaction.Route, rec.Interaction.Responders = "prod", []bridge.Responder{{Person: "bo"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/v1/sessions":
			_ = json.NewEncoder(w).Encode(map[string]any{"items": []bridge.Session{{ID: "release-2", Agent: "ci"}}})
		case "/v1/grants":
			_ = json.NewEncoder(w).Encode(map[string]any{"items": []map[string]string{{"id": "3f2a9c01b4d7", "words": "make"}}})
		case "/v1/interactions":
			_ = json.NewEncoder(w).Encode(bridge.List{Items: []bridge.Record{rec}})
		default:
			_ = json.NewEncoder(w).Encode(rec)
		}
	}))
	t.Chdir(t.TempDir())
	t.Setenv("NOD_CONFIG", "nod.yaml")
	if err := os.WriteFile("nod.yaml", []byte("people: {ana: {slack: U1}}\nroutes: {default: {to: [\"slack:C1\"], responders: [ana]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOD_TOKEN", "token-of-nobody-at-all")
	t.Setenv("NOD_URL", server.URL)
	id := string(rec.Interaction.ID)
	suggested := func(words string) string {
		var out, errs strings.Builder
		if code := Run(append([]string{"__complete"}, strings.Split(words, " ")...), nil, &out, &errs); code != 0 {
			t.Errorf("%s: exit %d, %s", words, code, errs.String())
		}
		return out.String()
	}
	for words, want := range map[string]string{
		"sh": "show\t", "show ": id + "\tpending, ci: May I?", "cancel ": id, "answer ": id, "answer " + id + " ": "deny\n", "sessions stop ": "release-2\tci",
		"sessions messages ": "release-2", "sessions steer ": "release-2", "grants revoke ": "3f2a9c01b4d7\tmake", "ask --route ": "default\nprod\n", "ask --requester ": "ana\nbo\n",
		"list --state ": "pending\nanswered\n", "approve --scopes ": "once\nsession\nalways\n", "ask --timeout ": "30s\n",
		"config manifest ": "slack", "ask --on-timeout=": "escalate", "hook claude --fail ": "closed\nopen\n",
	} {
		if got := suggested(words); !strings.Contains(got, want) {
			t.Errorf("%q suggests %q, want %q", words, got, want)
		}
	}
	server.Close()
	if got := suggested("show "); !strings.HasPrefix(got, ":") {
		t.Errorf("without a daemon: %q", got)
	}
}
