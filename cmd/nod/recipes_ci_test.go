package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// goStub replaces Go, which installs nod on a runner.
const goStub = `test "$*" = "install github.com/nodbridge/nod/cmd/nod@v0.1.0"`

// recipe decodes a file strictly: each field must be one that the test knows.
func recipe(t *testing.T, name string, into any) {
	t.Helper()
	dec := yaml.NewDecoder(bytes.NewReader([]byte(rig.ReadFile(t, filepath.Join(recipeFiles, name)))))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Fatal(name, err)
	}
}

// TestRecipeGitHubActions runs the steps of the workflow as a runner does.
func TestRecipeGitHubActions(t *testing.T) {
	t.Parallel()
	type job struct {
		RunsOn  string            `yaml:"runs-on"`
		Minutes int               `yaml:"timeout-minutes"`
		Needs   string            `yaml:"needs"`
		Env     map[string]string `yaml:"env"`
		Steps   []struct {
			Uses string            `yaml:"uses"`
			With map[string]string `yaml:"with"`
			Run  string            `yaml:"run"`
		} `yaml:"steps"`
	}
	var flow struct {
		On   struct{ Push struct{ Branches []string } } `yaml:"on"`
		Jobs struct{ Approve, Deploy job }              `yaml:"jobs"`
	}
	recipe(t, "github-actions/deploy.yml", &flow)
	if flow.Jobs.Deploy.Needs != "approve" || flow.Jobs.Approve.Minutes <= 60 {
		t.Error("the deployment must need the approval, and the job must outlast it")
	}
	k := newKitchen(t, map[string]string{"go": goStub})
	known := map[string]string{"${{ vars.NOD_URL }}": k.r.Daemons[0].URL, "${{ secrets.NOD_TOKEN }}": rig.TestAgentToken}
	actions := []string{"actions/setup-go@v5", "actions/checkout@v4"}
	k.both("Deploy me/shop at abc?", func(run string) bool {
		for _, j := range []job{flow.Jobs.Approve, flow.Jobs.Deploy} {
			env := []string{"GITHUB_REPOSITORY=me/shop", "GITHUB_SHA=abc", "GITHUB_RUN_ID=" + run, "GITHUB_RUN_ATTEMPT=1"}
			for name, value := range j.Env {
				if known[value] == "" {
					t.Fatalf("unknown expression %s", value)
				}
				env = append(env, name+"="+known[value])
			}
			for _, s := range j.Steps {
				if s.Uses != "" && !slices.Contains(actions, s.Uses) {
					t.Fatalf("unknown action %s", s.Uses)
				}
				if _, code := k.exec(env, "bash", "-e", "-c", s.Run); code != 0 {
					return false
				}
			}
		}
		return true
	})
}

// TestRecipeCI runs the four lines with the variables that each row of the page
// sets, as a runner of this system does.
func TestRecipeCI(t *testing.T) {
	t.Parallel()
	page := rig.ReadFile(t, "../../docs/recipes/ci.md")
	lines := rig.ReadFile(t, filepath.Join(recipeFiles, "ci/approve.sh"))
	if n := strings.Count(lines, "\n"); n != 4 {
		t.Errorf("the page promises four lines, and the file has %d", n)
	}
	// Each system has variables of the job, a shell, and the expected prompt.
	systems := map[string]struct {
		env    []string
		shell  []string
		prompt string
	}{
		"GitLab CI": {[]string{"CI_PROJECT_PATH=me/shop", "CI_COMMIT_SHORT_SHA=abc", "CI_JOB_ID="}, []string{"bash", "-eo", "pipefail"}, "Deploy me/shop at abc?"},
		"Jenkins":   {[]string{"JOB_NAME=shop", "BUILD_NUMBER=7", "BUILD_TAG="}, []string{"sh", "-xe"}, "Deploy shop, build 7?"},
	}
	rows := regexp.MustCompile("(?m)^ *\\| ([^|]+) \\| `(NAME=[^|`]+)` \\|").FindAllStringSubmatch(page, -1)
	if len(rows) != len(systems) {
		t.Fatalf("the rows are %q", rows)
	}
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			t.Parallel()
			system := systems[row[1]]
			k := newKitchen(t, nil)
			k.both(system.prompt, func(run string) bool {
				env := slices.Concat(k.nod(), system.env)
				env[len(env)-1] += "run-" + run // the ID of the attempt
				script := "export " + row[2] + "\n" + lines + "./deploy.sh\n"
				_, code := k.exec(env, system.shell[0], append(system.shell[1:], "-c", script)...)
				return code == 0
			})
		})
	}
}

// TestRecipeCINeedsRun checks that the lines never share a key by accident: an
// approval would then count for other runs as well.
func TestRecipeCINeedsRun(t *testing.T) {
	t.Parallel()
	k := newKitchen(t, nil)
	lines := rig.ReadFile(t, filepath.Join(recipeFiles, "ci/approve.sh"))
	for _, env := range [][]string{{"NAME=shop"}, {"NAME=shop", "RUN="}, {"RUN=1"}} {
		asked := k.answered(bridge.DecideOnce, func() {
			if out, code := k.exec(append(k.nod(), env...), "sh", "-c", lines); code == 0 {
				t.Errorf("%q: it was approved: %s", env, out)
			}
		})
		if len(asked) != 0 {
			t.Errorf("%q: asked %d times", env, len(asked))
		}
	}
}

// TestRecipeCIContainer runs the arguments of the container.
func TestRecipeCIContainer(t *testing.T) {
	t.Parallel()
	var container struct {
		Image   string
		Args    []string
		Env     []struct{ Name, Value string }
		EnvFrom []struct {
			SecretRef struct{ Name string } `yaml:"secretRef"`
		} `yaml:"envFrom"`
	}
	recipe(t, "ci/container.yaml", &container)
	if len(container.Env) != 1 || container.Env[0].Name != "NOD_URL" || len(container.EnvFrom) != 1 || container.EnvFrom[0].SecretRef.Name != "nod-agent" {
		t.Fatalf("the environment is %+v", container)
	}
	k := newKitchen(t, nil)
	k.both("Deploy the shop?", func(string) bool {
		if _, code := k.exec(k.nod(), "nod", container.Args...); code != 0 {
			return false
		}
		_, code := k.exec(nil, "./deploy.sh")
		return code == 0
	})
}

// TestRecipeCIAnsible runs the playbook with Ansible itself.
func TestRecipeCIAnsible(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not installed")
	}
	k := newKitchen(t, nil)
	for _, name := range []string{"playbook.yml", "approve.sh"} {
		k.write(name, rig.ReadFile(t, filepath.Join(recipeFiles, "ci", name)))
	}
	k.write("hosts.ini", "[shop]\nweb1 ansible_connection=local\nweb2 ansible_connection=local\n")
	k.both("Deploy v2 to web1, web2?", func(string) bool {
		args := []string{"-i", "hosts.ini", "-e", "version=v2", "-e", "ansible_python_interpreter=auto_silent", "playbook.yml"}
		out, code := k.exec(k.nod(), "ansible-playbook", args...)
		if raw, err := os.ReadFile(filepath.Join(k.dir, "deployed")); err == nil && string(raw) != "\n\n" {
			t.Errorf("deployed %q, want one line for each host:\n%s", raw, out)
		}
		return code == 0
	})
}

// TestRecipeCron runs the line of the crontab with the environment of cron.
func TestRecipeCron(t *testing.T) {
	t.Parallel()
	k := newKitchen(t, nil)
	path := func(text string) string {
		dirs := []string{"/etc/nod/", k.dir + "/", "/usr/local/bin/", k.dir + "/", "/var/snapshots", k.dir + "/snapshots"}
		return strings.NewReplacer(dirs...).Replace(text)
	}
	k.write("cleanup.sh", path(rig.ReadFile(t, filepath.Join(recipeFiles, "cron/cleanup.sh"))))
	if err := os.Mkdir(filepath.Join(k.dir, "snapshots"), 0o755); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(k.dir, "snapshots", "old.snap")
	k.write("snapshots/new.snap", "")
	crontab := rig.ReadFile(t, filepath.Join(recipeFiles, "cron/crontab"))
	line := regexp.MustCompile(`(?m)^0 9 \* \* 1 +(.*)$`).FindStringSubmatch(crontab)
	// Two runs on one day share a request, so each run here has a day of its own.
	day := map[string]string{"deny": "2026-11-16", "once": "2026-11-23", "down": "2026-11-30"}
	k.both("Delete snapshots", func(run string) bool {
		k.write("snapshots/old.snap", "")
		long := time.Now().AddDate(0, 0, -40)
		if err := os.Chtimes(snapshot, long, long); err != nil {
			t.Fatal(err)
		}
		k.write("bin/date", "#!/bin/sh\ntest \"$*\" = +%F && echo "+day[run])
		k.write("cron.env", "export PATH="+k.dir+"/bin:/usr/bin:/bin "+strings.Join(k.nod(), " ")+"\n")
		_, code := k.exec(nil, "env", "-i", "HOME="+k.dir, "PATH=/usr/bin:/bin", "sh", "-c", path(line[1]))
		if _, err := os.Stat(filepath.Join(k.dir, "snapshots/new.snap")); err != nil {
			t.Error("a new snapshot is gone")
		}
		_, err := os.Stat(snapshot)
		if gone := os.IsNotExist(err); gone != (code == 0) {
			t.Errorf("exit code %d, and deleted: %v", code, gone)
		}
		if code == 0 {
			k.write("deployed", "")
		}
		return code == 0
	})
}
