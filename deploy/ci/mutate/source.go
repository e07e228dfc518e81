package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const module = "github.com/nodbridge/nod/"

// source is a package with its types.
type source struct {
	target
	order    int // position in the list of targets
	fset     *token.FileSet
	files    []*ast.File
	names    []string // paths of files
	texts    [][]byte // texts of files
	info     types.Info
	importer types.Importer
}

// change is one change of a file.
type change struct {
	of       *source
	kind     string
	function string
	file     int // index into the files of the package
	from, to int // offsets of the text that is replaced
	text     string
}

// place returns the file, the line and the function of a change.
func (c change) place() string {
	at := c.of.fset.File(c.of.files[c.file].Pos())
	line := at.Line(at.Pos(c.from))
	return strings.TrimSpace(fmt.Sprintf("%s/%s:%d %s", c.of.path, filepath.Base(c.of.names[c.file]), line, c.function))
}

func (c change) String() string { return c.place() + ": " + c.kind }

// apply returns the changed text of the file.
func (c change) apply() []byte {
	text := c.of.texts[c.file]
	return slices.Concat(text[:c.from], []byte(c.text), text[c.to:])
}

func (c change) diff() string {
	name := c.of.path + "/" + filepath.Base(c.of.names[c.file])
	return udiff.Unified(name, name, string(c.of.texts[c.file]), string(c.apply()))
}

// load reads and checks the packages of targets.
func load(ctx context.Context, targets []target) ([]*source, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly"}
	for _, t := range targets {
		args = append(args, module+t.path)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	byPath := map[string]listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		byPath[p.ImportPath] = p
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(byPath[path].Export) })
	var packages []*source
	for n, t := range targets {
		p := &source{target: t, order: n, fset: fset, importer: imports}
		for _, name := range byPath[module+t.path].GoFiles {
			if err := p.read(filepath.Join(byPath[module+t.path].Dir, name)); err != nil {
				return nil, err
			}
		}
		p.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if err := p.check(p.files, &p.info); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func (s *source) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution)
	s.files, s.names, s.texts = append(s.files, f), append(s.names, path), append(s.texts, text)
	return err
}

func (s *source) check(files []*ast.File, info *types.Info) error {
	_, err := (&types.Config{Importer: s.importer}).Check(module+s.path, s.fset, files, info)
	return err
}

// compiles reports whether the package compiles with a change.
func (s *source) compiles(c change) bool {
	f, err := parser.ParseFile(s.fset, s.names[c.file], c.apply(), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := slices.Clone(s.files)
	files[c.file] = f
	return s.check(files, nil) == nil
}

// text returns the text of a node.
func (s *source) text(file int, n ast.Node) string {
	from, to := s.span(n)
	return string(s.texts[file][from:to])
}

func (s *source) span(n ast.Node) (from, to int) {
	return s.fset.Position(n.Pos()).Offset, s.fset.Position(n.End()).Offset
}

// logs reports whether a statement only writes to the log, which no test needs to
// notice.
func (s *source) logs(n ast.Node) bool {
	statement, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && s.info.Types[f.X].Type != nil && strings.HasSuffix(s.info.Types[f.X].Type.String(), "log/slog.Logger")
}
