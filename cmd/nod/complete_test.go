package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
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

// TestBashCompletion checks that the script for bash completes without the
// package bash-completion, and prints nothing.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	const script = `source <(nod completion bash)
compopt() { :; } # bash has it only while it completes
complete_line() {
	COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMPREPLY=()
	__start_nod
	echo "$1: ${COMPREPLY[*]}"
}
complete_line 'nod appr' nod appr
complete_line 'nod ask --on-timeout=exp' nod ask --on-timeout = exp
complete_line 'nod ask --on-timeout=' nod ask --on-timeout =
complete_line 'nod list --state ' nod list --state ''
complete_line 'nod show a:b ' nod show a : b ''
`
	cmd := exec.Command(bash, "--norc", "--noprofile", "-c", script)
	dir := t.TempDir()
	if err := os.Symlink(rig.Binary(t), filepath.Join(dir, "nod")); err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	got := string(out)
	for _, want := range []string{"nod appr: approve", "--on-timeout=exp: expire", "--on-timeout=: expire", "--state : pending", "nod show a:b : \n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "not found") || strings.Count(got, "\n") != 5 {
		t.Errorf("it prints\n%s", got)
	}
}
