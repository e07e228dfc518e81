package setup

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// decides reports whether statements fail if a call in them fails or does not
// run, and write what it writes. It returns false if nod cannot tell.
func decides(all []*syntax.Stmt, call *syntax.CallExpr) bool {
	if len(all) == 0 || slices.ContainsFunc(all[:len(all)-1], leaves) {
		return false
	}
	last := all[len(all)-1]
	if last.Background || last.Negated || last.Coprocess || slices.ContainsFunc(last.Redirs, takesStdout) {
		return false
	}
	switch cmd := last.Cmd.(type) {
	case *syntax.CallExpr:
		return cmd == call
	case *syntax.Subshell:
		return decides(cmd.Stmts, call)
	case *syntax.Block:
		return decides(cmd.Stmts, call)
	case *syntax.BinaryCmd:
		after := decides([]*syntax.Stmt{cmd.Y}, call)
		switch cmd.Op {
		case syntax.AndStmt:
			return after && !leaves(cmd.X) || decides([]*syntax.Stmt{cmd.X}, call)
		case syntax.OrStmt:
			return decides([]*syntax.Stmt{cmd.X}, call) && fails(cmd.Y.Cmd)
		default:
			return after
		}
	}
	return false
}

// leaves reports whether a statement may end the shell with success, or hide what
// a later one writes.
func leaves(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			call, ok := s.Cmd.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 || fails(call) {
				return !found
			}
			switch words := literals(call); words[0] {
			case "exit", "return", "trap":
				found = true
			case "exec": // without a command, it only redirects
				found = found || len(words) > 1 || slices.ContainsFunc(s.Redirs, takesStdout)
			}
		}
		return !found
	})
	return found
}

// takesStdout reports whether a redirection may take the standard output, where
// nod denies a call, from the agent.
func takesStdout(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return r.N != nil && r.N.Value == "1"
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		return r.N == nil || r.N.Value == "1"
	default:
		return true
	}
}

// fails reports whether a command always fails, such as exit 2.
func fails(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch words := literals(call); words[0] {
	case "false":
		return true
	case "exit", "return":
		code, err := strconv.ParseUint(words[len(words)-1], 10, 8)
		return err == nil && code > 0
	default:
		return false
	}
}
