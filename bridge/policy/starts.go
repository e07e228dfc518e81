package policy

import (
	"path"
	"slices"
	"strings"
)

// interpreted reports whether a command runs a text that is not known, or that
// contains the target.
func (t target) interpreted(name string, r run, depth int) bool {
	words := r.words[1:]
	switch {
	case name == "ssh":
		return r.fed || isOpen(words...)
	case name == "eval":
		return isOpen(words...) || t.inScript(strings.Join(words, " "), depth)
	case strings.HasSuffix(name, "awk"):
		return slices.ContainsFunc(words, startsInAwk)
	}
	letters, ok := interpreter(name)
	if !ok {
		return false
	}
	for n, w := range words {
		switch {
		case slices.Contains([]string{"eval", "--eval", "--print"}, w):
			return true
		case w == "-" || strings.HasPrefix(w, "--"):
		case !strings.HasPrefix(w, "-") && name != "su":
			return w == open || isStdin(w) && r.fed
		case letters == "c" && strings.Contains(w, "c") && !strings.HasPrefix(name, "python") && n+1 < len(words):
			return t.inScript(words[n+1], depth)
		case letters != "" && strings.HasPrefix(w, "-") && strings.ContainsAny(w, letters):
			return true
		}
	}
	return r.fed
}

// runsOneOf reports whether a command runs a file that the same line writes.
func (r run) runsOneOf(written []string) bool {
	words := r.words[:1]
	if _, ok := interpreter(program(words[0])); ok || starters[program(words[0])] || program(words[0]) == "make" {
		words = r.words
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(written, path.Clean(w)) })
}

// isOpen reports whether one of some words depends on an expansion.
func isOpen(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, open) })
}

// isStdin reports whether a word names what a program reads from a pipe.
func isStdin(w string) bool {
	return w == "-" || strings.HasPrefix(w, "/dev/") || strings.HasPrefix(w, "/proc/")
}

// startsInAwk reports whether a word may be a program of awk that starts others.
func startsInAwk(w string) bool {
	return slices.ContainsFunc([]string{"system", "getline", `| "`, `|"`}, func(s string) bool { return strings.Contains(w, s) })
}

// inScript reports whether the script of a shell may run the target.
func (t target) inScript(text string, depth int) bool {
	if depth >= maxScripts {
		return true
	}
	r, ok := readLine(text)
	return !ok || t.inReading(r, depth+1)
}

// started reports whether a command may start the target with a command in its
// arguments, or with one that it makes of what it reads.
func (t target) started(name string, r run, depth int) bool {
	words, more := r.words, name == "xargs" || name == "parallel"
	switch {
	case name == "find":
		n := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") })
		if n < 0 {
			return false
		}
		words, more = words[n:], true
	case !starters[name]:
		return false
	case name == "parallel": // it puts together what is before and after :::
		words = slices.Clone(words)
		for n, w := range words {
			if strings.HasPrefix(w, ":::") {
				words[n] = open
			}
		}
	}
	value := false
	for n, w := range words[1:] {
		switch {
		case strings.HasPrefix(w, "-"):
			value = true
			continue
		case span(w, func(c byte) bool { return c >= '0' && c <= '9' || strings.IndexByte("smhd.,", c) >= 0 }) == w, strings.Contains(w, "=") && !strings.Contains(w, " "):
			continue
		}
		inner := run{words: slices.Clone(words[n+1:]), fed: r.fed}
		if more {
			inner.fed = false // it gets the words, and not what comes from the pipe
			inner.words = append(inner.words, open)
		}
		inner.data = inert(inner.words)
		if t.inRun(inner, depth+1) {
			return true
		}
		if !value {
			return false
		}
		value = false
	}
	return false
}
