package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what ask and deny rules read.
const (
	maxScripts  = 4        // scripts within scripts
	maxScript   = 32 << 10 // bytes
	maxCommands = 200
	maxWrapped  = 8 // arguments of a command that could be the command it starts
)

// line is a command, or several, as one field of an input holds them.
type line struct {
	raw string
	// calls are the commands if the line is plain, and err is nil.
	calls []call
	err   error // why the line is not plain
	// program is the path of what runs, if the input states it.
	program string
}

func newLine(raw string) *line {
	l := &line{raw: raw}
	l.calls, l.err = plain(raw)
	return l
}

// wordLine is a program with arguments that no shell reads.
func wordLine(words []string) *line {
	l := &line{raw: quote(words), calls: []call{{words: words}}}
	if words[0] == "" {
		l.err = errors.New("the command name is empty")
		return l
	}
	if span(words[0], isNameChar) != words[0] {
		l.err = errors.New("the command name has a character that a shell reads in another way")
	} else if l.err = checkName(words[0]); l.err == nil && words[0] == "cd" {
		l.err = errors.New("cd is a builtin of the shell")
	}
	l.checkText()
	return l
}

// startedLine is a program, by its path, with an argument list.
func startedLine(program string, argv []string) *line {
	l := &line{raw: quote(append([]string{program}, argv[1:]...)), program: program}
	l.calls = []call{{words: append([]string{program}, argv[1:]...)}}
	switch clean, bad := cleanPath(program, ""); {
	case bad != "":
		l.err = errors.New("the program " + bad)
	case clean != program || !path.IsAbs(program):
		l.err = errors.New("the program is not an absolute path")
	case path.Base(argv[0]) != path.Base(program):
		l.err = errors.New("the program is started under another name than its own")
	}
	l.checkText()
	return l
}

func (l *line) checkText() {
	if l.err == nil && strings.ContainsFunc(l.raw, func(r rune) bool { return r < ' ' || r > '~' }) {
		l.err = errors.New("a word has a character other than printable ASCII")
	}
}

// trusted are the directories whose programs a rule may name without them.
var trusted = []string{"/bin", "/usr/bin", "/sbin", "/usr/sbin"}

// names are the names by which an allow rule may know a command.
func (l *line) names(words []string) []string {
	if l.program != "" && slices.Contains(trusted, path.Dir(l.program)) {
		return []string{l.program, path.Base(l.program)}
	}
	return words[:1]
}

// stripped is the line without quotes, backslashes and joined lines, with every
// run of blanks made one.
func (l *line) stripped() string {
	s := strings.NewReplacer("\\\r\n", "", "\\\n", "", "'", "", `"`, "", `\`, "").Replace(l.raw)
	return strings.Join(strings.Fields(s), " ")
}

// commands finds what a line may run, as well as it can: what it finds is
// asked about or denied, and never a reason to allow.
type commands struct {
	found [][]string
	// outer are those of the line itself, and not what they start.
	outer [][]string
}

// all returns every command of a line that is not plain.
func (l *line) all() commands {
	var c commands
	if len(l.calls) > 0 { // words, and not a text
		c.outer = [][]string{l.calls[0].words}
		c.command(l.calls[0].words, 0)
		return c
	}
	c.script(l.raw, 0)
	c.pieces(l.raw, 0)
	c.pieces(l.stripped(), 0)
	if len(c.outer) == 0 {
		c.outer = [][]string{{strings.TrimSpace(l.raw)}}
	}
	return c
}

// within returns the commands that one command may start.
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

// pieces cuts a line between operators, for what the parser cannot read and
// another shell may.
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

// reserved are words before a command.
var reserved = set("! if then elif else do while until coproc function and or not begin")

// Commands that run text, or a script in their arguments.
var (
	evaluators = set("eval trap source . alias")
	scripted   = set("sh bash dash zsh ksh mksh ash yash fish")
)

// command notes a command, and what it starts.
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
		for n, w := range words {
			if (strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok")) && n+1 < len(words) {
				c.command(words[n+1:], depth+1)
			}
		}
	case scripted[name]:
		for n, w := range words[1:] {
			if strings.HasPrefix(w, "-") && strings.Contains(w, "c") && n+2 < len(words) {
				c.script(words[n+2], depth+1)
				break
			}
		}
	case starters[name] && depth <= maxScripts:
		for n := 1; n < min(len(words), maxWrapped); n++ { // any argument may be the command
			if !strings.HasPrefix(words[n], "-") {
				c.command(words[n:], depth+1)
			}
		}
	}
}

// literal is a word as a command gets it, as far as that is known.
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

// unescaped removes backslashes before the characters that they escape, which
// is any if none are given.
func unescaped(s, escapable string) string {
	var b strings.Builder
	for n := 0; n < len(s); n++ {
		if s[n] == '\\' && n+1 < len(s) && (escapable == "" || strings.IndexByte(escapable, s[n+1]) >= 0) {
			n++
			if s[n] == '\n' {
				continue // the line goes on
			}
		}
		b.WriteByte(s[n])
	}
	return b.String()
}
