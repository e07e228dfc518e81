package policy

import (
	"path"
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
	option := func(w string) bool {
		return slices.ContainsFunc(t.options, func(g wordGlob) bool { return stands(w, g.text) })
	}
	return t.inOrder(words) && (isOpen(words...) || slices.ContainsFunc(words, option) || !slices.ContainsFunc(t.options, func(g wordGlob) bool { return !given(g.text, words) }))
}

// named reports whether a word may be the name of the program: with any
// directory, or after an option or a sign, as in EXEC:git and @git. Programs such
// as git-push have the next word in their name, which it returns.
func (t target) named(word string) (rest []string, ok bool) {
	names := []string{word, word[strings.LastIndexAny(word, "=:")+1:], strings.TrimLeft(word, "-+@%")}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' { // after any letters of options
		for n := 2; n < len(word); n++ {
			names = append(names, word[n:])
		}
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
		case isOpen(w), next == len(t.words) && (t.rest || any):
			return true
		case next < len(t.words) && (t.words[next].folded.MatchString(w) || stands(w, t.words[next].text)):
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

// stands reports whether a word is a pattern that a shell replaces by a name, if a
// file with that name exists.
func stands(w, name string) bool {
	matches, err := path.Match(w, name)
	return strings.ContainsAny(w, "*?[") && (matches || err != nil) // shells accept more patterns
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

// isName reports whether a word names the program of the target.
func (t target) isName(w string) bool {
	_, ok := t.named(w)
	return ok
}
