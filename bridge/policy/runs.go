package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// open replaces the part of a text that depends on an expansion.
const open = "$"

// run is a command that a line may start, as far as it is known without running
// the line.
type run struct {
	// words are the words as the command receives them. An expansion in a word is
	// open.
	words []string
	// fed means that the command reads what a pipe or a here-document brings, and
	// from is the file that it reads instead.
	fed  bool
	from string
	// data means that neither its words nor what it reads is ever run: see inert.
	data bool
}

// reading holds the commands that a line may run.
type reading struct {
	runs []run
	// texts hold what is written in the line and is not data: the words of
	// commands, the values of variables, and here-documents.
	texts []string
	// written are the files that the line writes.
	written []string
	// quoted are the places of data in the line, from one byte to another: quoted
	// words, and here-documents.
	quoted [][2]int
}

// setting describes the place of a part of a line.
type setting struct {
	fed  bool   // it reads from a pipe or a here-document
	loud bool   // something may run what it writes
	from string // the file that it reads
}

// readLine returns what a line may run. It returns false for a line that bash
// does not read, and for one that is too long.
func readLine(line string) (*reading, bool) {
	if len(line) > maxScript {
		return nil, false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	r := &reading{}
	r.inside(f, setting{})
	return r, true
}

// inside reads the parts of a node.
func (r *reading) inside(n syntax.Node, c setting) {
	syntax.Walk(n, func(part syntax.Node) bool {
		if part == n {
			return true
		}
		if part != nil {
			r.node(part, c)
		}
		return false
	})
}

func (r *reading) node(n syntax.Node, c setting) {
	switch n := n.(type) {
	case *syntax.Stmt:
		r.statement(n, c)
	case *syntax.BinaryCmd:
		if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
			r.inside(n, c)
			return
		}
		r.node(n.X, setting{c.fed, c.loud || !quiet(n.Y), c.from})
		r.node(n.Y, setting{true, c.loud, ""})
	case *syntax.FuncDecl: // anything may call it
		r.inside(n, setting{fed: true, loud: true})
	case *syntax.Word:
		text := wordText(n)
		r.texts = append(r.texts, text)
		r.inside(n, setting{loud: true})
	case *syntax.ProcSubst:
		r.inside(n, setting{fed: n.Op == syntax.CmdOut, loud: c.loud})
	case *syntax.Assign:
		if n.Name != nil {
			r.texts = append(r.texts, n.Name.Value+"=")
		}
		r.inside(n, c)
	case *syntax.ExtGlob: // zsh runs what some patterns contain
		r.texts = append(r.texts, n.Pattern.Value)
	case *syntax.ArithmCmd, *syntax.LetClause:
		r.inside(n, setting{loud: true})
	default:
		r.inside(n, c)
	}
}

// statement reads a command with its redirections.
func (r *reading) statement(s *syntax.Stmt, c setting) {
	for _, to := range s.Redirs {
		c.fed = c.fed || feeds(to)
		if to.Op == syntax.RdrIn || to.Op == syntax.RdrInOut {
			c.from = wordText(to.Word)
		}
		if writes(to) {
			c.loud, r.written = true, append(r.written, path.Clean(wordText(to.Word)))
		}
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	data := false
	if ok {
		data = r.call(call, c)
	} else if s.Cmd != nil {
		r.node(s.Cmd, c)
	}
	for _, to := range s.Redirs {
		body := to.Word
		if to.Hdoc != nil {
			body = to.Hdoc
		}
		if data && feeds(to) {
			r.quoted = append(r.quoted, place(body))
		} else {
			r.texts = append(r.texts, wordText(body))
		}
		r.inside(body, setting{loud: !data})
	}
}

// call reads a simple command, and reports whether its words are data.
func (r *reading) call(call *syntax.CallExpr, c setting) (data bool) {
	for _, a := range call.Assigns {
		r.node(a, c)
	}
	if len(call.Args) == 0 {
		return false
	}
	words := make([]string, len(call.Args))
	for n, w := range call.Args {
		words[n] = wordText(w)
	}
	data = !c.loud && inert(words)
	if len(r.runs) < maxCommands {
		r.runs = append(r.runs, run{words, c.fed, c.from, data})
	}
	if !data {
		r.texts = append(r.texts, strings.Join(words, " "))
	}
	for _, w := range call.Args {
		if data {
			r.quote(w)
		}
		r.inside(w, setting{c.fed, !data, c.from})
	}
	return data
}

// quote notes the quoted pieces of a word that is data.
func (r *reading) quote(w *syntax.Word) {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			r.quoted = append(r.quoted, place(p))
		}
	}
}

// place returns where a node is in a line, in bytes.
func place(n syntax.Node) [2]int { return [2]int{int(n.Pos().Offset()), int(n.End().Offset())} }

// feeds reports whether a redirection brings a text of the line to a command.
func feeds(to *syntax.Redirect) bool {
	switch to.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	case syntax.RdrIn, syntax.RdrInOut:
		return wordText(to.Word) == open // what another command writes
	}
	return false
}

// writes reports whether a redirection writes to a file.
func writes(to *syntax.Redirect) bool {
	switch to.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.DplIn:
		return false
	case syntax.DplOut: // other numbers than those of the output may be a file or a pipe
		return !slices.Contains([]string{"1", "2", "-"}, wordText(to.Word))
	}
	return wordText(to.Word) != "/dev/null"
}

// quiet reports whether nothing runs what a command reads, nor what it writes.
func quiet(s *syntax.Stmt) bool {
	for _, to := range s.Redirs {
		if writes(to) {
			return false
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		words := make([]string, len(cmd.Args))
		for n, w := range cmd.Args {
			words[n] = wordText(w)
		}
		return len(words) > 0 && inert(words)
	case *syntax.BinaryCmd:
		return quiet(cmd.X) && quiet(cmd.Y)
	}
	return false
}

// wordText returns a word as a command receives it. A part that depends on an
// expansion is open.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, ""))
			if expands(p.Value) {
				b.WriteString(open)
			}
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				b.WriteString(open)
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				} else {
					b.WriteString(open)
				}
			}
		default:
			b.WriteString(open)
		}
	}
	return b.String()
}

// expands reports whether a text outside quotes may become another one, such as
// the names of files.
func expands(s string) bool {
	for n := 0; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case '*', '?':
			return true
		case '[':
			if strings.Contains(s[min(n+2, len(s)):], "]") {
				return true
			}
		case '{':
			if strings.Contains(s[n:], "}") && (strings.Contains(s[n:], ",") || strings.Contains(s[n:], "..")) {
				return true
			}
		}
	}
	return false
}

// code returns a line without what is data in it. Here-documents and quoted words
// are data of the command that gets them, unless something may run them.
func (r *reading) code(line string) string {
	out := []byte(line)
	for _, q := range r.quoted {
		for n := q[0]; n < min(q[1], len(out)); n++ {
			out[n] = ' '
		}
	}
	return string(out)
}
