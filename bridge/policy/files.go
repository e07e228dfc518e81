package policy

import (
	"path"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// Files returns the absolute paths of the files that an operation names. It
// includes all files in fields, and the files below the location that read-only
// commands name. A policy does not know where links lead. A program on the
// machine of the agent can check this, and report it as a doubt; see
// [bridge.Act].
func Files(a bridge.Act) []string {
	in := read(a)
	var out []string
	add := func(name, base string) {
		switch {
		case name == "" || name == "-":
			return
		case !path.IsAbs(name):
			name = path.Join(base, name)
		}
		if below(path.Clean(name), a.Where, "") {
			out = append(out, path.Clean(name))
		}
	}
	for _, f := range in.files {
		if path.IsAbs(f.abs) && !f.location && !below(f.abs, a.Where, "") {
			out = append(out, f.abs)
		}
		add(f.raw, a.Where)
	}
	for _, l := range in.lines {
		if inner := l.launched(); inner != nil {
			l = inner
		}
		base := a.Where
		for n, call := range l.calls {
			if n == 0 && l.program == "" && call.words[0] == "cd" {
				add(call.words[1], base)
				if base = call.words[1]; !path.IsAbs(base) {
					base = path.Join(a.Where, base)
				}
				continue
			}
			for _, name := range l.names(call.words) {
				files, _ := readsOf(append([]string{name}, call.words[1:]...))
				for _, f := range files {
					add(f.name, base)
				}
			}
		}
	}
	return out
}

// RunsConfigured reports whether an operation runs a program, such as git, that
// starts other programs named by the directory of the operation. A repository
// can contain another repository with its own configuration. A program on the
// machine of the agent can check this.
func RunsConfigured(a bridge.Act) bool {
	return slices.ContainsFunc(read(a).lines, func(l *line) bool {
		if inner := l.launched(); inner != nil {
			l = inner
		}
		return slices.ContainsFunc(l.calls, func(c call) bool { return configured[program(c.words[0])] })
	})
}
