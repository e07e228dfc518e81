package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/config"
)

// describe adds what the hook's process knows about its session, for the
// message of the session.
func (h *hookCall) describe(q url.Values) {
	q.Set("at", strconv.FormatInt(h.began.UnixMilli(), 10))
	if host, err := os.Hostname(); err == nil {
		host, _, _ = strings.Cut(host, ".")
		q.Set("host", host)
	}
	var in struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(h.body, &in) == nil && filepath.IsAbs(in.Cwd) {
		if below := belowHome(in.Cwd); below != in.Cwd {
			q.Set("folder", below)
		}
		if b := branchOf(in.Cwd); b != "" {
			q.Set("branch", b)
		}
	}
}

// belowHome returns a folder with ~ for the home folder.
func belowHome(dir string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if below, err := filepath.Rel(home, dir); err == nil && filepath.IsLocal(below) {
			return filepath.Join("~", below)
		}
	}
	return dir
}

// maxHead limits the size of a file of Git that names a branch, in bytes.
const maxHead = 1024

// branchOf returns the branch of the Git work tree that contains a directory.
// It returns "" if there is none.
func branchOf(dir string) string {
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
	if err != nil || !info.Mode().IsRegular() { // a repository may have a pipe there
		return ""
	}
	raw, err := config.ReadFile(path, maxHead)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(line)
}
