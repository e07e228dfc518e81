package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestRunCollectsOrphans checks that nod run as the first process of a
// container leaves no zombies.
func TestRunCollectsOrphans(t *testing.T) {
	t.Parallel()
	unshare := []string{"--pid", "--fork", "--kill-child", "--mount-proc"}
	if err := exec.Command("unshare", append(unshare, "true")...).Run(); err != nil {
		t.Skip("needs the right to make a PID namespace: ", err)
	}
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	// The orphan ends after its parent. The script waits until it is gone.
	const script = `sh -c 'sleep 0.05 & echo $! >orphan'
pid=$(cat orphan); n=0
while [ -e /proc/$pid ] && [ $n -lt 500 ]; do sleep 0.02; n=$((n+1)); done
[ -e /proc/$pid ] && grep State /proc/$pid/status
echo done`
	cmd := exec.Command("unshare", append(unshare, rig.Binary(t), "run", "--", "sh", "-c", script)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rec := pendingPrompt(r, runPrompt)
	if _, err := r.Person.Respond(r.Ctx, rec.Interaction.ID, bridge.Reply{Decision: bridge.DecideOnce}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "done") || strings.Contains(out.String(), "zombie") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestWrapperIsKilled checks that a wrapped program ends with nod, even if nod
// is killed and the program ignores the end of its input, and that it does not
// get the token of nod.
func TestWrapperIsKilled(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"MCP": {"mcp", "--wrap", "--"}, "ACP": {"proxy", "acp", "--"}} {
		dir := t.TempDir()
		pids := filepath.Join(dir, "pid")
		if err := syscall.Mkfifo(pids, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(rig.Binary(t), append(args, "sh", "-c", `echo "$$ token=${NOD_TOKEN-none}" >pid; while :; do sleep 60; done`)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "NOD_URL=http://127.0.0.1:1", "NOD_TOKEN=secret")
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer input.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(pids) // until the program writes
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(f).ReadString('\n')
		f.Close()
		text, token, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, perr := strconv.Atoi(text)
		if err != nil || perr != nil || token != "token=none" {
			t.Fatal(name, line, err, perr)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		await.Until(t, name+": the program ends", func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
	}
}

// zombie reports whether a process has ended and was not collected yet.
func zombie(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(raw, []byte(") Z "))
}

// TestOutputIsLost checks that a command fails if its output cannot be written.
func TestOutputIsLost(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"version"}, {"--version"}, {"--help"}, {"help", "run"}, {"config", "token"}, {"completion", "bash"}} {
		var errs bytes.Buffer
		if code := Run(args, strings.NewReader(""), full, &errs); code == 0 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%q: exit %d, %s", args, code, errs.String())
		}
	}
}
