package caller

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/nodbridge/nod/config/files"
)

// BelowHome returns the path of a folder, with ~ in place of the home folder.
func BelowHome(dir string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if below, err := filepath.Rel(home, dir); err == nil && filepath.IsLocal(below) {
			return filepath.Join("~", below)
		}
	}
	return dir
}

// maxHead limits the size of a Git file with the name of a branch, in bytes.
const maxHead = 1024

// Branch returns the branch of the Git work tree that contains a directory.
// It returns "" if there is none.
func Branch(dir string) string {
	for {
		git := filepath.Join(dir, ".git")
		info, err := os.Stat(git)
		if err == nil && !info.IsDir() { // a worktree or a submodule
			linked, ok := strings.CutPrefix(small(git), "gitdir: ")
			if !ok {
				return ""
			}
			if git = linked; !filepath.IsAbs(git) {
				git = filepath.Join(dir, git)
			}
		}
		if err == nil {
			branch, _ := strings.CutPrefix(small(filepath.Join(git, "HEAD")), "ref: refs/heads/")
			if strings.Contains(branch, "refs/") || len(branch) == 40 {
				return "" // a detached head
			}
			return branch
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// small returns the first line of a small file, or "".
func small(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // in an untrusted repository, this may be a pipe
		return ""
	}
	raw, err := files.Read(path, maxHead)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(line)
}

// CodexHome returns the folder of Codex.
func CodexHome() (string, error) {
	if home := os.Getenv("CODEX_HOME"); home != "" {
		return home, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, ".codex"), nil
}
