package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// policyBook is the document whose policy the commands of other documents use.
const policyBook = "docs/access/policy.md"

// runbooks returns all documents in the order in which the test runs their
// commands, starting with those that prepare the setup for the others.
func runbooks(t *testing.T) []string {
	t.Helper()
	out := []string{"docs/quickstart.md", "docs/quickstart-slack.md", policyBook}
	for _, doc := range documents(t, "../..") {
		if !slices.Contains(out, doc) {
			out = append(out, doc)
		}
	}
	return out
}

var shellBlock = regexp.MustCompile("(?ms)(<!-- not run: [^\n]* -->\n[ ]*)?^[ ]*```sh\n(.*?)^[ ]*```$")

// stubs replace programs that would change the machine. They only check that
// the files in their arguments exist.
var stubs = map[string]string{
	"docker": `for a in "$@"; do case "$a" in deploy/*) test -e "$a";; esac; done`, "helm": `test -e deploy/helm/nod/Chart.yaml`,
	"kubectl": `for a in "$@"; do case "$a" in deploy/*) test -e "$a";; esac; done`, "systemctl": "", "useradd": "", "pkill": `test "$2 $3" = "-f nod serve"; kill "$1" "$SLEEPER"`,
	"install": `for a in "$@"; do case "$a" in deploy/*) test -e "$a";; esac; done`, "runuser": "", "my-agent": "cat", "some-server": "cat", "terraform": "", "make": "", "npx": "cat", "codex": "cat",
	// Calls go to the sandbox of the test, and streams end after a second.
	"curl": `for a in "$@"; do shift; case "$a" in 127.0.0.1:8788/*) a="$SANDBOX/${a#127.0.0.1:8788/}";; -N) set -- "$@" --max-time 1;; esac; set -- "$@" "$a"; done; /usr/bin/env PATH="${PATH#*:}" curl "$@" || test $? = 28`,
}

// wrapper replaces nod. Servers run until they are stopped, so the wrapper only
// checks that they keep running for a while.
const wrapper = `#!/bin/bash
case "$1" in
serve|sandbox|proxy|mcp|demo)
  [ "$1" = serve ] && export NOD_LISTEN=127.0.0.1:0
  [ "$1" = sandbox ] && set -- "$@" --listen 127.0.0.1:0
  timeout -s INT 3 "$REAL_NOD" "$@" </dev/null; rc=$?
  case $rc in 124|0) exit 0;; esac; exit $rc;;
esac
exec "$REAL_NOD" "$@"
`

// book is the environment in which commands run: a directory, a Redis server,
// the sandbox, a daemon once there is a config, and people who answer every
// request.
type book struct {
	t      *testing.T
	r      *rig.Rig
	dir    string
	env    []string
	url    string
	answer string // input for nod init
}

func newBook(t *testing.T) *book {
	t.Helper()
	r := rig.Outside(t)
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	files := map[string]string{"bin/nod": wrapper, "plan.md": "1. Do it\n", "values.yaml": "{}\n", "schema.json": `{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"replicas":{"type":"integer"}}}`, "delete.sh": "#!/bin/sh\n", "nod": ""}
	for name, body := range stubs {
		files["bin/"+name] = "#!/bin/sh\nset -e\n" + body + "\n"
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		programs.Write(t, filepath.Join(dir, name), body)
	}
	if err := os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS(filepath.Join(root, "deploy"))); err != nil {
		t.Fatal(err)
	}
	addr := rig.FreeAddress(t)
	sleeper := exec.CommandContext(t.Context(), "sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }) // a command may have killed it
	b := &book{t: t, r: r, dir: dir, url: "http://" + addr, answer: "slack\nana\n" + sandbox.SlackChannel + "\nU0ANA00001\n" + "redis://" + r.Redis.Addr + "\n"}
	b.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "REAL_NOD=" + rig.Binary(t), fmt.Sprint("SLEEPER=", sleeper.Process.Pid),
		"NOD_URL=" + b.url, "NOD_LISTEN=" + addr, "NOD_REDIS_URL=" + "redis://" + r.Redis.Addr,
		"SLACK_BOT_TOKEN=" + sandbox.SlackBotToken, "SLACK_APP_TOKEN=" + sandbox.SlackAppToken, "NOD_SANDBOX=" + r.Base,
		"NOD_PEOPLE_ANA_TOKEN=" + rig.AnaToken, "NOD_PEOPLE_ANA_AUDITOR=true", "NOD_TOKEN_AUDITOR=" + rig.AnaToken, "SANDBOX=" + r.Base, "CI_JOB_ID=42",
		"NOD_TOKEN_CI=token-of-ci-for-the-books", "NOD_TOKEN_DEPLOY_BOT=token-of-the-bot-for-the-books",
	}
	return b
}

// bare matches nod init without --yes, which prompts.
var bare = regexp.MustCompile(`^nod init\s*(#.*)?(\n|$)|^nod init --config \S+ --env-file`)

// run runs a block in a shell that stops at the first failure.
func (b *book) run(name, block string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), await.Limit)
	defer cancel()
	if strings.Contains(block, "show ID") { // of a decided request
		page, err := client.New(b.url, rig.AnaToken, nil).List(ctx, bridge.ListFilter{State: bridge.StateApproved, Limit: 1})
		if err != nil || len(page.Items) == 0 {
			b.t.Fatal("nothing was approved", err)
		}
		block = strings.ReplaceAll(block, "show ID", "show "+string(page.Items[0].Interaction.ID))
	}
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", block)
	cmd.Dir, cmd.Env = b.dir, b.env
	if bare.MatchString(block) {
		cmd.Stdin = strings.NewReader(b.answer)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Errorf("%s: %v\n%s\noutput:\n%s", name, err, block, out)
	}
}

// serve runs the daemon with the config that the first commands created.
func (b *book) serve() func() {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), rig.Binary(b.t), "serve")
	cmd.Dir, cmd.Env = b.dir, b.env
	log := &lockedBuffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.r.Eventually("the daemon is ready", func() bool {
		resp, err := http.Get(b.url + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	ctx, stop := context.WithCancel(b.t.Context())
	var people sync.WaitGroup
	people.Go(func() { b.people(ctx) })
	return func() {
		stop()
		people.Wait()
		_ = cmd.Process.Signal(os.Interrupt) // the process may have ended
		_ = cmd.Wait()
	}
}

// people answers every pending request until ctx ends.
func (b *book) people(ctx context.Context) {
	ana := client.New(b.url, rig.AnaToken, nil)
	for bridge.Pause(ctx, 50*time.Millisecond) {
		page, err := ana.List(ctx, bridge.ListFilter{State: bridge.StatePending})
		if err != nil {
			continue
		}
		for _, rec := range page.Items {
			i := rec.Interaction
			reply := bridge.Reply{Decision: bridge.DecideOnce}
			if i.Approval != nil {
				reply.Confirm = i.Approval.Confirm
			} else {
				reply = bridge.Reply{Answers: map[string]bridge.Answer{}}
				for _, q := range i.Questions {
					reply.Answers[q.ID] = someAnswer(q)
				}
			}
			_, _ = ana.Respond(ctx, rec.Interaction.ID, reply) // a command may already have answered
		}
	}
}

func someAnswer(q bridge.Question) bridge.Answer {
	switch {
	case q.Widget == bridge.WidgetPlanReview:
		return bridge.Answer{JSON: []byte(`{"decision":"approve"}`)}
	case q.Widget == bridge.WidgetDateTime:
		return bridge.TextAnswer("2026-11-21T14:30:00Z")
	case q.Widget == bridge.WidgetForm:
		return bridge.Answer{JSON: []byte(`{"name":"billing","replicas":3}`)}
	case len(q.Options) > 0:
		return bridge.TextAnswer(q.Options[0].Value)
	}
	return bridge.TextAnswer("yes")
}

// adopt adds the policy of a document to the config.
func (b *book) adopt(doc string) {
	b.t.Helper()
	m := regexp.MustCompile("(?ms)^```yaml\n(risks:.*?)^```$").FindStringSubmatch(rig.ReadFile(b.t, filepath.Join("../..", doc)))
	if m == nil {
		b.t.Fatal("no policy in " + doc)
	}
	path := filepath.Join(b.dir, ".config", "nod", "nod.yaml")
	text := rig.ReadFile(b.t, path) + "\n" + strings.ReplaceAll(m[1], "route: production, ", "")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestRunbooks checks that every command in the user documents works. A
// document gives the reason for each block that is not run.
func TestRunbooks(t *testing.T) {
	level.CI(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the commands are for Linux")
	}
	b := newBook(t)
	stop := func() {}
	ran := 0
	for _, doc := range runbooks(t) {
		if doc == policyBook {
			b.adopt(doc)
		}
		for _, m := range shellBlock.FindAllStringSubmatch(rig.ReadFile(t, filepath.Join("../..", doc)), -1) {
			block := strings.TrimSpace(m[2])
			if m[1] != "" {
				continue
			}
			ran++
			b.run(doc, block)
			if strings.HasPrefix(block, "nod init --yes") {
				stop = b.serve()
				b.env = append(b.env, "NOD_TOKEN="+strings.TrimSpace(rig.ReadFile(t, filepath.Join(b.dir, ".config", "nod", "nod.secrets", "agent_agent"))))
			}
		}
	}
	stop()
	if ran < 60 {
		t.Errorf("%d blocks were run", ran)
	}
}
