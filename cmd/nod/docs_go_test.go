package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestGoInDocuments checks that the Go programs in documents compile, and that
// those which say what they print do so without a daemon.
func TestGoInDocuments(t *testing.T) {
	t.Parallel()
	program := regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$(?:\n\nIt prints:\n\n```text\n(.*?)^```$)?")
	n := 0
	for _, doc := range documents(t, "../..") {
		for _, m := range program.FindAllStringSubmatch(rig.ReadFile(t, filepath.Join("../..", doc)), -1) {
			n++
			path, binary := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "build", "-o", binary, path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", doc, err, out)
				continue
			}
			if m[2] == "" {
				continue
			}
			run := exec.CommandContext(t.Context(), binary)
			run.Env = []string{}
			if out, err := run.CombinedOutput(); err != nil || string(out) != m[2] {
				t.Errorf("%s: the program prints %q, %v, want %q", doc, out, err, m[2])
			}
		}
	}
	if n == 0 {
		t.Error("no programs")
	}
}
