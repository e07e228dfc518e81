// Package programs writes programs that tests start.
package programs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Write writes a program, such as a script that replaces an agent on the PATH,
// and makes its folder. The path may be started at once. Tests must not write
// programs with os.WriteFile: a process that another test starts in that moment
// inherits the open file until it runs its own program, and Linux starts no
// program that is open for writing ("text file busy", go.dev/issue/22315). It is
// safe for concurrent use.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
