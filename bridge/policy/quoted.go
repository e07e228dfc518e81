package policy

import (
	"regexp"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// code returns a line that is not plain after it has removed the data: quoted
// words and here-documents of commands that only print or read them, if the
// statement does not run any of the data. It is used for ask and deny rules.
func (l *line) code() string {
	f := parseShell(l.raw)
	if f == nil || len(l.calls) > 0 {
		return l.raw
	}
	out := []byte(l.raw)
	for _, s := range f.Stmts {
		blankData(s, out)
	}
	return string(out)
}

// nothing is a target that no command matches.
var nothing = sync.OnceValue(func() target { return target{name: wordGlob{text: "*", folded: regexp.MustCompile(`$^`)}} })

// blankData replaces the data of a statement with spaces.
func blankData(s *syntax.Stmt, out []byte) {
	if both, ok := s.Cmd.(*syntax.BinaryCmd); ok && (both.Op == syntax.AndStmt || both.Op == syntax.OrStmt) && len(s.Redirs) == 0 {
		blankData(both.X, out)
		blankData(both.Y, out)
		return
	}
	if q := (&inquiry{target: nothing()}); !q.node(s, false) || len(q.written) > 0 {
		return
	}
	blank := func(n syntax.Node) {
		for i := n.Pos().Offset(); i < min(n.End().Offset(), uint(len(out))); i++ {
			out[i] = ' '
		}
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok || !isInert(s.Cmd) {
			return true
		}
		for _, to := range s.Redirs {
			if to.Hdoc != nil {
				blank(to.Hdoc)
			} else if feeds(to) {
				blank(to.Word)
			}
		}
		for _, w := range s.Cmd.(*syntax.CallExpr).Args {
			for _, p := range w.Parts {
				switch p.(type) {
				case *syntax.SglQuoted, *syntax.DblQuoted:
					blank(p)
				}
			}
		}
		return true
	})
}

// isInert reports whether the words of a command, and its input, are data.
func isInert(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && inert(callWords(call))
}
