package main

import (
	"strings"
	"testing"
)

// TestManifestForReplies checks that only a manifest for replies lets the app
// read channels.
func TestManifestForReplies(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--replies"}, {"--replies", "--http", "https://nod.example.com"}} {
		var out, errs strings.Builder
		if code := Run(append([]string{"config", "manifest", "slack"}, args...), nil, &out, &errs); code != 0 {
			t.Fatalf("%v: %s", args, errs.String())
		}
		for _, name := range []string{`"channels:history"`, `"groups:history"`, `"im:history"`, `"message.channels"`, `"message.im"`, `"messages_tab_read_only_enabled": false`} {
			if strings.Contains(out.String(), name) != (len(args) > 0) {
				t.Errorf("%v: %s is wrong", args, name)
			}
		}
	}
}

// TestManifestForAgents checks that only a manifest for agents makes the app one,
// with the event of Slack's stop button.
func TestManifestForAgents(t *testing.T) {
	t.Parallel()
	for _, agent := range []bool{true, false} {
		args := []string{"config", "manifest", "slack"}
		if agent {
			args = append(args, "--agent")
		}
		var out, errs strings.Builder
		if code := Run(args, nil, &out, &errs); code != 0 {
			t.Fatalf("%d: %s", code, errs.String())
		}
		for _, want := range []string{`"agent_view"`, `"assistant:write"`, `"agent_session_stopped"`} {
			if strings.Contains(out.String(), want) != agent {
				t.Errorf("agent %t: %s in %s", agent, want, out.String())
			}
		}
	}
}

// TestManifest checks that the manifest for HTTP mode has the URL in each
// place.
func TestManifest(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := Run([]string{"config", "manifest", "slack", "--http", "https://nod.example.com/"}, nil, &out, &errs); code != 0 || strings.Count(out.String(), "https://nod.example.com/slack/interactions") != 3 || strings.Contains(out.String(), `"socket_mode_enabled": true`) {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
	if code := Run([]string{"config", "manifest", "slack", "--http", "http://nod.example.com"}, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "https only") {
		t.Errorf("%d: %s", code, errs.String())
	}
}
