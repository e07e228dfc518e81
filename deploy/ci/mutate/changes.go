package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// opposite maps an operator to its replacement.
var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// finder collects the changes of one file.
type finder struct {
	*source
	file     int
	function string
	out      []change
}

// changes returns all changes of a package that may compile.
func (s *source) changes() []change {
	var out []change
	for n, f := range s.files {
		find := finder{source: s, file: n}
		for _, d := range f.Decls {
			find.function = ""
			if f, ok := d.(*ast.FuncDecl); ok {
				find.function = f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if n == nil || s.logs(n) {
					return false
				}
				find.visit(n)
				return true
			})
		}
		out = append(out, find.out...)
	}
	return out
}

// replace adds the change that replaces a node.
func (f *finder) replace(kind string, n ast.Node, text string) {
	from, to := f.span(n)
	f.add(kind, from, to, text)
}

// add adds the change that replaces the text between two offsets.
func (f *finder) add(kind string, from, to int, text string) {
	f.out = append(f.out, change{f.source, kind, f.function, f.file, from, to, text})
}

func (f *finder) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.operator(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.replace("negation left out", n, f.source.text(f.file, n.X))
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			f.replace("one more", n, "("+n.Value+"+1)")
		}
	case *ast.Ident:
		f.constant(n)
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			f.negate(n.Cond)
		}
	case *ast.SwitchStmt:
		f.cases(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.ReturnStmt:
		f.returned(n)
	case *ast.CallExpr:
		f.arguments(n)
	}
}

func (f *finder) operator(n *ast.BinaryExpr) {
	if t := f.info.Types[n].Type; n.Op == token.ADD && t != nil && types.AssignableTo(types.Typ[types.String], t.Underlying()) {
		f.replace("end of a text left out", n, f.source.text(f.file, n.X))
		return
	}
	if to, ok := opposite[n.Op]; ok {
		from := f.fset.Position(n.OpPos).Offset
		f.add(n.Op.String()+" is "+to.String(), from, from+len(n.Op.String()), to.String())
	}
}

func (f *finder) constant(n *ast.Ident) {
	for from, to := range map[string]string{"true": "false", "false": "true"} {
		if n.Name == from && f.info.Uses[n] == types.Universe.Lookup(from) {
			f.replace(from+" is "+to, n, to)
		}
	}
}

// negate negates a condition, unless another change already does so.
func (f *finder) negate(cond ast.Expr) {
	switch n := cond.(type) {
	case *ast.UnaryExpr:
		return
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return
		}
	}
	f.replace("condition negated", cond, "!("+f.source.text(f.file, cond)+")")
}

// cases negates the conditions of a switch without a value.
func (f *finder) cases(n *ast.SwitchStmt) {
	for _, c := range n.Body.List {
		if c := c.(*ast.CaseClause); n.Tag == nil && len(c.List) == 1 {
			f.negate(c.List[0])
		}
	}
}

// statements leaves out a statement that has an effect.
func (f *finder) statements(all []ast.Stmt) {
	for _, s := range all {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if f.logs(s) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IfStmt:
			if s.Else != nil {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.BranchStmt:
		default:
			continue
		}
		f.replace("statement left out", s, "")
	}
}

// returned drops a returned error.
func (f *finder) returned(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if t := f.info.Types[last]; t.Type != nil && !t.IsNil() && types.Implements(t.Type, types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
		f.replace("error dropped", last, "nil")
	}
}

// arguments swaps neighboring arguments of the same type.
func (f *finder) arguments(n *ast.CallExpr) {
	for k := 1; k < len(n.Args); k++ {
		a, b := n.Args[k-1], n.Args[k]
		x, y := f.info.Types[a], f.info.Types[b]
		one, other := f.source.text(f.file, a), f.source.text(f.file, b)
		if x.Type == nil || y.Type == nil || !types.Identical(x.Type, y.Type) || one == other {
			continue
		}
		from, _ := f.span(a)
		end, next := f.fset.Position(a.End()).Offset, f.fset.Position(b.Pos()).Offset
		_, to := f.span(b)
		f.add("arguments swapped", from, to, other+string(f.texts[f.file][end:next])+one)
	}
}
