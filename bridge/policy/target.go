package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// target is a command in any notation: git push also stands for git -C . push
// and /usr/bin/git push.
type target struct {
	name    wordGlob
	words   []wordGlob // words after the name, before the first option
	options []wordGlob // these words can be anywhere after the name
	values  []wordGlob // words after the first option, at any position
	rest    bool       // anything may follow the words
	// other words may be between the words, because only programs with
	// subcommands have fixed positions
	free   bool
	script *target // file that the program runs, if it is started in another way
}

// implied lists words that may be omitted: npm test stands for npm run test.
var implied = map[string][]string{"npm": {"run"}, "pnpm": {"run"}, "yarn": {"run"}, "bun": {"run"}, "docker": {"image", "container"}}

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
			valued := len(g.text) == 2 && n+1 < len(globs) && !strings.HasPrefix(globs[n+1].text, "-") && globs[n+1].text != "*"
			if !valued { // such as -X DELETE, which has a long name
				t.options = append(t.options, g)
			}
			t.values = append(t.values, wordGlob{})
		case len(t.values) > 0:
			t.values = append(t.values, g)
		default:
			t.words = append(t.words, g)
		}
	}
	t.values = slices.DeleteFunc(t.values, func(g wordGlob) bool { return g.text == "" || g.text == "*" })
	name := unversioned(t.name.text)
	t.free = subcommands[name] == "" && dataSubcommands[name] == "" || name == "mvn"
	if runsFiles[name] && len(t.words) > 0 && t.words[0].re == nil {
		script := newTarget(append([]wordGlob{{text: t.words[0].text}}, t.words[1:]...), rest)
		script.options, script.values = t.options, t.values
		if bare, isJS := strings.CutSuffix(t.words[0].text, ".js"); isJS { // node also finds the file without .js
			script.name.folded = regexp.MustCompile(`(?is)^` + globExpression(path.Base(bare)) + `(\.js)?$`)
		}
		t.script = &script
	}
	return t
}

// unversioned returns the name of an interpreter without its version: python for
// python3.12.
func unversioned(name string) string {
	bare := strings.TrimRight(strings.ToLower(name), "0123456789.")
	if runsFiles[bare] || bare == "pip" {
		return bare
	}
	return name
}

// is reports whether words may be the target. The first word is the program,
// options may be between the words, and open words may be anything.
func (t target) is(words []string) bool {
	if t.script != nil && t.script.is(words) {
		return true
	}
	rest, ok := t.named(words[0])
	if !ok {
		return false
	}
	words = append(rest, words[1:]...)
	option := func(w string) bool {
		return slices.ContainsFunc(t.options, func(g wordGlob) bool { return stands(w, g.text) })
	}
	missing := func(g wordGlob) bool { return !given(g.text, words) }
	absent := func(g wordGlob) bool { return !slices.ContainsFunc(words, g.within) }
	return t.spelled(words) && (isOpen(words...) || (slices.ContainsFunc(words, option) || !slices.ContainsFunc(t.options, missing)) && !slices.ContainsFunc(t.values, absent))
}

// startedIn reports whether a sequence of words at any position names the file
// that the program of the target runs.
func (t target) startedIn(words []string) bool {
	for n := range words {
		if t.script != nil && t.script.is(words[n:]) {
			return true
		}
	}
	return false
}

// within reports whether a word contains the text of the pattern. For example,
// -XDELETE contains DELETE.
func (g wordGlob) within(w string) bool {
	return g.folded.MatchString(w) || g.re == nil && strings.Contains(strings.ToLower(w), strings.ToLower(g.text)) || stands(w, g.text)
}

// spelled reports whether words contain the words of the target, with any
// notation of the program.
func (t target) spelled(words []string) bool {
	if t.inOrder(words) {
		return true
	}
	name := strings.ToLower(t.name.text)
	for _, w := range implied[name] {
		if t.inOrder(append([]string{w}, words...)) {
			return true
		}
	}
	if name == "yarn" && each(words, isOption) {
		return t.inOrder([]string{"install"})
	}
	// terraform apply -destroy is the same as terraform destroy.
	return len(t.words) == 1 && slices.ContainsFunc(words, func(w string) bool {
		w, _, _ = strings.Cut(w, "=")
		return isOption(w) && t.words[0].folded.MatchString(strings.TrimLeft(w, "-"))
	})
}

// named reports whether a word may be the name of the program: with any
// directory, or after an option or a sign, as in EXEC:git and @git. The name of
// a program such as git-push contains the next word. In that case, named
// returns that word.
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
		if t.name.folded.MatchString(name) || unversioned(name) == unversioned(t.name.text) {
			return nil, true
		}
		if first, second, joined := strings.Cut(name, "-"); joined && len(t.words) > 0 && t.name.folded.MatchString(first) {
			return []string{second}, true
		}
	}
	return nil, false
}

// place is a position in the comparison of words with the words of a target.
type place struct {
	next  int
	value bool // the word may be the value of an option
	any   bool // other words may come before the next one
}

// inOrder reports whether words may contain the words of the target in order,
// with only options and their values between them. A word after an option may
// or may not be its value.
func (t target) inOrder(words []string) bool {
	places := map[place]bool{{any: t.free}: true}
	for n, w := range words {
		after := map[place]bool{}
		for p := range places {
			p = t.skip(p)
			if isOpen(w) || p.next == len(t.words) && (t.rest || p.any) {
				return true
			}
			if p.next < len(t.words) && t.means(p.next, w) {
				after[place{next: p.next + 1, any: t.free}] = true
			}
			switch {
			case strings.HasPrefix(w, "-"), n == 0 && strings.HasPrefix(w, "+"): // such as cargo +nightly
				after[place{p.next, !strings.Contains(w, "="), p.any}] = true
			case p.value, p.any:
				after[place{p.next, false, p.any}] = true
			}
		}
		places = after
	}
	for p := range places {
		if t.skip(p).next == len(t.words) {
			return true
		}
	}
	return false
}

// skip skips words of the target that are a *.
func (t target) skip(p place) place {
	for p.next < len(t.words) && t.words[p.next].text == "*" {
		p.next, p.any = p.next+1, true
	}
	return p
}

// means reports whether a word may stand for a word of the target. Programs
// with commands accept shortened commands, such as npm i.
func (t target) means(n int, w string) bool {
	g := t.words[n]
	short := n == 0 && w != "" && g.re == nil && subcommands[t.name.text] != "" && strings.HasPrefix(strings.ToLower(g.text), strings.ToLower(w))
	return short || g.folded.MatchString(w) || stands(w, g.text)
}

// stands reports whether a word is a pattern that a shell replaces with a name
// if a matching file exists.
func stands(w, name string) bool {
	if !strings.ContainsAny(w, "*?[") {
		return false
	}
	matches, err := path.Match(classes.ReplaceAllString(w, "*"), name)
	return matches || err != nil // shells accept more patterns
}

// classes matches classes of characters, such as [[:alpha:]].
var classes = lazyregexp.New(`\[.*\]`)

// given reports whether words may contain an option: alone, among other
// letters, in its long form, or shortened.
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

// hasLetter reports whether a word contains a one-letter option, or may be the
// long form of that option.
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
