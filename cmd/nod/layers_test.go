package main

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// layers lists the packages from the lowest to the highest layer. A package
// belongs to the longest name that equals its path or a parent directory. It
// may import lower layers and packages that belong to the same name.
var layers = []string{
	"bridge/lazyregexp",
	"bridge/removed bridge/timespan",
	"broker config/files config/secret deploy bridge/strictjson bridge/visible platforms/sandbox",
	"bridge broker/memory",
	"bridge/passkey bridge/life bridge/people bridge/documents broker/redis",
	"bridge/proof bridge/dialect render",
	"bridge/words bridge/journal bridge/turns bridge/core",
	"bridge/tell bridge/history",
	"bridge/engine platforms",
	"bridge/rooms/audit bridge/rooms/escalation bridge/rooms/grant bridge/rooms/passkeys bridge/rooms/session bridge/rooms/webhook",
	"bridge/desk",
	"bridge/rooms", // composes the engine and the rooms
	"bridge/api bridge/client bridge/directory bridge/mcp bridge/observe bridge/oncall bridge/policy bridge/question bridge/redact bridge/relay",
	"bridge/console", // applies the rules of the API to people
	"render/rendertest platforms/platformtest/samples platforms/platformtest/await platforms/platformtest/pty", // test helpers
	"platforms/platformtest/redistest",
	"bridge/dialect/dialecttest bridge/passkey/passkeytest platforms/platformtest", // test helpers
	"broker/brokertest",
	"config",
	"cmd",
	"platforms/platformtest/rig", // starts daemons
}

// outside lists the third-party packages that low packages may import.
var outside = map[string]string{
	"bridge":       "github.com/google/uuid golang.org/x/text/unicode/norm",
	"bridge/life":  "",
	"bridge/proof": "github.com/go-jose/go-jose/v4 github.com/hashicorp/golang-lru/v2",
	"broker":       "",
	"config":       "go.yaml.in/yaml/v3 golang.org/x/text/unicode/norm",
}

const module = "github.com/nodbridge/nod/"

// layerOf returns the layer of a package and the name that the package belongs
// to.
func layerOf(path string) (layer int, name string) {
	for n, names := range layers {
		for s := range strings.FieldsSeq(names) {
			if len(s) > len(name) && strings.HasPrefix(path+"/", s+"/") {
				layer, name = n, s
			}
		}
	}
	return layer, name
}

// imports returns the imports of each package.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[strings.TrimPrefix(words[0], module)] = words[1:]
	}
	return all
}

// TestLayers checks that no package imports one of a higher layer, and that
// limited packages import only the modules that they may.
func TestLayers(t *testing.T) {
	t.Parallel()
	for path, imported := range imports(t) {
		from, name := layerOf(path)
		if name == "" {
			t.Errorf("%s is in no layer", path)
		}
		if name == "bridge/rooms" && path != name {
			t.Errorf("%s has no name of its own, so it could import other rooms", path)
		}
		allowed, limited := outside[path]
		for _, i := range imported {
			own, ours := strings.CutPrefix(i, module)
			to, same := layerOf(own)
			switch {
			case ours && to >= from && same != name:
				t.Errorf("%s (layer %d) imports %s (layer %d)", path, from, own, to)
			case !ours && limited && strings.Contains(i, ".") && !slices.Contains(strings.Fields(allowed), i):
				t.Errorf("%s imports %s; the third-party packages it may import are %s", path, i, allowed)
			}
		}
	}
}

// TestReadsOneWay checks that nod reads files with functions that have limits of
// size, kind and time: a device never ends, and a pipe may block.
func TestReadsOneWay(t *testing.T) {
	t.Parallel()
	reads := regexp.MustCompile(`\b(os\.ReadFile|os\.Open|tls\.LoadX509KeyPair)\(`)
	allowed := map[string]int{
		"cmd/nod/setup/settingsfile.go": 1, // the function for files of other programs
		"cmd/nod/hook/origin.go":        1, // reads regular files from their end
		"cmd/nod/signal_unix.go":        1, // the terminal
	}
	for _, root := range []string{"bridge", "broker", "cmd", "config", "platforms/discord", "platforms/slack", "platforms/telegram", "render"} {
		err := filepath.WalkDir("../../"+root, func(path string, d fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
				return err
			}
			if n := len(reads.FindAllString(rig.ReadFile(t, path), -1)); n != allowed[name] {
				t.Errorf("%s reads %d files itself; use files.Read", name, n)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNotLinked checks that nod does not link packages that make it much
// larger. gRPC calls methods by name, so the linker keeps all methods. The
// benchmark and the systems that it measures are in a module of their own.
func TestNotLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"google.golang.org/grpc", "golang.org/x/net/trace", "github.com/hibiken/asynq", "github.com/nats-io/nats.go", "github.com/jackc/pgx/v5", "github.com/restatedev/sdk-go"} {
		if slices.Contains(strings.Fields(string(out)), path) {
			t.Errorf("nod links %s; find out why with: go mod why %s", path, path)
		}
	}
}

// TestHookIsSmall checks that nod-hook links only what hooks need: every tool
// call of an agent would pay for what other packages do at start.
func TestHookIsSmall(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "../nod-hook").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	for _, path := range linked {
		own, ours := strings.CutPrefix(path, module)
		first, _, _ := strings.Cut(own, "/")
		switch {
		case ours && (slices.Contains([]string{"broker", "platforms", "render", "deploy"}, first) || slices.Contains([]string{"cmd/nod/daemon", "cmd/nod/setup"}, own)):
		case slices.Contains([]string{"github.com/yuin/goldmark", "github.com/russross/blackfriday/v2", "github.com/prometheus/procfs", "encoding/gob", "go.yaml.in/yaml/v3"}, path):
		default:
			continue
		}
		t.Errorf("nod-hook links %s", path)
	}
	if len(linked) < 100 {
		t.Errorf("only %d packages", len(linked))
	}
}

// TestDependencies checks that docs/contribute/dependencies.md gives the reason
// for every module that go.mod requires directly, and for no other.
func TestDependencies(t *testing.T) {
	t.Parallel()
	var direct, listed []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(rig.ReadFile(t, "../../go.mod"), -1) {
		direct = append(direct, m[1]) // others end with a comment
	}
	_, page, _ := strings.Cut(rig.ReadFile(t, "../../docs/contribute/dependencies.md"), "\n## Direct dependencies\n")
	page, _, _ = strings.Cut(page, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (.{10,}) \\|$").FindAllStringSubmatch(page, -1) {
		listed = append(listed, m[1])
	}
	for _, m := range direct {
		if !slices.Contains(listed, m) {
			t.Errorf("docs/contribute/dependencies.md gives no reason for %s", m)
		}
	}
	for _, m := range listed {
		if !slices.Contains(direct, m) {
			t.Errorf("docs/contribute/dependencies.md lists %s, which go.mod does not require directly", m)
		}
	}
	if len(direct) < 30 {
		t.Errorf("only %d modules", len(direct))
	}
}

// TestNoTemplates checks that nod executes no templates. They call methods by
// their names, so the linker would keep all methods, and nod would grow by half.
func TestNoTemplates(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("grep", "-rnE", "--include=*.go", "--exclude=*_test.go", `template\.(New|Must|Parse)`,
		"../../bridge", "../../broker", "../../cmd", "../../config", "../../platforms", "../../render").Output()
	if len(out) > 0 {
		t.Errorf("templates are executed (%v):\n%s", err, out)
	}
}

// TestRenderingIsPure checks that the rendering packages do no I/O.
func TestRenderingIsPure(t *testing.T) {
	t.Parallel()
	all := imports(t)
	for _, path := range []string{"render", "render/slackmsg", "render/discordmsg", "render/telegrammsg"} {
		for _, i := range all[path] {
			if slices.Contains([]string{"net/http", "os", "log", "log/slog", "time/tzdata"}, i) {
				t.Errorf("%s imports %s", path, i)
			}
		}
	}
}

// TestCoreNamesNoPlatform checks that the core does not name any platform. The
// packages that know the formats of credentials and the names of removed
// settings are exempt.
func TestCoreNamesNoPlatform(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"slack", "discord", "telegram"} {
		out, err := exec.Command("grep", "-rniwE", "--include=*.go", "--exclude=*_test.go", "--exclude-dir=redact", "--exclude-dir=removed", word, "../../bridge/", "../../render/card.go", "../../render/words.go").Output()
		if err == nil {
			t.Errorf("the core names a platform:\n%s", out)
		}
	}
}

// TestNoPlatformIsSpecial checks that code for all platforms does not name one: what
// they differ in belongs in their kinds.
func TestNoPlatformIsSpecial(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("grep", "-rnE", "--include=*.go", "--exclude=*_test.go", "--exclude-dir=demo", "--exclude-dir=sandboxed",
		`"(slack|discord|telegram)[":.]|platforms/(slack|discord|telegram)"`, "../../config", "../../cmd", "../../platforms/kinds", "../../platforms/kind.go").Output()
	var left []string
	for line := range strings.Lines(string(out)) {
		list, manifest := strings.HasPrefix(line, "../../platforms/kinds/kinds.go:"), strings.HasPrefix(line, "../../cmd/nod/config.go:")
		if !list && !manifest && !strings.Contains(line, "// Example: ") {
			left = append(left, line)
		}
	}
	if len(left) > 0 || len(out) == 0 {
		t.Errorf("platforms are named (%v):\n%s", err, strings.Join(left, ""))
	}
}
