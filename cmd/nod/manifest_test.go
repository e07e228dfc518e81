package main

import (
	"strings"
	"testing"
)

// TestManifest checks that the manifest for HTTP mode has the URL in each
// place.
func TestManifest(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := Run([]string{"manifest", "slack", "--http", "https://nod.example.com/"}, nil, &out, &errs); code != 0 || strings.Count(out.String(), "https://nod.example.com/slack/interactions") != 3 || strings.Contains(out.String(), `"socket_mode_enabled": true`) {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
	if code := Run([]string{"manifest", "slack", "--http", "http://nod.example.com"}, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "https only") {
		t.Errorf("%d: %s", code, errs.String())
	}
}
