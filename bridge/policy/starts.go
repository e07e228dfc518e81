package policy

import (
	"path"
	"slices"
	"strings"
)

// renamers give a file another name, or make a copy of it.
var renamers = set("ln cp mv install rsync dd")

// writers write a file that their arguments name.
var writers = set("ln cp mv install rsync dd tee curl wget openssl base64 base32 basenc xxd uudecode scp")

// renames reports whether a command gives the target another name.
func (t target) renames(name string, words []string) bool {
	switch {
	case name == "alias":
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "=") })
	case name == "hash":
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-p") })
	}
	return renamers[name] && slices.ContainsFunc(words[1:], t.isName)
}

// located reports whether a command says where the target is.
func (t target) located(r run) bool {
	name := program(r.words[0])
	return (name == "which" || name == "type" || name == "whereis" || name == "whence" || name == "command") && slices.ContainsFunc(r.words[1:], t.isName)
}

// isName reports whether a word names the program of the target.
func (t target) isName(w string) bool {
	_, ok := t.named(w)
	return ok
}

// copies reports whether a command copies a file that is not known.
func (r run) copies() bool { return renamers[program(r.words[0])] && isOpen(r.words[1:]...) }

// writes returns the files that a command may write, next to redirections.
func (r run) writes() []string {
	name := program(r.words[0])
	var out []string
	for n, w := range r.words[1:] {
		if !writers[name] && !(name == "git" && (strings.HasPrefix(w, "--out") || strings.HasPrefix(r.words[n], "--out"))) {
			continue
		}
		out = append(out, path.Clean(w[strings.LastIndexByte(w, '=')+1:]))
	}
	return out
}

// runsOneOf reports whether a command runs a file that the same line writes, or
// one of git, which keeps texts of commits there.
func (r run) runsOneOf(written []string) bool {
	name, words := program(r.words[0]), r.words[:1]
	if name == "make" { // its arguments are seldom files
		return slices.ContainsFunc(written, func(f string) bool {
			return strings.HasSuffix(strings.ToLower(f), "makefile") || slices.Contains(r.words, f)
		})
	}
	if _, ok := interpreter(name); ok || starters[name] {
		words = append([]string{r.from}, r.words...)
	}
	return slices.ContainsFunc(words, func(w string) bool {
		same := func(f string) bool { return sameFile(path.Clean(w), f) }
		return strings.Contains("/"+w, "/.git/") || slices.ContainsFunc(written, same)
	})
}

// sameFile reports whether two names may be the same file, from different
// directories.
func sameFile(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// maxHidden limits the words of a command that may begin another one.
const maxHidden = 20

// hides reports whether the words of a command are a script, or contain an
// interpreter with one, as in docker run x sh -c SCRIPT.
func (t target) hides(r run, depth int) bool {
	name := program(r.words[0])
	if r.data || inertNames[name] || strings.HasSuffix(name, "awk") || strings.HasSuffix(name, "sed") {
		return false
	}
	count := 0
	for n, w := range r.words[1:] {
		inner := program(w)
		if _, ok := interpreter(inner); ok && inner != "." {
			if count++; count > maxHidden || t.interpreted(inner, run{words: r.words[n+1:], fed: r.fed}, depth+1) {
				return true
			}
		}
		if script, ok := readLine(w); ok && strings.ContainsAny(w, " \t\n") && (depth >= maxScripts || t.inReading(script, depth+1)) {
			return true
		}
	}
	return false
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
	value, tried := false, 0
	for n, w := range words[1:] {
		switch {
		case tried == maxHidden:
			return true
		case strings.HasPrefix(w, "-"):
			value = true
			continue
		case span(w, func(c byte) bool { return c >= '0' && c <= '9' || strings.IndexByte("smhd.,", c) >= 0 }) == w, strings.Contains(w, "=") && !strings.Contains(w, " "):
			continue
		}
		tried++
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
