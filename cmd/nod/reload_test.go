package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// lockedBuffer is a buffer that is safe for concurrent reads and writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestReloadBySignal checks that SIGHUP reloads the config, and that an invalid
// config changes nothing.
func TestReloadBySignal(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Quiet: true})
	dir := t.TempDir()
	path := filepath.Join(dir, "nod.yaml")
	write := func(agent string) {
		t.Helper()
		text := "listen: 127.0.0.1:0\nredis: {prefix: other}\nagents:\n  " + agent + ": {token: a-token-of-some-length}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	cmd := exec.CommandContext(t.Context(), rig.Binary(t), "serve", "--config", path, "--log-json")
	cmd.Env = append(os.Environ(), "NOD_REDIS_URL="+r.Redis.URL())
	log := &lockedBuffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // the process may have ended
	hup := func(want string) {
		t.Helper()
		before := strings.Count(log.String(), want)
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		r.Eventually("the log has "+want, func() bool { return strings.Count(log.String(), want) > before })
	}
	r.Eventually("the daemon serves", func() bool { return strings.Contains(log.String(), `"msg":"serving"`) })
	write("two: {token: short}\n  three")
	hup("the old config stays")
	if !regexp.MustCompile(`agents\.two[^\n]*at least`).MatchString(log.String()) {
		t.Errorf("the problem is not named: %s", log)
	}
	write("two")
	hup("config reloaded")
	if !strings.Contains(log.String(), `"added":"agent two","removed":"agent one"`) {
		t.Errorf("the log does not say what came and went: %s", log)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hup("the old config stays")
	if !strings.Contains(log.String(), "no longer has agents") {
		t.Errorf("an empty file: %s", log)
	}
	reload := func() string {
		m := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(log.String())
		cli := exec.CommandContext(t.Context(), rig.Binary(t), "config", "reload", "--config", path, "--url", "http://"+m[1])
		cli.Env = append(os.Environ(), "NOD_REDIS_URL="+r.Redis.URL())
		out, _ := cli.CombinedOutput() // the test reads the output
		return string(out)
	}
	if out := reload(); !strings.Contains(out, "no longer has agents") {
		t.Errorf("nod config reload of an empty file prints %s", out)
	}
	write("two: {token: a-token-of-some-length}\n  three")
	if out := reload(); !strings.Contains(out, "same token as") {
		t.Errorf("nod config reload of an invalid file prints %s", out)
	}
	write("three")
	if out := reload(); out != "added: agent three\nremoved: agent two\n" {
		t.Errorf("nod config reload prints %s", out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}
