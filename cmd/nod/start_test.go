package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// maxStart is the memory that the packages of nod may allocate before main, in
// bytes. Every hook of an agent pays for these allocations.
const maxStart = 300_000

// TestStart checks how much memory the packages of nod allocate before main. The
// packages of others are in the log.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{rig.Binary(t), rig.Binary(t) + "-hook"} {
		cmd := exec.Command(name, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		ours, others := 0, 0
		for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(string(out), -1) {
			bytes, _ := strconv.Atoi(m[2])
			if m[1] != "main" && !strings.HasPrefix(m[1], module) {
				others += bytes
				continue
			}
			if ours += bytes; bytes > maxStart/10 {
				t.Logf("%s: %d bytes", m[1], bytes)
			}
		}
		t.Logf("%s: %d bytes, and packages of others %d", filepath.Base(name), ours, others)
		if ours == 0 || ours > maxStart {
			t.Errorf("%s: the packages of nod allocate %d bytes at start, and may allocate %d", filepath.Base(name), ours, maxStart)
		}
	}
}

// TestExpressions checks that regular expressions are compiled at their first use
// and not at start, and that those that are constants are valid.
func TestExpressions(t *testing.T) {
	t.Parallel()
	n := 0
	for _, root := range []string{"bridge", "broker", "cmd", "config", "platforms", "render"} {
		err := filepath.WalkDir("../../"+root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || strings.Contains(filepath.ToSlash(path), "test") {
				return err
			}
			n += checkExpressions(t, path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 90 {
		t.Errorf("only %d expressions found", n)
	}
}

// checkExpressions checks the expressions of a package, and returns the number of
// those that it compiled.
func checkExpressions(t *testing.T, dir string) int {
	t.Helper()
	files := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// Imports are not loaded, because constants need none.
	config := types.Config{Error: func(error) {}}
	_, _ = config.Check(dir, files, parsed, &info) // errors are about imports
	n := 0
	for _, f := range parsed {
		for _, d := range f.Decls {
			g, global := d.(*ast.GenDecl)
			ast.Inspect(d, func(node ast.Node) bool {
				if _, later := node.(*ast.FuncLit); later {
					global = false
				}
				call, ok := node.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch types.ExprString(call.Fun) {
				case "regexp.MustCompile":
					if global && g.Tok == token.VAR {
						t.Errorf("%s: the expression is compiled at start; use lazyregexp.New", files.Position(call.Pos()))
					}
				case "lazyregexp.New":
					if v := info.Types[call.Args[0]].Value; v != nil && v.Kind() == constant.String {
						n++
						if _, err := regexp.Compile(constant.StringVal(v)); err != nil {
							t.Errorf("%s: %v", files.Position(call.Pos()), err)
						}
					} else if global {
						t.Errorf("%s: the expression is not a constant", files.Position(call.Pos()))
					}
				}
				return true
			})
		}
	}
	return n
}
