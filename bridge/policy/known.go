package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// inquiry finds out whether a line certainly does not run a target. This is so
// if the shell runs only the commands in the line, and each of them certainly
// neither is the target nor starts it.
type inquiry struct {
	target  target
	where   string // the location of the request
	depth   int
	calls   int
	written []string // files that the line writes
	placed  []string // files that programs of the project write
	dirs    []string // directories that the line changes to
	ran     []string // files that the line runs; "" stands for a file that a program chooses
	values  []string // values of variables
	// optional means that an expansion may be an option of a program. dashes
	// means that a value in the line is an option.
	optional, dashes bool
	// input means that an expansion is the output of a program, and data means
	// that the line contains text that could become such output. captured
	// counts the enclosing commands whose output other commands read. changed
	// means that an expansion is derived from the value of a variable.
	input, data, changed bool
	captured             int
	// runs means that the line starts programs of the project. passed means
	// that one of them gets an expansion as an argument. code means that a
	// variable contains a text that a program may evaluate. open means that
	// such a variable contains an expansion.
	runs, passed, code, open bool
	// piped means that a program of the project reads from a pipe.
	piped bool
	// edits means that the line writes text other than the output of a program
	// to a file.
	edits bool
	// patches means that the line applies a patch. fed means that the patch
	// comes from a pipe. brings means that the line may compose or download the
	// patch.
	patches, fed, brings bool
}

// made reports whether an expansion may be text from the line, or a changed
// form of such text.
func (q *inquiry) made() bool { return q.input && q.data }

// mayRun reports whether a line may run the target in a location.
func (t target) mayRun(line, where string) bool {
	q := &inquiry{target: t, where: where}
	return !q.script(line) || q.optional && (q.dashes || q.made()) || q.passed && (q.made() || q.changed) ||
		q.runs && (q.code || q.piped && q.data || q.open && (q.made() || q.changed)) || q.runsWritten()
}

// script reports whether all commands that a shell script runs are known.
func (q *inquiry) script(text string) bool {
	f := parseShell(text)
	if f == nil || q.depth == maxScripts {
		return false
	}
	q.depth++
	known := q.inside(f, false) && harmlessComments(f)
	q.depth--
	return known
}

// inside reports whether all commands that the parts of a node run are known.
// Fed means that they read input from a pipe, a here-document or a file.
func (q *inquiry) inside(n syntax.Node, fed bool) bool {
	known := true
	syntax.Walk(n, func(part syntax.Node) bool {
		if part == n {
			return true
		}
		known = known && (part == nil || q.node(part, fed))
		return false
	})
	return known
}

// node reports whether all commands that a node runs are known. It knows only
// the kinds of nodes that it lists.
func (q *inquiry) node(n syntax.Node, fed bool) bool {
	switch n := n.(type) {
	case *syntax.Lit, *syntax.Comment: // see harmlessComments
		return true
	case *syntax.SglQuoted: // fish reads the last backslash differently
		q.changed = q.changed || n.Dollar && strings.Contains(n.Value, `\`)
		return !strings.HasSuffix(n.Value, `\`)
	case *syntax.Word:
		return !subscripted(n.Parts) && q.inside(n, fed)
	case *syntax.DblQuoted:
		return !subscripted(n.Parts) && q.inside(n, fed)
	case *syntax.ArithmExp:
		return calculates(n.X)
	case *syntax.ParamExp:
		q.dashes = q.dashes || n.Exp != nil || n.Repl != nil
		q.changed = q.changed || n.Exp != nil || n.Repl != nil || n.Slice != nil
		return isPlainExpansion(n) && q.inside(n, fed)
	case *syntax.CmdSubst:
		q.input = true
		return q.capture(func() bool { return q.inside(n, fed) })
	case *syntax.BinaryTest: // other operators evaluate words as numbers, and && ends a command in other shells
		return (n.Op < syntax.TsEql || n.Op > syntax.TsGtr) && n.Op != syntax.AndTest && n.Op != syntax.OrTest && q.inside(n, fed)
	case *syntax.UnaryTest:
		w, _ := n.X.(*syntax.Word)
		return n.Op != syntax.TsVarSet && n.Op != syntax.TsRefVar && (n.Op != syntax.TsFdTerm || w != nil && numeral(w)) && q.inside(n, fed)
	case *syntax.ProcSubst:
		q.input = true
		return q.capture(func() bool { return q.inside(n, n.Op == syntax.CmdOut) })
	case *syntax.ForClause:
		return !n.Select && q.inside(n, fed)
	case *syntax.WordIter:
		for _, w := range n.Items {
			q.value(wordText(w))
		}
		return isOrdinary(n.Name.Value, "", false) && q.inside(n, fed)
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			return q.capture(func() bool { return q.node(n.X, fed) }) && q.node(n.Y, true)
		}
		return q.node(n.X, fed) && q.node(n.Y, fed)
	case *syntax.Stmt:
		return q.statement(n, fed)
	case *syntax.CallExpr:
		return q.call(n, fed)
	case *syntax.DeclClause:
		exported := n.Variant.Value != "local" && n.Variant.Value != "readonly"
		return !slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return !q.assigns(a, exported) })
	case *syntax.ArrayElem:
		return n.Index == nil && q.inside(n, fed)
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.CaseItem,
		*syntax.TimeClause, *syntax.TestClause, *syntax.ParenTest, *syntax.ArrayExpr:
		return q.inside(n, fed)
	}
	return false
}

// subscripted reports whether zsh may read a subscript, which it evaluates.
func subscripted(parts []syntax.WordPart) bool {
	for n := 1; n < len(parts); n++ {
		e, isParam := parts[n-1].(*syntax.ParamExp)
		lit, isLit := parts[n].(*syntax.Lit)
		if isParam && e.Short && isLit && strings.HasPrefix(lit.Value, "[") {
			return true
		}
	}
	return false
}

// isPlainExpansion reports whether an expansion evaluates no value as code, and
// assigns none.
func isPlainExpansion(e *syntax.ParamExp) bool {
	if e.Param == nil || e.Excl || e.Flags != nil || e.Slice != nil && !(numeral(e.Slice.Offset) && numeral(e.Slice.Length)) {
		return false
	}
	if w, ok := e.Index.(*syntax.Word); e.Index != nil && !(ok && (w.Lit() == "@" || w.Lit() == "*" || numeral(w))) {
		return false
	}
	return e.Exp == nil || e.Exp.Op != syntax.OtherParamOps && e.Exp.Op != syntax.AssignUnset && e.Exp.Op != syntax.AssignUnsetOrNull
}

// numeral reports whether a node is a number. A variable that is evaluated as a
// number may contain a command.
func numeral(n syntax.ArithmExpr) bool {
	w, ok := n.(*syntax.Word)
	return n == nil || ok && w.Lit() != "" && digits.MatchString(w.Lit())
}

// calculates reports whether an expression consists of numbers.
func calculates(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		return calculates(x.X) && calculates(x.Y)
	case *syntax.ParenArithm:
		return calculates(x.X)
	case *syntax.Word:
		return numeral(x)
	}
	return false
}

var digits = lazyregexp.New(`^-?[0-9]*$`)

// statement reports whether all commands that a statement runs are known.
func (q *inquiry) statement(s *syntax.Stmt, fed bool) bool {
	if slices.ContainsFunc(s.Redirs, writes) { // other programs may read the file
		q.captured++
		defer func() { q.captured-- }()
	}
	for _, to := range s.Redirs {
		if !isPlainRedirect(to, s.Cmd) || !q.node(to.Word, fed) || to.Hdoc != nil && !q.node(to.Hdoc, fed) {
			return false
		}
		q.data = q.data || feeds(to)
		if writes(to) {
			q.written = append(q.written, wordText(to.Word))
			call, ok := s.Cmd.(*syntax.CallExpr)
			q.dashes = q.dashes || isOption(path.Base(wordText(to.Word)))
			q.brings = q.brings || !ok || len(call.Args) == 0 || call.Args[0].Lit() != "git"
		} else if to.Op != syntax.DplOut && wordText(to.Word) != "/dev/null" {
			fed = true
		}
	}
	return s.Cmd == nil || q.node(s.Cmd, fed)
}

// isPlainRedirect reports whether shells agree on the effect of a redirection:
// bash evaluates subscripts in the name of a file descriptor, and dash reads &>
// as two operators.
func isPlainRedirect(to *syntax.Redirect, cmd syntax.Command) bool {
	duplicates := to.Op == syntax.DplOut || to.Op == syntax.DplIn
	if to.N != nil && !digits.MatchString(to.N.Value) || duplicates && !descriptor.MatchString(wordText(to.Word)) {
		return false
	}
	call, ok := cmd.(*syntax.CallExpr)
	return !ok || !slices.ContainsFunc(call.Args, func(w *syntax.Word) bool {
		lit, _ := w.Parts[0].(*syntax.Lit)
		named := lit != nil && strings.HasPrefix(lit.Value, "{") && lit.Value != "{}"
		return named || (to.Op == syntax.RdrAll || to.Op == syntax.AppAll) && w.Pos().After(to.Pos())
	})
}

var descriptor = lazyregexp.New(`^[0-9]*-?$`)

// call reports whether a simple command is known not to run the target.
func (q *inquiry) call(c *syntax.CallExpr, fed bool) bool {
	for _, a := range c.Assigns {
		if !q.assigns(a, len(c.Args) > 0) {
			return false
		}
	}
	for _, w := range c.Args {
		if !q.node(w, fed) {
			return false
		}
	}
	return len(c.Args) == 0 || q.command(callWords(c), fed)
}

// capture calls known for commands whose output other commands read.
func (q *inquiry) capture(known func() bool) bool {
	q.captured++
	defer func() { q.captured-- }()
	return known()
}

// prints matches words that a program may replace with others when it prints
// them.
var prints = lazyregexp.New("[\\s\"'`\\\\${}();&|<>]|%x")

// command reports whether a command is known not to be the target and not to
// start it.
func (q *inquiry) command(words []string, fed bool) bool {
	dir, base := path.Split(words[0])
	if q.calls++; q.calls > maxCommands || base == "" || isOpen(base) || strings.ContainsAny(base, "*?") || strings.Contains(dir, many) {
		return false
	}
	name, args, at, ok := program(base), words[1:], "", true
	q.data = q.data || q.captured > 0 && (composes[name] || q.names(args...) || slices.ContainsFunc(args, prints.MatchString))
	if name == "git" {
		args, at, ok = withoutSettings(args)
	}
	if !ok || q.target.is(append(words[:1:1], args...)) {
		return false
	}
	foreign := dir != "" && !slices.Contains(installed, path.Clean(dir))
	if foreign { // a file of the project
		q.ran, q.runs = append(q.ran, words[0]), true
	}
	written, placed := len(q.written), len(q.placed)
	known, listed := q.program(name, args, fed)
	q.edits = q.edits || name != "tee" && len(q.written) > written
	q.brings = q.brings || name != "git" && len(q.written) > written || q.captured > 0 && !passesOn[name]
	q.written = append(q.written, under(at, q.written[written:])...)
	q.placed = append(q.placed, under(at, q.placed[placed:])...)
	switch {
	case foreign:
		q.passed, q.piped = q.passed || !known && isOpen(args...), q.piped || !known && fed
		return (known || !listed && !slices.ContainsFunc(append(q.dirs, dir), q.theirs)) && !q.names(args...)
	case !listed && q.target.isName(name): // the words name another command
		said := func(w string) bool { return len(q.target.words) > 0 && q.target.means(0, w) }
		q.placed = append(q.placed, args...)
		return !fed && q.simple(args...) && !slices.ContainsFunc(args, said)
	}
	return known || len(args) == 1 && (args[0] == "--version" || args[0] == "--help")
}

// composes lists programs that print text from the line, or text that other
// people wrote.
var composes = set("echo printf curl gh")

// passesOn lists programs that only pass on the content of the project's files.
var passesOn = set("git cat head tail")

// installed lists the directories of programs that a command line may name by path.
var installed = append([]string{"/usr/local/bin", "/opt/homebrew/bin"}, trusted...)

// theirs reports whether a directory contains programs that do not belong to the
// project.
func (q *inquiry) theirs(dir string) bool {
	return installedDir.MatchString(dir) || path.IsAbs(dir) && !below(dir, q.where, "")
}

// installedDir matches directories with programs that do not belong to the
// project.
var installedDir = lazyregexp.New(`^/?$|^~|[\x01\x02]|(^|/)(usr|opt|s?bin|nix|snap|proc|sys|dev|node_modules|\.?venv|\.local|\.cargo|\.\.)(/|$)`)

// names reports whether a text may contain the name of the target's program.
func (q *inquiry) names(texts ...string) bool {
	name := q.target.name.text
	if strings.ContainsAny(name, "*?") {
		return false
	}
	for _, text := range texts {
		if whole := inBraces.ReplaceAllString(text, many); slices.ContainsFunc(strings.Fields(whole), q.mayBeName) {
			return true
		}
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>`,{}!\"'", r) }) {
			w = classes.ReplaceAllString(w, "*")
			value := program(w[strings.LastIndexAny(w, "=:")+1:])
			joined := len(q.target.words) > 0 && stands(value, name+"-"+q.target.words[0].text)
			if matches, err := path.Match(program(w), name); matches && err == nil || stands(value, name) || joined || q.target.isName(w) {
				return true
			}
		}
	}
	return false
}

// mayBeName reports whether a word, or its end, may be the name of the target's
// program after expansion. A word that is only an expansion is not its concern,
// because the value of the variable is checked.
func (q *inquiry) mayBeName(w string) bool {
	w = w[strings.LastIndexAny(w, "/=:")+1:]
	if len(w) < 2 || !isOpen(w) {
		return false
	}
	name, pattern := q.target.name.text, strings.NewReplacer(one, "*", many, "*").Replace(w)
	return stands(pattern, name) || len(q.target.words) > 0 && stands(pattern, name+"-"+q.target.words[0].text)
}

// inBraces matches braces that a shell expands.
var inBraces = lazyregexp.New(`\{[^{} ]*\}`)

// simpleWord matches words that are neither a command with arguments nor code.
var simpleWord = lazyregexp.New(`^~?[\w./:@%,=*?\[\]^-]*$`)

// escaped matches escapes that some programs replace with a character, such as
// a space.
var escaped = lazyregexp.New(`%[0-9A-Fa-f]{2}`)

// simple reports whether words cannot contain a command for a program to run.
func (q *inquiry) simple(words ...string) bool {
	return !q.names(words...) && !slices.ContainsFunc(words, func(w string) bool {
		return !simpleWord.MatchString(w) || escaped.MatchString(w) || strings.HasPrefix(w, "=") || strings.Contains(strings.ToLower(w), "data:")
	})
}

// operators matches the operators of shells.
var operators = lazyregexp.New("[;&|`$()<>]")

// harmlessComments reports whether no comment can run as a command in an
// interactive zsh, which reads comments as words.
func harmlessComments(f *syntax.File) bool {
	harmless := true
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			harmless = harmless && !operators.MatchString(c.Text)
		}
		return harmless
	})
	return harmless
}
