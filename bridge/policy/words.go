package policy

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// wordPattern is a pattern for the words of a command. It is either a list of
// words, in which a final * matches any further words, or a regular expression
// for the words as joined by quote.
type wordPattern struct {
	words  []wordGlob
	rest   bool // any words may follow
	re     *regexp.Regexp
	loose  *regexp.Regexp // case-insensitive, for ask and deny rules
	split  error          // reason why the pattern cannot be split into words
	target target         // set if the pattern is not a regular expression
}

// wordGlob is a pattern for one word.
type wordGlob struct {
	text    string         // used if re is nil
	re      *regexp.Regexp // for a word with * or ? outside quotes
	folded  *regexp.Regexp // the case-insensitive form of re
	anyName bool           // starts with * or ?
}

func (g wordGlob) match(word string) bool {
	if g.re == nil {
		return g.text == word
	}
	return g.re.MatchString(word)
}

func compileWords(from []string) ([]wordPattern, error) {
	var out []wordPattern
	for _, s := range from {
		p, err := compileWordPattern(s)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func compileWordPattern(s string) (wordPattern, error) {
	if strings.TrimSpace(s) == "" {
		return wordPattern{}, errors.New("an empty pattern matches nothing")
	}
	var p wordPattern
	var err error
	if p.loose, err = compileText(s, true); err != nil {
		return p, err
	}
	if isExpression(s) {
		p.re, err = compileText(s, false)
		return p, err
	}
	p.words, p.split = splitPattern(s)
	if n := len(p.words); n > 1 && p.words[n-1].re != nil && p.words[n-1].text == "*" { // an unquoted *
		p.words, p.rest = p.words[:n-1], true
	}
	p.target = newTarget(p.words, p.rest)
	return p, nil
}

func isExpression(s string) bool { return len(s) > 1 && s[0] == '/' && s[len(s)-1] == '/' }

// compileText compiles a glob, or a regular expression between slashes, that
// must match a complete text.
func compileText(s string, fold bool) (*regexp.Regexp, error) {
	flags := "(?s)"
	if fold {
		flags = "(?is)"
	}
	if isExpression(s) {
		inner := s[1 : len(s)-1]
		if _, err := regexp.Compile(inner); err != nil { // check inner alone, because the group around it could hide an unmatched parenthesis
			return nil, err
		}
		return regexp.Compile(flags + `^(?:` + inner + `)$`)
	}
	tail := `$`
	if rest, ok := strings.CutSuffix(s, " *"); ok {
		s, tail = rest, `(?: .*)?$` // with or without arguments
	}
	return regexp.Compile(flags + `^` + globExpression(s) + tail)
}

func globExpression(s string) string {
	return strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(s))
}

// splitPattern splits a pattern at spaces. Quoted * and ? are literal.
func splitPattern(s string) ([]wordGlob, error) {
	var out []wordGlob
	for s = strings.Trim(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		var text, expr strings.Builder
		glob, first := false, s[0]
		for s != "" && s[0] != ' ' {
			c := s[0]
			if c == '\'' || c == '"' {
				quoted, rest, closed := strings.Cut(s[1:], string(c))
				if !closed {
					return nil, errors.New("a quote is not closed")
				}
				text.WriteString(quoted)
				expr.WriteString(regexp.QuoteMeta(quoted))
				s = rest
				continue
			}
			glob = glob || c == '*' || c == '?'
			text.WriteByte(c)
			expr.WriteString(globExpression(string(c)))
			s = s[1:]
		}
		g := wordGlob{text: text.String()}
		if glob {
			g.anyName = first == '*' || first == '?'
			g.re = regexp.MustCompile(`(?s)^` + expr.String() + `$`) // built from quoted text and wildcards
			g.folded = regexp.MustCompile(`(?is)^` + expr.String() + `$`)
		}
		out = append(out, g)
	}
	return out, nil
}

// exact reports whether the words match the pattern, and which of them the
// pattern spells out. The first word may match under any of the names.
func (p wordPattern) exact(names []string, words []string) (spelled []bool, ok bool) {
	spelled = make([]bool, len(words))
	if p.re != nil {
		// A word that contains a space could look like several words.
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, " ") }) {
			return nil, false
		}
		for _, name := range names {
			if p.re.MatchString(quote(append([]string{name}, words[1:]...))) {
				return spelled, true
			}
		}
		return nil, false
	}
	if p.split != nil || len(words) < len(p.words) || len(words) > len(p.words) && !p.rest {
		return nil, false
	}
	for n, g := range p.words {
		ok := g.match(words[n])
		for _, name := range names {
			ok = ok || n == 0 && g.match(name)
		}
		if !ok {
			return nil, false
		}
		spelled[n] = g.re == nil
	}
	return spelled, true
}

// one reports whether the pattern consists of a single word that matches the
// given one.
func (p wordPattern) one(word string) bool {
	if p.re != nil {
		return p.re.MatchString(word)
	}
	return len(p.words) == 1 && p.words[0].match(word)
}

// about reports whether a command may match the pattern, ignoring case and the
// directory of its name, either word by word or as text.
func (p wordPattern) about(words []string) bool {
	for _, name := range []string{words[0], program(words[0])} {
		all := append([]string{name}, words[1:]...)
		if p.loose.MatchString(quote(all)) || p.loose.MatchString(strings.Join(all, " ")) || p.folds(all) {
			return true
		}
	}
	return false
}

func (p wordPattern) folds(words []string) bool {
	if p.re != nil || p.split != nil || len(words) < len(p.words) || len(words) > len(p.words) && !p.rest {
		return false
	}
	for n, g := range p.words {
		if g.re == nil && !strings.EqualFold(g.text, words[n]) || g.re != nil && !g.folded.MatchString(words[n]) {
			return false
		}
	}
	return true
}

// open reports whether a pattern of an allow rule could match any command.
func (p wordPattern) open() bool {
	if p.re == nil {
		return len(p.words) > 0 && p.words[0].anyName
	}
	tree, err := syntax.Parse(p.re.String(), syntax.Perl)
	return err != nil || beginsOpen(tree.Simplify())
}

// beginsOpen reports whether a match of the expression may start with almost
// any character, or be empty.
func beginsOpen(re *syntax.Regexp) bool { return openStart(re) || mayBeEmpty(re) }

// nameChars is the number of characters that a name may start with.
const nameChars = 2*26 + len("./")

func openStart(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCharClass:
		count := 0
		for n := 0; n+1 < len(re.Rune); n += 2 {
			count += int(re.Rune[n+1]-re.Rune[n]) + 1
		}
		return count >= nameChars
	case syntax.OpCapture, syntax.OpPlus, syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		return openStart(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, openStart)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if openStart(sub) {
				return true
			}
			if !mayBeEmpty(sub) {
				return false
			}
		}
	}
	return false
}

func mayBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || mayBeEmpty(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return mayBeEmpty(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, mayBeEmpty)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !mayBeEmpty(sub) })
	}
	return false
}

// quote joins words so that different words never result in the same text. A
// word is bare if that is unambiguous, and otherwise in single quotes, or in
// double quotes if it contains a single quote.
func quote(words []string) string {
	var b strings.Builder
	for n, w := range words {
		if n > 0 {
			b.WriteByte(' ')
		}
		switch {
		case w != "" && span(w, isBareChar) == w:
			b.WriteString(w)
		case !strings.Contains(w, "'"):
			b.WriteString("'" + w + "'")
		default:
			b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`)
		}
	}
	return b.String()
}
