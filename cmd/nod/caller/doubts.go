package caller

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/policy"
)

// DoubtsOf returns the reasons why no rule may allow an operation in the
// directory of an agent. The daemon cannot see that directory. The reasons are
// that a file in the operation is actually in another place, or that the
// directory is part of a repository that arrived as files.
func DoubtsOf(act bridge.Act) []string {
	if !filepath.IsAbs(act.Where) {
		dir, err := os.Getwd()
		if err != nil {
			return nil
		}
		act.Where = dir
	}
	root, err := filepath.EvalSymlinks(act.Where)
	for _, file := range policy.Files(act) {
		name, outside := filepath.Rel(act.Where, file)
		switch {
		case outside != nil || !filepath.IsLocal(name):
			if isLinked(file) {
				return []string{fmt.Sprintf("%+.200q is a link, or below one", file)}
			}
		case err == nil && leads(file, act.Where, root):
			return []string{fmt.Sprintf("%+.200q leads out of the project", name)}
		}
	}
	if err != nil {
		return nil // no file below it is readable
	}
	if repository := bareRepository(root); repository != "" && policy.RunsConfigured(act) {
		return []string{fmt.Sprintf("%+.200q is a bare repository, whose configuration may start a program", filepath.Base(repository))}
	}
	return nil
}

// bareRepository returns the directory that git uses as the repository of a
// directory without .git, or "" if there is none. A repository can contain such
// a repository as files, including its configuration.
func bareRepository(dir string) string {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	for {
		switch {
		case has(".git"):
			return ""
		case has("HEAD") && (has("commondir") || has("objects") && has("refs")):
			return dir
		case dir == filepath.Dir(dir):
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// leads reports whether a file below dir is not really below root, or could be
// moved out of it later. If the file does not exist, its nearest existing
// parent decides.
func leads(file, dir, root string) bool {
	for file != dir && file != filepath.Dir(file) {
		target, err := filepath.EvalSymlinks(file)
		if err == nil {
			below, err := filepath.Rel(root, target)
			return err != nil || !filepath.IsLocal(below)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		if _, err := os.Lstat(file); err == nil {
			return true // a dangling link, to which a program could write
		}
		file = filepath.Dir(file)
	}
	return false
}

// isLinked reports whether a link may lead from the name of a file outside of
// the project to another file. Links in the root directory, such as /tmp,
// belong to the system and do not count.
func isLinked(file string) bool {
	for dir := filepath.Dir(file); file != dir; file, dir = dir, filepath.Dir(dir) {
		info, err := os.Lstat(file)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return true
		case err == nil && info.Mode()&fs.ModeSymlink != 0 && dir != filepath.Dir(dir):
			return true
		}
	}
	return false
}

// DoubtsAbout returns the doubts about the operations of a message.
func DoubtsAbout(t dialect.Translation) []string {
	for _, x := range t.Exchanges {
		if d := DoubtsAboutRequest(x.Request); d != nil {
			return d
		}
	}
	return nil
}

func DoubtsAboutRequest(r bridge.Request) []string {
	a := r.Approval
	if a == nil {
		return nil
	}
	return DoubtsOf(bridge.Act{Tool: a.Tool, Input: a.Input, Where: a.Where})
}
