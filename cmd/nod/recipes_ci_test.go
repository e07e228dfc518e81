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

	"github.com/nodbridge/nod/cmd/nod/rig"
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

// TestRecipeGitLab runs the scripts of the jobs, stage by stage.
func TestRecipeGitLab(t *testing.T) {
	t.Parallel()
	type job struct {
		Stage, Image, Timeout string
		Rules                 []struct{ If string }
		Script                []string
	}
	var pipeline struct {
		Stages          []string
		Approve, Deploy job
	}
	recipe(t, "gitlab-ci/.gitlab-ci.yml", &pipeline)
	jobs := []job{pipeline.Approve, pipeline.Deploy}
	inOrder := slices.Equal(pipeline.Stages, []string{jobs[0].Stage, jobs[1].Stage})
	if !inOrder || !slices.Equal(jobs[0].Rules, jobs[1].Rules) {
		t.Error("the approval must be a stage before the deployment, under the same rules")
	}
	if limit, err := time.ParseDuration(jobs[0].Timeout); err != nil || limit <= time.Hour {
		t.Error("the job must outlast the approval")
	}
	k := newKitchen(t, map[string]string{"go": goStub})
	k.both("Deploy me/shop at abc?", func(run string) bool {
		env := append(k.nod(), "CI_PROJECT_PATH=me/shop", "CI_COMMIT_SHORT_SHA=abc", "CI_PIPELINE_ID=1", "CI_JOB_ID="+run)
		for _, j := range jobs {
			if _, code := k.exec(env, "bash", "-eo", "pipefail", "-c", strings.Join(j.Script, "\n")); code != 0 {
				return false
			}
		}
		return true
	})
}

// TestRecipeJenkins runs the sh steps of the pipeline in their order.
func TestRecipeJenkins(t *testing.T) {
	t.Parallel()
	text := rig.ReadFile(t, filepath.Join(recipeFiles, "jenkins/Jenkinsfile"))
	stage := regexp.MustCompile(`(?s)stage\('(\w+)'\) \{\s+steps \{\s+sh (?:'''(.*?)'''|'([^'\n]*)')\s+\}\s+\}`)
	steps := stage.FindAllStringSubmatch(text, -1)
	if len(steps) != 2 || steps[0][1] != "Approve" || steps[1][1] != "Deploy" {
		t.Fatalf("the stages are %q", steps)
	}
	// The rest of the file is exactly the frame of a declarative pipeline.
	frame := text
	for _, s := range steps {
		frame = strings.Replace(frame, s[0], "", 1)
	}
	const want = `// Jenkinsfile pipeline { agent any ` +
		`environment { NOD_URL = 'https://nod.example.com' NOD_TOKEN = credentials('nod-token') } ` +
		`options { timeout(time: 70, unit: 'MINUTES') } stages { } }`
	if got := strings.Join(strings.Fields(frame), " "); got != want {
		t.Errorf("the pipeline is\n%s, want\n%s", got, want)
	}
	k := newKitchen(t, nil)
	k.both("Deploy shop, build 7?", func(run string) bool {
		for _, s := range steps {
			// Groovy joins lines that end with a backslash.
			script := strings.ReplaceAll(s[2]+s[3], "\\\n", "")
			env := append(k.nod(), "JOB_NAME=shop", "BUILD_NUMBER=7", "BUILD_TAG=jenkins-shop-"+run)
			if _, code := k.exec(env, "sh", "-xe", "-c", script); code != 0 {
				return false
			}
		}
		return true
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

// TestRecipeAnsible runs the playbook with Ansible itself.
func TestRecipeAnsible(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not installed")
	}
	k := newKitchen(t, nil)
	k.write("deploy.yml", rig.ReadFile(t, filepath.Join(recipeFiles, "ansible/deploy.yml")))
	k.write("hosts.ini", "[shop]\nweb1 ansible_connection=local\nweb2 ansible_connection=local\n")
	k.both("Deploy v2 to web1, web2?", func(string) bool {
		args := []string{"-i", "hosts.ini", "-e", "version=v2", "-e", "ansible_python_interpreter=auto_silent", "deploy.yml"}
		out, code := k.exec(k.nod(), "ansible-playbook", args...)
		if raw, err := os.ReadFile(filepath.Join(k.dir, "deployed")); err == nil && string(raw) != "v2\nv2\n" {
			t.Errorf("deployed %q, want one line for each host:\n%s", raw, out)
		}
		return code == 0
	})
}
