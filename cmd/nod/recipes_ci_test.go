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

// TestRecipeGitHubActions runs the steps of the workflow as a runner does. The
// approval and the deployment are one job, so that no attempt uses an old yes.
func TestRecipeGitHubActions(t *testing.T) {
	t.Parallel()
	type job struct {
		RunsOn  string `yaml:"runs-on"`
		Minutes int    `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses string            `yaml:"uses"`
			With map[string]string `yaml:"with"`
			Env  map[string]string `yaml:"env"`
			Run  string            `yaml:"run"`
		} `yaml:"steps"`
	}
	var flow struct {
		On   struct{ Push struct{ Branches []string } } `yaml:"on"`
		Jobs struct{ Deploy job }                       `yaml:"jobs"`
	}
	recipe(t, "github-actions/deploy.yml", &flow)
	if flow.Jobs.Deploy.Minutes <= 60 {
		t.Error("the job must outlast the approval")
	}
	k := newKitchen(t, map[string]string{"go": goStub})
	known := map[string]string{"${{ vars.NOD_URL }}": k.r.Daemons[0].URL, "${{ secrets.NOD_TOKEN }}": rig.TestAgentToken}
	actions := []string{"actions/setup-go@v5", "actions/checkout@v4"}
	k.serve(cooked{"github-actions", "Deploy me/shop at abc?", func(string) bool {
		for _, s := range flow.Jobs.Deploy.Steps {
			if s.Uses != "" && !slices.Contains(actions, s.Uses) {
				t.Errorf("unknown action %s", s.Uses)
			}
			env := []string{"GITHUB_REPOSITORY=me/shop", "GITHUB_SHA=abc"}
			for name, value := range s.Env {
				if known[value] == "" {
					t.Errorf("unknown expression %s", value)
				}
				env = append(env, name+"="+known[value])
			}
			if _, code := k.exec(env, "bash", "-e", "-c", s.Run); code != 0 {
				return false
			}
		}
		return true
	}})
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
		"GitLab CI": {[]string{"CI_PROJECT_PATH=me/shop", "CI_COMMIT_SHORT_SHA=abc"}, []string{"bash", "-eo", "pipefail"}, "Deploy me/shop at abc?"},
		"Jenkins":   {[]string{"JOB_NAME=shop", "BUILD_NUMBER=7", "GIT_COMMIT=abc"}, []string{"sh", "-xe"}, "Deploy shop at abc, build 7?"},
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
			k.serve(cooked{"ci", system.prompt, func(string) bool {
				script := "export " + row[2] + "\n" + lines
				_, code := k.exec(slices.Concat(k.nod(), system.env), system.shell[0], append(system.shell[1:], "-c", script)...)
				return code == 0
			}})
		})
	}
}

// TestRecipeCINeedsName checks that no card leaves out what is deployed, in any
// shell.
func TestRecipeCINeedsName(t *testing.T) {
	t.Parallel()
	k := newKitchen(t, nil)
	lines := rig.ReadFile(t, filepath.Join(recipeFiles, "ci/approve.sh"))
	for _, env := range [][]string{nil, {"NAME="}} {
		asked := k.answered(func() {
			if out, code := k.exec(append(k.nod(), env...), "sh", "-c", lines); code == 0 || k.deployed() != nil {
				t.Errorf("%q: it was approved: %s", env, out)
			}
		}, bridge.DecideOnce)
		if len(asked) != 0 {
			t.Errorf("%q: asked %d times", env, len(asked))
		}
	}
}

// TestRecipeCIContainer runs the arguments of the container as Kubernetes does.
func TestRecipeCIContainer(t *testing.T) {
	t.Parallel()
	var container struct {
		Name, Image string
		Args        []string
		Env         []struct{ Name, Value string }
		EnvFrom     []struct {
			SecretRef struct{ Name string } `yaml:"secretRef"`
		} `yaml:"envFrom"`
	}
	recipe(t, "ci/container.yaml", &container)
	if len(container.Env) != 2 || container.Env[1].Name != "NOD_URL" || len(container.EnvFrom) != 1 || container.EnvFrom[0].SecretRef.Name != "nod-agent" {
		t.Fatalf("the environment is %+v", container)
	}
	revision := strings.Replace(container.Env[0].Value, "{{ revision }}", "abc", 1)
	for n := range container.Args {
		container.Args[n] = strings.ReplaceAll(container.Args[n], "$("+container.Env[0].Name+")", revision)
	}
	k := newKitchen(t, nil)
	k.serve(cooked{"ci", "Deploy the shop at abc?", func(string) bool {
		if _, code := k.exec(k.nod(), "nod", container.Args...); code != 0 {
			return false
		}
		_, code := k.exec(nil, "./deploy.sh")
		return code == 0
	}})
}

// TestRecipeCIAnsible runs the playbook with Ansible itself.
func TestRecipeCIAnsible(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not installed")
	}
	k := newKitchen(t, nil)
	k.write("playbook.yml", rig.ReadFile(t, filepath.Join(recipeFiles, "ci/playbook.yml")))
	k.write("hosts.ini", "[shop]\nweb1 ansible_connection=local\nweb2 ansible_connection=local\n")
	args := []string{"-i", "hosts.ini", "-e", "version=v2", "-e", "ansible_python_interpreter=auto_silent", "playbook.yml"}
	var ok bool
	for d, want := range map[bridge.Decision]int{bridge.DecideDeny: 0, bridge.DecideOnce: 2} {
		asked := k.answered(func() {
			_, code := k.exec(k.nod(), "ansible-playbook", args...)
			ok = code == 0
		}, d)
		if done := k.deployed(); len(asked) != 1 || asked[0].Interaction.Prompt != "Deploy v2 to web1, web2?" || ok != (want > 0) || len(done) != want {
			t.Errorf("%s: asked %d times, deployed %q", d, len(asked), done)
		}
	}
	if out, code := k.exec(k.nod(), "ansible-playbook", append(args, "--start-at-task", "Deploy")...); code == 0 || k.deployed() != nil {
		t.Errorf("it deployed without asking: %s", out)
	}
}

// TestRecipeCron runs the line of the crontab with the environment of cron.
func TestRecipeCron(t *testing.T) {
	t.Parallel()
	k := newKitchen(t, map[string]string{"hostname": "echo web1"})
	crontab := rig.ReadFile(t, filepath.Join(recipeFiles, "cron/crontab"))
	line := regexp.MustCompile(`(?m)^0 9 \* \* 1 +(.*)$`).FindStringSubmatch(crontab)
	k.write("cron.env", "export PATH="+k.dir+"/bin:/usr/bin:/bin "+strings.Join(k.nod(), " ")+"\n")
	k.serve(cooked{"cron", "Delete snapshots older than 30 days on web1?", func(run string) bool {
		dir := filepath.Join(k.dir, "at-"+run)
		path := strings.NewReplacer("/etc/nod/", k.dir+"/", "/usr/local/bin/", dir+"/", "/var/snapshots", dir)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"cleanup.sh", "new.snap", "old.snap"} {
			k.write("at-"+run+"/"+name, path.Replace(rig.ReadFile(t, filepath.Join(recipeFiles, "cron/cleanup.sh"))))
		}
		snapshot, long := filepath.Join(dir, "old.snap"), time.Now().AddDate(0, 0, -40)
		if err := os.Chtimes(snapshot, long, long); err != nil {
			t.Error(err)
		}
		if run == "fails" { // the step that deletes
			if err := os.Rename(snapshot, filepath.Join(k.dir, "kept.snap")); err != nil {
				t.Error(err)
			}
			k.write("bin/find", "#!/bin/sh\nexit 7\n")
			defer func() { _ = os.Remove(filepath.Join(k.dir, "bin/find")) }()
		}
		_, code := k.exec(nil, "env", "-i", "HOME="+k.dir, "PATH=/usr/bin:/bin", "sh", "-c", path.Replace(line[1]))
		if _, err := os.Stat(filepath.Join(dir, "new.snap")); err != nil {
			t.Error("a new snapshot is gone")
		}
		_, err := os.Stat(snapshot)
		if gone := os.IsNotExist(err) && run != "fails"; gone != (code == 0) {
			t.Errorf("exit code %d, and deleted: %v", code, gone)
		}
		if code == 0 {
			k.exec(nil, "./deploy.sh", run)
		}
		return code == 0
	}})
}
