package sandbox_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImports checks that the sandbox imports nothing that knows nod, and that each of its
// packages imports only packages below it.
func TestImports(t *testing.T) {
	t.Parallel()
	const module, own = "github.com/nodbridge/nod/", "github.com/nodbridge/nod/platforms/sandbox/"
	allowed := map[string][]string{
		".": {"raw", "core", "slack", "discord", "telegram"}, "raw": nil, "core": {"raw"},
		"slack": {"raw", "core"}, "discord": {"raw", "core"}, "telegram": {"raw", "core"},
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			part, inside := strings.CutPrefix(name, own)
			if strings.HasPrefix(name, module) && name != module+"bridge/lazyregexp" && !(inside && slices.Contains(allowed[filepath.Dir(path)], part)) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
