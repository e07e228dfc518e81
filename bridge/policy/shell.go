package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read; what is beyond is asked about.
const (
	maxScripts  = 4        // scripts within scripts
	maxScript   = 32 << 10 // bytes
	maxCommands = 200
	maxWrapped  = 8 // arguments of a command that could be the command it starts
)

// shell takes a command line apart into all commands that it would run.
func (in *input) shell(line string) {
	in.isShell, in.commands = true, nil
	in.script(line, 0)
	if len(in.commands) == 0 {
		in.commands = []string{strings.TrimSpace(line)}
	}
}

// argv is a command without a shell around it.
func (in *input) argv(list []any) {
	var words []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return
		}
		words = append(words, s)
	}
	if len(words) == 0 {
		return
	}
	in.isShell, in.commands = true, nil
	in.command(words, 0)
}

func (in *input) hide(what string) {
	if in.opaque == "" {
		in.opaque = what
	}
}

func (in *input) script(line string, depth int) {
	if len(line) > maxScript || depth > maxScripts {
		in.hide("the command line is too long to be read")
		in.add([]string{strings.TrimSpace(line)})
		return
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		in.hide("the command line can not be read")
		in.commands = append(in.commands, strings.TrimSpace(line))
		in.pieces(line, depth)
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			in.call(n, depth)
		case *syntax.Redirect:
			in.redirect(n)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			in.hide("the command line runs another one within it")
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause:
			in.hide("the command line defines things")
		case *syntax.Stmt:
			if n.Background || n.Coprocess {
				in.hide("it runs in the background")
			}
		}
		return true
	})
}

// pieces takes apart what this shell's grammar does not know, and another's
// may: roughly, as it is never allowed anyway, and has to be denied still.
func (in *input) pieces(line string, depth int) {
	plain := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(line)
	for piece := range strings.FieldsFuncSeq(plain, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`$<>", r) }) {
		words := strings.Fields(piece)
		for len(words) > 0 && slices.Contains(reserved, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			in.command(words, depth)
		}
	}
}

// reserved are words before a command.
var reserved = []string{"!", "if", "then", "elif", "else", "do", "while", "until", "coproc", "function"}

func (in *input) call(c *syntax.CallExpr, depth int) {
	if len(c.Assigns) > 0 {
		in.hide("the command line sets variables")
	}
	if len(c.Args) == 0 {
		return
	}
	var words []string
	for n, w := range c.Args {
		s, ok := literal(w)
		if n == 0 && (!ok || strings.ContainsAny(s, "*?[")) {
			in.hide("which command runs is not known before")
		}
		if !ok {
			in.hide("the command line holds what only the shell knows")
		}
		if slices.Contains(strings.Split(s, "/"), "..") {
			in.hide("the command line names a parent directory")
		}
		words = append(words, s)
	}
	in.command(words, depth)
}

// Commands that run the command that follows them, and shells.
var (
	wrappers   = []string{"sudo", "doas", "env", "nohup", "time", "nice", "ionice", "xargs", "command", "exec", "builtin", "timeout", "stdbuf", "setsid", "watch", "chroot", "busybox"}
	evaluators = []string{"eval", "trap", "source", ".", "alias"}
	shells     = []string{"sh", "bash", "dash", "zsh", "ksh", "ash"}
)

// command notes a command under every name that a rule could know it by.
func (in *input) command(words []string, depth int) {
	if len(in.commands) == maxCommands {
		in.hide("the command line holds too many commands")
		return
	}
	in.add(words)
	name := path.Base(words[0])
	if name != words[0] {
		in.add(append([]string{name}, words[1:]...))
	}
	switch {
	case slices.Contains(evaluators, name):
		in.hide("it evaluates text")
		in.script(strings.Join(words[1:], " "), depth+1)
	case name == "find":
		in.found(words, depth)
	case slices.Contains(shells, name):
		in.hide("it starts another shell")
		for n, w := range words[1:] {
			if strings.HasPrefix(w, "-") && strings.HasSuffix(w, "c") && n+2 < len(words) {
				in.script(words[n+2], depth+1)
				break
			}
		}
	case slices.Contains(wrappers, name) && depth <= maxScripts:
		in.hide("it starts another command")
		for n := 1; n < min(len(words), maxWrapped); n++ { // what its own arguments are is not known: any may be the command
			if !strings.HasPrefix(words[n], "-") {
				in.command(words[n:], depth+1)
			}
		}
	}
}

// found reads what find would run.
func (in *input) found(words []string, depth int) {
	for n, w := range words {
		if w == "-delete" || strings.HasPrefix(w, "-fprint") || w == "-fls" {
			in.hide("find would change files")
		}
		if (w == "-exec" || w == "-execdir" || w == "-ok" || w == "-okdir") && n+1 < len(words) {
			in.hide("it starts another command")
			in.command(words[n+1:], depth+1)
		}
	}
}

func (in *input) add(words []string) {
	quoted := make([]string, len(words))
	for n, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			q = w // holds a NUL, which no shell takes
		}
		quoted[n] = q
	}
	s := strings.Join(quoted, " ")
	if !slices.Contains(in.commands, s) {
		in.commands = append(in.commands, s)
	}
}

// redirect reports one that touches a file.
func (in *input) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.DplIn, syntax.DplOut, syntax.RdrIn, syntax.WordHdoc, syntax.Hdoc, syntax.DashHdoc:
		return
	}
	if target, ok := literal(r.Word); ok && target == "/dev/null" {
		return
	}
	in.hide("the command line writes to a file")
}

// literal is a word as the command gets it; false where only the shell knows.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	known := true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			s := unescaped(p.Value, "")
			known = known && !strings.ContainsAny(p.Value, "{~")
			b.WriteString(s)
		case *syntax.SglQuoted:
			known = known && !p.Dollar
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					known = false
					continue
				}
				b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
			}
		default:
			known = false
		}
	}
	return b.String(), known
}

// unescaped removes backslashes before the characters that they escape; empty:
// before any.
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
