package caller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBranch checks which branch a directory has.
func TestBranch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/.git/HEAD", "ref: refs/heads/main\n")
	write("a/sub/file", "")
	write("a/.git/worktrees/b/HEAD", "ref: refs/heads/topic\n")
	write("b/.git", "gitdir: ../a/.git/worktrees/b\n")
	write("c/.git/HEAD", strings.Repeat("0", 40)+"\n")
	write("d/.git/HEAD", "ref: refs/remotes/x\n")
	for name, want := range map[string]string{"a": "main", "a/sub": "main", "b": "topic", "c": "", "d": "", "e": ""} {
		if got := Branch(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
