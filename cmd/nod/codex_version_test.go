package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestCodexTooOld checks that nod proxy codex ends with a clear message if the Codex on
// the PATH is too old to start an app server, and waits for a newer one.
func TestCodexTooOld(t *testing.T) {
	t.Parallel()
	for version, ends := range map[string]bool{"0.149.0": true, "0.166.0": false} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "codex"), []byte("#!/bin/sh\necho codex-cli "+version+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		h := &hooked{cmd: exec.Command(rig.Binary(t), "proxy", "codex"), done: make(chan int, 1)}
		h.cmd.Env = append(h.cmd.Environ(), "CODEX_HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "NOD_URL=http://127.0.0.1:9", "NOD_TOKEN=x")
		h.cmd.Stderr = &h.err
		if err := h.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = h.cmd.Wait() // the exit code is checked instead
			h.done <- h.cmd.ProcessState.ExitCode()
		}()
		select {
		case code := <-h.done:
			if !ends || code == 0 || !strings.Contains(h.err.String(), "cannot work with codex-cli 0.149.0") || !strings.Contains(h.err.String(), "nod init codex") {
				t.Errorf("%s: exit code %d: %s", version, code, h.err.String())
			}
		case <-time.After(3 * time.Second):
			if ends {
				t.Errorf("%s: it does not end: %s", version, h.err.String())
			}
			_ = h.cmd.Process.Kill()
			<-h.done
		}
	}
}
