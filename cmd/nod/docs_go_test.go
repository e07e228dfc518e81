package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestGoInDocuments checks that the Go programs in documents compile.
func TestGoInDocuments(t *testing.T) {
	t.Parallel()
	program := regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$")
	n := 0
	for _, doc := range documents(t, "../..") {
		for _, m := range program.FindAllStringSubmatch(rig.ReadFile(t, filepath.Join("../..", doc)), -1) {
			n++
			path := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(path, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "build", "-o", os.DevNull, path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", doc, err, out)
			}
		}
	}
	if n == 0 {
		t.Error("no programs")
	}
}
