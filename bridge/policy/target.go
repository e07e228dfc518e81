package policy

import (
	"regexp"
	"slices"
	"strings"
)

// target is a command in whatever way it is written: git push also stands for
// git -C . push and /usr/bin/git push.
type target struct {
	name    wordGlob
	words   []wordGlob // what follows the name, without options
	options []wordGlob // they can be anywhere after the name
	rest    bool       // anything may follow the words
}

// newTarget returns the target of the words of a pattern.
func newTarget(globs []wordGlob, rest bool) target {
	t := target{rest: rest}
	for n, g := range globs {
		if g.re == nil { // compare without case
			g.folded = regexp.MustCompile(`(?is)^` + regexp.QuoteMeta(g.text) + `$`)
		}
		switch {
		case n == 0: // in any directory
			text := g.text[strings.LastIndexByte(g.text, '/')+1:]
			t.name = wordGlob{text: text, folded: regexp.MustCompile(`(?is)^` + globExpression(text) + `$`)}
		case strings.HasPrefix(g.text, "-"):
			t.options = append(t.options, g)
		default:
			t.words = append(t.words, g)
		}
	}
	return t
}

// is reports whether words may be the target: the first one is the program, options
// may be between the words, and what is open may be anything.
func (t target) is(words []string) bool {
	rest, ok := t.named(words[0])
	if !ok {
		return false
	}
	words = append(rest, words[1:]...)
	if slices.ContainsFunc(words, configures) {
		return true
	}
	return t.inOrder(words) && (isOpen(words...) || !slices.ContainsFunc(t.options, func(g wordGlob) bool { return !given(g.text, words) }))
}

// configures reports whether a word is a setting of git that may give a command
// another name.
func configures(w string) bool {
	w = strings.ToLower(w)
	return strings.Contains(w, "alias.") || strings.HasPrefix(w, "--config-env") || strings.HasPrefix(w, "include.") || strings.HasPrefix(w, "includeif.")
}

// named reports whether a word may be the name of the program: with any
// directory, or after an option or a sign, as in EXEC:git and @git. Programs such
// as git-push have the next word in their name, which it returns.
func (t target) named(word string) (rest []string, ok bool) {
	names := []string{word, word[strings.LastIndexAny(word, "=:")+1:], strings.TrimLeft(word, "-+@%")}
	if len(word) > 2 && word[0] == '-' {
		names = append(names, word[2:])
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		name = program(name)
		if t.name.folded.MatchString(name) {
			return nil, true
		}
		if first, second, joined := strings.Cut(name, "-"); joined && len(t.words) > 0 && t.name.folded.MatchString(first) {
			return []string{second}, true
		}
	}
	return nil, false
}

// inOrder reports whether words have those of the target, with nothing but options
// and their values between them.
func (t target) inOrder(words []string) bool {
	next, value, any := 0, false, false // any means that a * comes before the next word
	for _, w := range words {
		for next < len(t.words) && t.words[next].text == "*" {
			next, any = next+1, true
		}
		switch {
		case strings.Contains(w, open), next == len(t.words) && (t.rest || any):
			return true
		case next < len(t.words) && t.words[next].folded.MatchString(w):
			next, value, any = next+1, false, false
		case strings.HasPrefix(w, "-"):
			value = !strings.Contains(w, "=")
		case value, any:
			value = false
		default:
			return false
		}
	}
	for next < len(t.words) && t.words[next].text == "*" {
		next++
	}
	return next == len(t.words)
}

// given reports whether words may have an option: alone, among other letters, in
// its long form, or shortened.
func given(option string, words []string) bool {
	option, _, _ = strings.Cut(strings.ToLower(option), "=")
	letters := strings.TrimLeft(option, "-")
	long := strings.HasPrefix(option, "--") || len(letters) > 4
	if letters == "" {
		return true
	}
	if !long {
		for _, letter := range letters {
			if !slices.ContainsFunc(words, func(w string) bool { return hasLetter(w, letter) }) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		w, _, _ = strings.Cut(strings.ToLower(w), "=")
		name := strings.TrimLeft(w, "-")
		switch {
		case !strings.HasPrefix(w, "-") || name == "":
			return false
		case strings.HasPrefix(w, "--"):
			return strings.HasPrefix(letters, name) || strings.HasPrefix(name, letters)
		}
		return strings.HasPrefix(letters, name) || strings.ContainsRune(name, rune(letters[0]))
	})
}

// hasLetter reports whether a word has an option of one letter, or may have its
// long form.
func hasLetter(w string, letter rune) bool {
	w = strings.ToLower(w)
	if strings.HasPrefix(w, "--") {
		return strings.HasPrefix(w[2:], string(letter))
	}
	return strings.HasPrefix(w, "-") && strings.ContainsRune(w[1:], letter)
}

// bare removes what some shells drop from a word, and marks the place of a word
// that another program knows.
var bare = strings.NewReplacer("\\\n", "", `\`, "", "^", "", "{}", open)

// inText reports whether a text may contain the target, in a script of any
// language: with quotes around words, or inside of them.
func (t target) inText(text string) bool {
	if strings.Contains(text, "GIT_CONFIG") || strings.Contains(text, "BASH_ENV") { // it may give a command another name
		return true
	}
	text = bare.Replace(text)
	const ends = " \t\r\n;&|()<>`,[]{}!"
	return t.inWords(text, ends+`"'`) || strings.ContainsAny(text, `"'`) && t.inWords(strings.NewReplacer(`"`, "", "'", "").Replace(text), ends)
}

// inWords reports whether the words of a text, between some characters, may be the
// target.
func (t target) inWords(text, ends string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(ends, r) })
	for n := range words {
		if t.is(words[n:]) {
			return true
		}
	}
	return false
}

// inLine reports whether a line may run the target. It is true for a line that
// cannot be read.
func (t target) inLine(l *line) bool {
	r, ok := readLine(l.raw)
	return !ok || t.inReading(r, 0)
}

func (t target) inReading(r *reading, depth int) bool {
	written, copied := slices.Clone(r.written), slices.ContainsFunc(r.runs, t.located)
	for _, c := range r.runs {
		written = append(written, c.writes()...)
	}
	if t.isName("git") && slices.ContainsFunc(written, func(f string) bool { return strings.Contains("/"+f, "/.git/") || strings.HasSuffix(f, ".gitconfig") }) {
		return true
	}
	return len(r.runs) >= maxCommands || slices.ContainsFunc(r.texts, t.inText) || slices.ContainsFunc(r.runs, func(c run) bool {
		return t.inRun(c, depth) || t.hides(c, depth) || c.runsOneOf(written) || copied && c.copies()
	})
}

// inRun reports whether a command may be the target, or may start it in a way that
// its text does not show.
func (t target) inRun(r run, depth int) bool {
	name := program(r.words[0])
	switch {
	case strings.Contains(name, open), depth > maxScripts, t.is(r.words):
		return true
	case r.data:
		return false
	case t.renames(name, r.words):
		return true
	}
	return t.interpreted(name, r, depth) || t.started(name, r, depth)
}
