package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// documents returns the paths of all Markdown files in the project.
func documents(t *testing.T, root string) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// TestDocuments checks that links, commands and flags in documents exist.
func TestDocuments(t *testing.T) {
	t.Parallel()
	root := "../.."
	known := map[string]bool{}
	flags := map[string][]string{}
	for _, c := range rootCommand().Commands() {
		known[c.Name()] = true
		flags[c.Name()] = strings.Fields(c.Flags().FlagUsages())
		for _, sub := range c.Commands() {
			flags[c.Name()] = append(flags[c.Name()], strings.Fields(sub.Flags().FlagUsages())...)
		}
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	commands := regexp.MustCompile(`(?m)(?:^|[\x60(]|\./cmd/)nod ([a-z]+)([^\n\x60]*)`)
	flag := regexp.MustCompile(` (--[a-z-]+)`)
	for _, doc := range documents(t, root) {
		text := rig.ReadFile(t, filepath.Join(root, doc))
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
			}
		}
		for _, m := range commands.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				continue // prose
			}
			line, _, _ := strings.Cut(m[2], " -- ")
			for _, f := range flag.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(flags[m[1]], f[1]) {
					t.Errorf("%s uses nod %s %s, which does not exist", doc, m[1], f[1])
				}
			}
		}
	}
	var manifest map[string]any
	if err := json.Unmarshal([]byte(rig.ReadFile(t, filepath.Join(root, "deploy/slack-manifest.json"))), &manifest); err != nil {
		t.Errorf("the Slack manifest: %v", err)
	}
	readme := rig.ReadFile(t, filepath.Join(root, "README.md"))
	if first, second := strings.Index(readme, "go run ./cmd/nod demo"), strings.Index(readme, "make test"); first < 0 || second < first {
		t.Error("the README does not start with the two commands")
	}
	for name := range known {
		if name != "help" && name != "completion" && !strings.Contains(rig.ReadFile(t, filepath.Join(root, "CHANGELOG.md")), "`"+name+"`") {
			t.Errorf("the changelog does not name %s", name)
		}
	}
}

// TestReadersAreNamed checks that each page begins with who it is for.
func TestReadersAreNamed(t *testing.T) {
	t.Parallel()
	for _, doc := range documents(t, "../..") {
		if !strings.HasPrefix(doc, "docs/") {
			continue
		}
		lines := strings.SplitN(rig.ReadFile(t, filepath.Join("../..", doc)), "\n", 4)
		if len(lines) < 4 || !strings.HasPrefix(lines[2], "For ") {
			t.Errorf("%s: the line after the title does not say for whom the page is, such as \"For administrators who …\"", doc)
		}
	}
}

// TestSeedsAreProven checks that the tests that documents name as proof exist.
func TestSeedsAreProven(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "-C", "../..", "grep", "-hoE", "^func (Test|Example|Fuzz)[A-Za-z_]*", "--", "*_test.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	there := strings.Fields(string(out))
	for doc, least := range map[string]int{"contribute/seeds.md": 50, "security.md": 50, "reliability.md": 12, "delivery.md": 6, "receipts.md": 4} {
		named := regexp.MustCompile(`\b(?:Test|Example|Fuzz)[A-Za-z_]*\b`).FindAllString(rig.ReadFile(t, "../../docs/"+doc), -1)
		if len(named) < least {
			t.Errorf("%s names only %d tests", doc, len(named))
		}
		for _, n := range named {
			if !slices.Contains(there, n) {
				t.Errorf("docs/%s names %s, which does not exist", doc, n)
			}
		}
	}
}

// TestConfigOfDocuments checks that the configuration in documents has existing
// keys. A block of another file starts with a comment that names the file.
func TestConfigOfDocuments(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```")
	other := regexp.MustCompile(`^ *# \S+\.ya?ml\n`)
	n := 0
	for _, doc := range documents(t, "../..") {
		for _, b := range block.FindAllStringSubmatch(rig.ReadFile(t, filepath.Join("../..", doc)), -1) {
			if other.MatchString(b[2]) {
				continue
			}
			n++
			text := strings.ReplaceAll("\n"+b[2], "\n"+b[1], "\n")
			text = regexp.MustCompile(`\{env: [A-Z0-9_]+\}`).ReplaceAllString(text, "from-the-environment")
			if _, err := config.Parse([]byte(text), ""); err != nil {
				t.Errorf("%s: %v in:\n%s", doc, err, b[2])
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d blocks", n)
	}
}

// TestExampleConfig checks that the commented example is a valid config.
func TestExampleConfig(t *testing.T) {
	for _, k := range []string{"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "DISCORD_BOT_TOKEN"} {
		t.Setenv(k, "token-of-"+k)
	}
	t.Setenv("TELEGRAM_BOT_TOKEN", "1:x")
	t.Setenv("NOD_TOKEN_CI", "0123456789abcdef-ci")
	t.Setenv("NOD_TOKEN_DEPLOY_BOT", "0123456789abcdef-deploy")
	c, err := config.Load("../../deploy/nod.example.yaml", os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Platforms()) != 3 || len(c.Routes["default"].To) != 3 || !c.Agents["ci"].Token.Set() {
		t.Errorf("the example config is %+v, want three platforms, one route to each, and a token for ci", c)
	}
}

// TestLicence checks the license, and that the project contains no machine
// paths or names of package hosts.
func TestLicence(t *testing.T) {
	t.Parallel()
	if !strings.Contains(rig.ReadFile(t, "../../LICENSE"), "Apache License") {
		t.Error("LICENSE is not the Apache License")
	}
	out, err := exec.Command("git", "-C", "../..", "grep", "-nIE", "registry\\.npmjs|proxy\\.golang|deb\\.debian|/"+"work/|/"+"root/").Output()
	if err == nil {
		t.Errorf("machine paths or package hosts:\n%s", out)
	}
}
