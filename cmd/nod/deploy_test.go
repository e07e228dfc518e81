package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
)

// TestDashboard checks that the dashboard and the alerts query only metrics
// that nod exports, and that every metric is shown or alerted on.
func TestDashboard(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("grep", "-rhoE", "--exclude=*_test.go", `"nod_[a-z_]+"`, "../../bridge/observe").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(strings.ReplaceAll(string(out), `"`, ""))
	dashboard, alerts := rig.ReadFile(t, "../../deploy/grafana/nod.json"), rig.ReadFile(t, "../../deploy/prometheus/alerts.yaml")
	var parsed struct {
		Panels []struct {
			Title, Description, Type string
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(dashboard), &parsed); err != nil || len(parsed.Panels) < 15 {
		t.Fatal(err, len(parsed.Panels))
	}
	for _, p := range parsed.Panels {
		if p.Type != "row" && p.Description == "" {
			t.Errorf("the panel %q has no description", p.Title)
		}
	}
	asked := regexp.MustCompile(`\bnod_[a-z_]+`).FindAllString(dashboard+alerts, -1)
	for n, name := range asked {
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			asked[n] = strings.TrimSuffix(asked[n], suffix)
		}
		if !slices.Contains(known, asked[n]) {
			t.Errorf("%s is queried but not exported", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(asked, name) && name != "nod_platform_state_since_seconds" {
			t.Errorf("%s is exported but not used", name)
		}
	}
}

// TestChartConfig checks that nod accepts the config that the chart writes.
func TestChartConfig(t *testing.T) {
	t.Parallel()
	var values struct {
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal([]byte(rig.ReadFile(t, "../../deploy/helm/nod/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.Marshal(values.Config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path, []string{"SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1"}); err != nil {
		t.Error(err)
	}
}
