package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/nodbridge/nod/"

// cmdLayer knows everybody.
const cmdLayer = 7

// layerOf says how high a package stands: imports go down only.
func layerOf(path string) int {
	p := strings.TrimPrefix(path, module)
	switch {
	case p == "platforms/sandbox/raw":
		return 0
	case p == "platforms/sandbox/core":
		return 1
	case strings.HasPrefix(p, "platforms/sandbox/"):
		return 2
	case p == "platforms/platformtest": // tests run adapters against everything with it
		return cmdLayer
	case p == "config", p == "deploy", strings.HasPrefix(p, "deploy/"), p == "bridge/strictjson", p == "bridge/visible":
		return 0
	case p == "bridge":
		return 1
	case p == "bridge/proof", p == "render", p == "bridge/dialect":
		return 2
	case p == "bridge/engine", strings.HasPrefix(p, "render/"), p == "platforms":
		return 3
	case p == "bridge/dialect/askuserquestion", p == "bridge/dialect/elicitation": // parts of several agents' formats
		return 3
	case strings.HasPrefix(p, "bridge/dialect/"):
		return 4
	case p == "bridge/console": // a front door that stands before another
		return 6
	case strings.HasPrefix(p, "bridge/"), strings.HasPrefix(p, "platforms/"), p == "broker", strings.HasPrefix(p, "broker/"):
		return 5
	case p == "cmd/nod":
		return cmdLayer
	}
	return -1
}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Standard", "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from := layerOf(p.ImportPath)
		if from < 0 {
			t.Errorf("%s stands in no layer; the root holds cmd bridge platforms broker render config deploy", p.ImportPath)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) {
				checkOutside(t, name, i)
				continue
			}
			if to := layerOf(i); to >= from && from != cmdLayer {
				t.Errorf("%s (layer %d) imports %s (layer %d)", name, from, i, to)
			}
		}
	}
}

// checkOutside pins what the lower packages may import from elsewhere.
func checkOutside(t *testing.T, name, path string) {
	third := strings.Contains(path, ".")
	switch {
	case name == "bridge" && third && path != "github.com/google/uuid":
		t.Errorf("bridge imports %s; it may import the standard library and uuid", path)
	case name == "bridge/proof" && third && path != "github.com/go-jose/go-jose/v4" && path != "github.com/gowebpki/jcs":
		t.Errorf("bridge/proof imports %s; it may import the standard library, go-jose and jcs", path)
	case name == "config" && third && !strings.HasPrefix(path, "go.yaml.in/yaml"):
		t.Errorf("config imports %s", path)
	case strings.HasPrefix(name, "render") && !strings.HasSuffix(name, "test") && slices.Contains([]string{"net/http", "os", "log", "log/slog", "time/tzdata"}, path):
		t.Errorf("%s imports %s; rendering is pure", name, path)
	}
}

// The core must not know which chat services there are. What knows the shapes
// of everybody's credentials is left out.
func TestCoreNamesNoPlatform(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"slack", "discord", "telegram"} {
		out, err := exec.Command("grep", "-rniwE", "--include=*.go", "--exclude=*_test.go", "--exclude-dir=redact", word, "../../bridge/", "../../render/card.go", "../../render/words.go").Output()
		if err == nil {
			t.Errorf("the core names a platform:\n%s", out)
		}
	}
}
