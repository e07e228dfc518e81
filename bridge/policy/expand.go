package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Marks for the parts of words that depend on an expansion.
const (
	one  = "\x01" // the value is part of one word
	many = "\x02" // the value may end the word and start other words
)

// isOpen reports whether any of the words depends on an expansion.
func isOpen(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, one+many) })
}

// continuation matches the end of a line that shells may read differently: a
// backslash after a character other than a space, or in a comment.
var continuation = lazyregexp.New(`[^ ]\\\n|^\\\n|#[^\n]*\\\n`)

// parseShell parses a line as bash does. It returns nil if the line is too long,
// has control characters, or is not a line of bash.
func parseShell(line string) *syntax.File {
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	if len(line) > maxScript || strings.ContainsFunc(line, control) || continuation.MatchString(line) {
		return nil
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	return f
}

// callWords returns the words of a simple command as the program receives them.
func callWords(c *syntax.CallExpr) []string {
	words := make([]string, len(c.Args))
	for n, w := range c.Args {
		words[n] = wordText(w)
	}
	return words
}

// wordText returns a word as a command receives it, with marks for expansions.
// It does not expand patterns for file names.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, ""))
			if braces(p.Value) {
				b.WriteString(many)
			}
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				b.WriteString(one)
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				} else {
					b.WriteString(expansion(q, one))
				}
				if spreads(q) {
					b.WriteString(many)
				}
			}
		default:
			b.WriteString(expansion(p, many))
		}
	}
	return b.String()
}

// plainVariables lists the variables that contain one word in every usual
// environment, each with an example of its value. Lines that change one of them
// are not plain.
var plainVariables = map[string]string{"HOME": "~", "PWD": ".", "TMPDIR": "/tmp", "GOPATH": "~/go"}

// expansion returns the mark of an expansion. For an expansion that yields a
// number, it returns a number.
func expansion(p syntax.WordPart, mark string) string {
	switch p := p.(type) {
	case *syntax.ArithmExp:
		return "0"
	case *syntax.ParamExp:
		if counts(p) {
			return "0"
		}
		if p.Short && plainVariables[p.Param.Value] != "" {
			return plainVariables[p.Param.Value]
		}
	case *syntax.CmdSubst:
		if len(p.Stmts) == 1 && len(p.Stmts[0].Redirs) == 0 {
			if call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && call.Args[0].Lit() == "nproc" {
				return "0"
			}
		}
	}
	return mark
}

// counts reports whether the value of a parameter is a number.
func counts(p *syntax.ParamExp) bool {
	return p.Length || p.Param != nil && strings.Contains("?#$!", p.Param.Value)
}

// spreads reports whether an expansion in double quotes may result in several
// words, or joins several.
func spreads(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && (e.Param == nil || e.Param.Value == "@" || e.Param.Value == "*" || e.Index != nil || e.Excl)
}

// braces reports whether brace expansion turns a text outside quotes into
// several words.
func braces(s string) bool {
	for n := 0; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case '{':
			return strings.Contains(s[n:], "}") && (strings.Contains(s[n:], ",") || strings.Contains(s[n:], ".."))
		}
	}
	return false
}

// feeds reports whether a redirection passes text of the line to a command.
func feeds(to *syntax.Redirect) bool {
	switch to.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	}
	return false
}

// writes reports whether a redirection writes to a file.
func writes(to *syntax.Redirect) bool {
	switch to.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.DplIn:
		return false
	case syntax.DplOut: // other file descriptors may be a file or a pipe
		return !slices.Contains([]string{"1", "2", "-"}, wordText(to.Word))
	}
	return wordText(to.Word) != "/dev/null"
}
