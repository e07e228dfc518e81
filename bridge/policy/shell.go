package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what ask and deny rules read.
const (
	maxScripts  = 4        // nested scripts
	maxScript   = 32 << 10 // in bytes
	maxCommands = 200
	maxWrapped  = 8 // number of arguments that may be a command
)

// line is the content of one field of an input: one or more commands.
type line struct {
	raw string
	// calls are the commands of a plain line, for which err is nil.
	calls []call
	err   error // reason why the line is not plain
	// program is the path of the program, if the input names it.
	program string
}

func newLine(raw string) *line {
	l := &line{raw: raw}
	l.calls, l.err = plain(raw)
	return l
}

// wordLine returns the line of a program with arguments that no shell reads.
func wordLine(words []string) *line {
	l := &line{raw: quote(words), calls: []call{{words: words}}}
	if words[0] == "" {
		l.err = errors.New("the command name is empty")
		return l
	}
	if span(words[0], isNameChar) != words[0] {
		l.err = errors.New("the command name has a character with a special meaning in a shell")
	} else if l.err = checkName(words[0]); l.err == nil && words[0] == "cd" {
		l.err = errors.New("cd is a builtin of the shell")
	}
	l.checkText()
	return l
}

// startedLine returns the line of a program with a path and an argument list.
func startedLine(program string, argv []string) *line {
	l := &line{raw: quote(append([]string{program}, argv[1:]...)), program: program}
	l.calls = []call{{words: append([]string{program}, argv[1:]...)}}
	switch clean, bad := cleanPath(program, ""); {
	case bad != "":
		l.err = errors.New("the program " + bad)
	case clean != program || !path.IsAbs(program):
		l.err = errors.New("the program is not an absolute path")
	case path.Base(argv[0]) != path.Base(program):
		l.err = errors.New("the program is started under a different name")
	}
	l.checkText()
	return l
}

func (l *line) checkText() {
	if l.err == nil && strings.ContainsFunc(l.raw, func(r rune) bool { return r < ' ' || r > '~' }) {
		l.err = errors.New("a word has a character other than printable ASCII")
	}
}

// trusted lists the directories of programs that a rule may name without a
// directory.
var trusted = []string{"/bin", "/usr/bin", "/sbin", "/usr/sbin"}

// names returns the names that an allow rule may use for a command.
func (l *line) names(words []string) []string {
	if l.program != "" && slices.Contains(trusted, path.Dir(l.program)) {
		return []string{l.program, path.Base(l.program)}
	}
	return words[:1]
}

// stripped returns a text without quotes, backslashes and line continuations,
// and with single spaces.
func stripped(text string) string {
	s := strings.NewReplacer("\\\r\n", "", "\\\n", "", "'", "", `"`, "", `\`, "").Replace(text)
	return strings.Join(strings.Fields(s), " ")
}

// commands collects the commands that a line may run. The result may be
// incomplete or too large. It can be a reason to ask or deny, but never to
// allow.
type commands struct {
	found [][]string
	// outer are the commands of the line itself, without those that they start.
	outer [][]string
}

// all returns the commands in a line that is not plain.
func (l *line) all() commands {
	var c commands
	if len(l.calls) > 0 { // words instead of a text
		c.outer = [][]string{l.calls[0].words}
		c.command(l.calls[0].words, 0)
		return c
	}
	c.script(l.raw, 0)
	c.pieces(l.code(), 0)
	c.pieces(stripped(l.code()), 0)
	if len(c.outer) == 0 {
		c.outer = [][]string{{strings.TrimSpace(l.raw)}}
	}
	return c
}

// within returns the commands that a command may start.
func within(words []string) [][]string {
	var c commands
	c.command(words, 0)
	return c.found[1:]
}

func (c *commands) script(line string, depth int) {
	if len(line) > maxScript || depth > maxScripts {
		return
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		c.pieces(line, depth)
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			words := make([]string, len(call.Args))
			for n, w := range call.Args {
				words[n] = literal(w)
			}
			if depth == 0 && len(c.outer) < maxCommands {
				c.outer = append(c.outer, words)
			}
			c.command(words, depth)
		}
		return true
	})
}

// pieces splits a line at operators. It is used for lines that the parser
// rejects, because another shell may accept them.
func (c *commands) pieces(line string, depth int) {
	if len(line) > maxScript {
		return
	}
	bare := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(line)
	operator := func(r rune) bool { return strings.ContainsRune(";&|\n\r(){}`$<>#", r) }
	for piece := range strings.FieldsFuncSeq(bare, operator) {
		words := strings.Fields(piece)
		for len(words) > 0 && reserved[words[0]] {
			words = words[1:]
		}
		if len(words) > 0 {
			c.command(words, depth)
		}
	}
}

// reserved are words that may precede a command.
var reserved = set("! if then elif else do while until coproc function and or not begin")

// Commands that run text, or a script in their arguments.
var (
	evaluators = set("eval trap source . alias")
	scripted   = set("sh bash dash zsh ksh mksh ash yash fish")
)

// command adds a command and the commands that it starts.
func (c *commands) command(words []string, depth int) {
	known := func(w []string) bool { return slices.Equal(w, words) }
	if len(c.found) >= maxCommands || slices.ContainsFunc(c.found, known) {
		return
	}
	c.found = append(c.found, words)
	name := program(words[0])
	switch {
	case evaluators[name]:
		c.script(strings.Join(words[1:], " "), depth+1)
	case name == "find":
		c.executed(words, depth)
	case scripted[name]:
		c.argument(words, depth)
	case starters[name] && depth <= maxScripts:
		c.started(words, depth)
	}
}

// executed adds the commands that find runs.
func (c *commands) executed(words []string, depth int) {
	for n, w := range words {
		if (strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok")) && n+1 < len(words) {
			c.command(words[n+1:], depth+1)
		}
	}
}

// argument adds the commands of the script that a shell takes with -c.
func (c *commands) argument(words []string, depth int) {
	for n, w := range words[1:] {
		if strings.HasPrefix(w, "-") && strings.Contains(w, "c") && n+2 < len(words) {
			c.script(words[n+2], depth+1)
			return
		}
	}
}

// started adds the commands that another command may start. Any of its first
// arguments may be such a command.
func (c *commands) started(words []string, depth int) {
	for n := 1; n < min(len(words), maxWrapped); n++ {
		if !strings.HasPrefix(words[n], "-") {
			c.command(words[n:], depth+1)
		}
	}
}

// literal returns the known part of a word as a command receives it.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				}
			}
		}
	}
	return b.String()
}

// unescaped removes backslashes before the given characters, or before any
// character if none are given.
func unescaped(s, escapable string) string {
	var b strings.Builder
	for n := 0; n < len(s); n++ {
		if s[n] == '\\' && n+1 < len(s) && (escapable == "" || strings.IndexByte(escapable, s[n+1]) >= 0) {
			n++
			if s[n] == '\n' {
				continue // a line continuation
			}
		}
		b.WriteByte(s[n])
	}
	return b.String()
}
