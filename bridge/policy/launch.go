package policy

import (
	"path"
	"slices"
	"strings"
)

const readLaunched = "plain line that a shell runs"

// launched returns LINE from a command of the form bash -lc LINE, which agents
// such as Codex use, with no further words. The line must be plain. Every shell
// then passes it on unchanged, and the started shell runs exactly its words. It
// returns nil for every other command.
func (l *line) launched() *line {
	if l.err != nil || l.program != "" || len(l.calls) != 1 || len(l.calls[0].words) != 3 {
		return nil
	}
	words := l.calls[0].words
	dir, name := path.Split(words[0])
	switch {
	case !slices.Contains([]string{"", "/bin/", "/usr/bin/"}, dir), name != "sh" && name != "bash":
		return nil
	case words[1] != "-c" && words[1] != "-lc":
		return nil
	}
	inner := newLine(words[2])
	if inner.err != nil {
		return nil
	}
	return inner
}

// launch evaluates a command that starts a shell. It evaluates the commands of
// the line that the shell runs in its place. It returns false, and does
// nothing, if a rule matches the shell itself. Rules that match the text of the
// line still ask and deny.
func (j *evaluation) launch(l, inner *line) bool {
	p := part{line: l, words: l.calls[0].words}
	for n := range j.p.rules {
		if c := &j.p.rules[n]; len(c.command) > 0 && j.meant(c, p) {
			return false
		}
	}
	j.steps = append(j.steps, Step{Command: strings.TrimSpace(l.raw), Reading: readLaunched, Why: "the commands in it are evaluated"})
	j.plain(inner)
	for n := range j.p.rules {
		j.text(&j.p.rules[n], part{line: l}, readText, wordPattern.aboutLine)
	}
	return true
}

// meant reports whether a rule applies to a part.
func (j *evaluation) meant(c *compiled, p part) bool {
	var ok bool
	if c.allows() {
		_, ok = c.covers(j.in, p)
	} else {
		_, ok = c.about(j.in, p, func(w wordPattern) bool { return w.about(p.words) })
	}
	return ok
}
