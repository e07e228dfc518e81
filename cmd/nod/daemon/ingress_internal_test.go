package daemon

import (
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
)

// TestIngress checks that the ingress of the chart forwards each path that a
// daemon serves, except those for the cluster.
func TestIngress(t *testing.T) {
	t.Parallel()
	internal := []string{"/metrics", "/admin/reload", "/healthz", "/readyz", "/openapi.yaml"}
	read := func(path string) string {
		t.Helper()
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	template := read("../../../deploy/helm/nod/templates/ingress.yaml")
	if !strings.Contains(template, "path: /\n            pathType: Exact") {
		t.Error("the ingress does not forward /")
	}
	forwarded := strings.Fields(strings.ReplaceAll(regexp.MustCompile(`list (".*") }}`).FindStringSubmatch(template)[1], `"`, ""))
	var c config.Config
	c.Console.Enabled = true
	d, err := New(t.Context(), Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.closeStore(); err != nil {
			t.Error(err)
		}
	})
	callbacks := map[string]func(bridge.Sink) http.Handler{}
	for _, k := range kinds.All {
		if k.Callback != "" {
			callbacks[k.Callback] = func(bridge.Sink) http.Handler { return http.NotFoundHandler() }
		}
	}
	var served []string
	for pattern := range d.handlers(c, d.now.Load(), callbacks, &redact.Redactor{}) {
		served = append(served, pattern[strings.Index(pattern, "/"):])
	}
	for _, m := range regexp.MustCompile(`(?m)^  (/\S+):$`).FindAllStringSubmatch(read("../../../bridge/api/openapi.yaml"), -1) {
		served = append(served, m[1])
	}
	for _, path := range served {
		if path == "/" || path == "/{$}" || slices.Contains(internal, path) {
			continue
		}
		if !slices.ContainsFunc(forwarded, func(prefix string) bool { return strings.HasPrefix(path, prefix+"/") || path == prefix }) {
			t.Errorf("the ingress does not forward %s", path)
		}
	}
	for _, prefix := range forwarded {
		if !slices.ContainsFunc(served, func(path string) bool { return strings.HasPrefix(path, prefix) }) {
			t.Errorf("the ingress forwards %s, which no daemon serves", prefix)
		}
	}
}
