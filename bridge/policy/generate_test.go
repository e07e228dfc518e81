package policy

import (
	"math/rand/v2"
	"strings"
)

// generator generates lines from hostile pieces, from the grammar, and from the
// grammar with changes.
type generator struct {
	r   *rand.Rand
	dir string // contains a program named m
}

var hostilePieces = strings.Split(`aa|bb|cd|echo|cat|git|ls|x-y|./m|../d/m| | | |  |-x|--opt=|=|==|=m|a=b|x=~|~|~/|~+|%self|%1|%|..|...|....|.|/|//|,|:|@|+|^|a^b|#|a#b|# x|!|!!|!$|"a!!"|'!!'|$|$HOME|${HOME}|$(aa)|$((1+1))|$'a'|$"a"|`+
	"`aa`"+`|"|'|'a'|"a"|'a''b'|"a""b"|'a b'|"a b"|''|""|a'b'|'b'c|'\'|'a\\b'|'a\b'|"\|"|"a\.b"|"\(a\)"|"\\\|\ |{a,b}|{ab}|{}|{|}|(|)|((|))|[|]|[a]|[[|]]|*|?|z?|@{0}|&|&&|&&&|\||\|\||\|&|;|;;|;&|>|>>|<|<<|<<<|>&|>f|>/dev/null|> /dev/null|2>/dev/null|2> /dev/null|2>&1|2>&1x|1>&2|&>f|<(aa)|time|repeat|noglob|eval|exec|test|printf|read|if|then|fi|for|do|done|while|case|in|esac|function|coproc|select|and|or|not|begin|end|unset|let|typeset|PATH=|PATH|r|fc|command|builtin|nocorrect|-|--|-c|-e|a[$(aa)]|a[0]`, "|")

func init() { // with characters that the list above cannot contain
	hostilePieces = append(hostilePieces, "|", "||", "|&", "\t", "\n", "\r\n", "\\\n", "\\\r\n", "\x00", "\x7f", "é", "\u00a0", "\u2028")
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (g generator) line() string {
	switch g.r.IntN(3) {
	case 0:
		return g.hostile()
	case 1:
		return g.grammar()
	}
	line := g.grammar()
	for range 1 + g.r.IntN(3) {
		line = g.mutate(line)
	}
	return line
}

func (g generator) hostile() string {
	var b strings.Builder
	b.WriteString(g.name())
	for range g.r.IntN(8) {
		if g.r.IntN(4) > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(pick(g.r, hostilePieces))
	}
	return b.String()
}

func (g generator) mutate(s string) string {
	at := g.r.IntN(len(s) + 1)
	switch g.r.IntN(5) {
	case 0:
		return s[:at] + pick(g.r, hostilePieces) + s[at:]
	case 1:
		return s[:at] + string(rune(g.r.IntN(128))) + s[at:]
	case 2:
		to := min(len(s), at+1+g.r.IntN(3))
		return s[:at] + s[to:]
	case 3:
		to := min(len(s), at+1+g.r.IntN(6))
		return s[:to] + s[at:]
	}
	return s[at:] + s[:at]
}

func (g generator) grammar() string {
	var b strings.Builder
	if g.r.IntN(12) == 0 {
		b.WriteString("cd " + g.word() + pick(g.r, []string{" && ", "&&", ""}))
		if !strings.HasSuffix(strings.TrimSpace(b.String()), "&&") {
			return b.String()
		}
	}
	for n := range 1 + g.r.IntN(4) {
		if n > 0 {
			b.WriteString(g.blanks(0) + pick(g.r, []string{"&&", "||", ";", "|"}) + g.blanks(0))
		}
		b.WriteString(g.name())
		for range g.r.IntN(5) {
			b.WriteString(g.blanks(1) + g.word())
		}
		for range max(0, g.r.IntN(5)-2) {
			b.WriteString(g.blanks(1) + pick(g.r, redirects))
		}
	}
	return b.String()
}

func (g generator) blanks(least int) string { return strings.Repeat(" ", least+max(0, g.r.IntN(5)-2)) }

func (g generator) name() string {
	if g.r.IntN(10) == 0 { // a program is slower than a function
		return pick(g.r, []string{"./m", "../d/m", g.dir + "/m", "x-y", "a.b", "g+", "a_-b"})
	}
	if g.r.IntN(8) == 0 {
		return g.chars("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 2) + g.chars("0123456789_abcxyz", 2)
	}
	return pick(g.r, []string{"aa", "bb", "git", "ls", "cat", "echo", "kill", "pwd", "true", "false", "sleep", "which", "realpath", "go", "npm", "x1", "a_b", "w"})
}

func (g generator) word() string {
	const bare = "abcxyzABZ0129._+-/,:@%=._+-/,:@%="
	single, double := "", ""
	for c := ' '; c <= '~'; c++ {
		if c != '\'' {
			single += string(c)
		}
		if !strings.ContainsRune("\"$`!", c) {
			double += string(c)
		}
	}
	switch g.r.IntN(8) {
	case 0:
		return "'" + g.chars(single, 12) + "'"
	case 1:
		return `"` + g.chars(double, 12) + `"`
	case 2:
		return g.chars(bare, 5) + "'" + g.chars(single, 8) + "'"
	case 3:
		return g.chars(bare, 5) + `"` + g.chars(double, 8) + `"`
	case 4:
		return "'" + pick(g.r, hostilePieces) + "'"
	case 5:
		return `"` + pick(g.r, hostilePieces) + `"`
	}
	return g.chars(bare, 8)
}

func (g generator) chars(from string, most int) string {
	var b strings.Builder
	for range 1 + g.r.IntN(most) {
		b.WriteByte(from[g.r.IntN(len(from))])
	}
	return b.String()
}
