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

	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
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
	checkPanels(t, dashboard)
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
		if !slices.Contains(asked, name) {
			t.Errorf("%s is exported but not used", name)
		}
	}
}

// panel is a panel of the dashboard.
type panel struct {
	Title, Description, Type string
	FieldConfig              struct {
		Defaults struct{ Unit string } `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct{ Expr string } `json:"targets"`
}

// axes are the units of the values of queries, by a pattern that identifies the
// query. The first that matches counts.
var axes = []struct {
	query *regexp.Regexp
	unit  string
}{
	{regexp.MustCompile(`\) / `), "percentunit"},
	{regexp.MustCompile(`histogram_quantile|_seconds\{|_timestamp_seconds`), "s"},
	{regexp.MustCompile(`rate\(nod_api_requests`), "reqps"},
	{regexp.MustCompile(`rate\(`), "ops"},
	{regexp.MustCompile(`_bytes\{`), "bytes"},
	{regexp.MustCompile(``), "short"},
}

var selector = regexp.MustCompile(`\b(?:nod|process)_[a-z_]+(\{[^}]*\})?`)

// checkPanels checks that every panel explains itself, has one unit, and
// honors every variable of the dashboard that its metrics have a label for.
func checkPanels(t *testing.T, dashboard string) {
	t.Helper()
	var parsed struct {
		Panels     []panel `json:"panels"`
		Templating struct {
			List []struct{ Name string } `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal([]byte(dashboard), &parsed); err != nil || len(parsed.Panels) < 15 {
		t.Fatal(err, len(parsed.Panels))
	}
	metrics := rig.ReadFile(t, "../../docs/metrics.md")
	for _, p := range parsed.Panels {
		if p.Type != "row" && p.Description == "" {
			t.Errorf("the panel %q has no description", p.Title)
		}
		for _, target := range p.Targets {
			for _, a := range axes {
				if a.query.MatchString(target.Expr) {
					if a.unit != p.FieldConfig.Defaults.Unit {
						t.Errorf("the panel %q has the unit %s, but %s is in %s", p.Title, p.FieldConfig.Defaults.Unit, target.Expr, a.unit)
					}
					break
				}
			}
			for _, s := range selector.FindAllString(target.Expr, -1) {
				name := regexp.MustCompile(`(_bucket|_count|_sum)?(\{.*)?$`).ReplaceAllString(s, "")
				row := regexp.MustCompile("(?m)^\\| `" + name + "` \\| .*").FindString(metrics)
				for _, v := range parsed.Templating.List {
					labeled := v.Name == "job" || v.Name == "instance" || strings.Contains(row, "`"+v.Name+"`")
					if labeled && !strings.Contains(s, v.Name+`=~"$`+v.Name+`"`) {
						t.Errorf("the panel %q ignores $%s: %s", p.Title, v.Name, s)
					}
				}
			}
		}
	}
	for _, v := range parsed.Templating.List {
		if strings.Count(dashboard, "$"+v.Name)+strings.Count(dashboard, "${"+v.Name+"}") == 0 {
			t.Errorf("no panel uses the variable %s", v.Name)
		}
	}
}

// TestRunbookOfAlerts checks that every alert links to a section of the
// runbook, and that every section is about an alert.
func TestRunbookOfAlerts(t *testing.T) {
	t.Parallel()
	const page = "https://github.com/nodbridge/nod/blob/main/docs/operate/runbook.md#"
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(rig.ReadFile(t, "../../deploy/prometheus/alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	var sections, alerts []string
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(rig.ReadFile(t, "../../docs/operate/runbook.md"), -1) {
		sections = append(sections, m[1])
	}
	monitoring := rig.ReadFile(t, "../../docs/operate/monitoring.md")
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			alerts = append(alerts, r.Alert)
			if got := r.Annotations["runbook_url"]; got != page+slug(r.Alert) {
				t.Errorf("%s links to %q", r.Alert, got)
			}
			if !strings.Contains(monitoring, "`"+r.Alert+"`") {
				t.Errorf("docs/operate/monitoring.md does not list %s", r.Alert)
			}
		}
	}
	if len(alerts) < 10 || !slices.Equal(sections, alerts) {
		t.Errorf("the runbook is about %v, the alerts are %v", sections, alerts)
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
