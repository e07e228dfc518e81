package policy

import (
	"path"
	"slices"
	"strings"
)

const readLaunched = "plain line of a shell"

// launched returns the line that a shell is started with, as agents such as
// Codex do: bash -lc LINE, and no more. The line has to be plain itself. Then
// every shell passes it on unchanged, and the started one runs what its words
// say. It returns nil for anything else.
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

// launch evaluates a line that starts a shell by the commands of the line that
// the shell runs. It reports false, and does nothing, if a rule is about the
// shell itself. Rules that match the text of the line still ask and deny.
func (j *judgement) launch(l, inner *line) bool {
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

// meant reports whether a rule decides about a part.
func (j *judgement) meant(c *compiled, p part) bool {
	var ok bool
	if c.allows() {
		_, ok = c.covers(j.in, p)
	} else {
		_, ok = c.about(j.in, p, func(w wordPattern) bool { return w.about(p.words) })
	}
	return ok
}
