package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// buildDir is the directory of the built binary. It is empty until then.
var buildDir string

// buildNod builds the nod binary once for all tests.
var buildNod = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "nod-test-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "nod")
	out, err := exec.Command("go", "build", "-o", path, "github.com/nodbridge/nod/cmd/nod").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// Binary returns the path of the nod binary, which it builds once for all
// tests.
func Binary(t testing.TB) string {
	t.Helper()
	// Reading the sources here makes go test rerun the tests after a change to
	// a command.
	if _, err := os.ReadDir(filepath.Join(Root(t), "cmd/nod")); err != nil {
		t.Fatal(err)
	}
	path, err := buildNod()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root returns the root directory of the module.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.sum")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the tests do not run in the module")
		}
		dir = up
	}
}
