package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestCodexTooOld checks that nod proxy codex ends with a clear message if the Codex on
// the PATH is too old to start an app server, and waits for a newer one.
func TestCodexTooOld(t *testing.T) {
	t.Parallel()
	for version, ends := range map[string]bool{"0.149.0": true, "0.166.0": false} {
		dir := t.TempDir()
		programs.Write(t, filepath.Join(dir, "codex"), "#!/bin/sh\necho codex-cli "+version+"\n")
		said := &lockedBuffer{}
		cmd := exec.Command(rig.Binary(t), "proxy", "codex")
		cmd.Env = append(cmd.Environ(), "CODEX_HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "NOD_URL=http://127.0.0.1:9", "NOD_TOKEN=x")
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !ends {
			await.Until(t, "it waits for Codex", func() bool { return strings.Contains(said.String(), "waiting for Codex") })
			_ = cmd.Process.Kill() // the process is running
			_ = cmd.Wait()
			continue
		}
		_ = cmd.Wait() // the exit code is checked instead
		if code, said := cmd.ProcessState.ExitCode(), said.String(); code == 0 || !strings.Contains(said, "cannot work with codex-cli 0.149.0") || !strings.Contains(said, "nod init codex") {
			t.Errorf("%s: exit code %d: %s", version, code, said)
		}
	}
}
