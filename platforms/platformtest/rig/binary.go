package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// buildDir is the directory of the built binaries. It is empty before the
// build.
var buildDir string

// built is the nod binary that all tests share.
var built struct {
	sync.Once
	path string
	err  error
}

// buildNod builds nod, and nod-hook next to it, from the module at root.
func buildNod(root string) (string, error) {
	dir, err := os.MkdirTemp("", "nod-test-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "nod")
	build := exec.Command("go", "build", "-o", dir, "./cmd/nod", "./cmd/nod-hook")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// Binary returns the path of the nod binary, which is built once for all tests.
// The binary nod-hook is next to it.
func Binary(t testing.TB) string {
	t.Helper()
	root := Root(t)
	// Reading the sources makes go test run the tests again after a change of a
	// command.
	if _, err := os.ReadDir(filepath.Join(root, "cmd/nod")); err != nil {
		t.Fatal(err)
	}
	built.Do(func() { built.path, built.err = buildNod(root) })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// Root returns the root directory of nod's module, even for tests of a module
// below it.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "cmd/nod/main.go")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the tests do not run in the module")
		}
		dir = up
	}
}
