package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/render"
)

// calling are complete command lines of the commands that call the daemon.
var calling = map[string][]string{
	"ask": {"Ship it?"}, "approve": {"Delete prod-db?"}, "run": {"--", "true"}, "notify": {"Backup done"},
	"list": {}, "show": {unknownID}, "answer": {unknownID, "once"}, "cancel": {unknownID}, "events": {}, "sessions list": {}, "sessions messages": {"release-2"},
	"sessions stop": {"release-2"}, "sessions resume": {"release-2"}, "sessions steer": {"release-2", "Stop here"}, "grants list": {}, "grants revoke": {"3f2a9c01b4d7"},
	"link": {"3xk7q2mwpz4ta"}, "passkey list": {}, "passkey invite": {"ana"},
	"passkey revoke": {"ana", "AAECAw"}, "receipt keys": {}, "audit export": {}, "audit verify": {}, "health": {},
}

const unknownID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"

// naming are command lines that name something unknown.
var naming = [][]string{
	{"show", unknownID}, {"show", "0193b3c4"}, {"show", "nonsense"}, {"answer", unknownID, "once"}, {"cancel", unknownID},
	{"cancel", "--session", "release-2"}, {"sessions", "resume", "release-2"}, {"sessions", "steer", "release-2", "Stop here"}, {"sessions", "messages", "release-2"}, {"grants", "revoke",
		"3f2a9c01b4d7"},
	{"ask", "Ship it?", "--route", "nowhere"}, {"link", "3xk7q2mwpz4ta"},
	{"passkey", "invite", "zoe"}, {"passkey", "revoke", "ana", "AAECAw"},
	{"list", "--session", "release-2"}, {"list", "--cursor", "x"}, {"events", "--session", "release-2", "--render"},
	{"doctor", "--config", "missing.yaml"}, {"serve", "--config", "missing.yaml"}, {"config", "check", "--config", "missing.yaml"},
	{"receipt", "verify", "missing", "--keys", "missing.json"}, {"audit", "verify", "missing", "--keys", "missing.json"},
	{"ask", "x", "--form", "missing.json"}, {"ask", "x", "--request", "missing.json"}, {"run", "--", "no-such-command"},
	{"config", "manifest", "teams"}, {"help", "aprove"}, {"aprove"},
}

// internal are words of the language, the libraries and the protocol, and the
// colors of a terminal, which no message may have.
var internal = []string{
	"\x1b[", "strconv", "json: ", "yaml: ", "unmarshal", "context ", "pflag", "arg(s)", "dial tcp", "goroutine", "net/http", "Get \"",
	"Post \"", "invalid character", "0x", "%!", "EOF",
	"map[", "nil", "struct", "invalid argument \"", "HTTP/1", "flag needs", "type config", "parse \"", "lookup ", "Internal Server Error",
}

// mistake is a command line and what nod does.
type mistake struct {
	args []string
	code int
	says string
}

func try(args []string) mistake { return tryWith("", args) }

func tryWith(stdin string, args []string) mistake {
	var out, errs strings.Builder
	code := Run(args, strings.NewReader(stdin), &out, &errs)
	return mistake{args, code, strings.TrimSpace(errs.String() + out.String())}
}

// hookMistakes returns the mistakes of hooks, which answer in the format of the agent.
// They need no daemon.
func hookMistakes(t *testing.T) *mistakeTable {
	t.Helper()
	const event = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"u"}`
	m := &mistakeTable{title: "Hooks",
		text: "A `PreToolUse` event is on stdin, unless the row says otherwise. A hook that fails blocks the tool: it prints\n" +
			"a denial in the agent's format after its message, and its exit code is 2."}
	t.Setenv("NOD_URL", "http://127.0.0.1:1")
	m.try([]string{"hook"})
	m.try([]string{"hook", "gemini"})
	for _, agent := range []string{"claude", "codex"} {
		at := []string{"hook", agent}
		for _, more := range [][]string{{"x"}, {"--patience", "soon"}, {"--unanswered", "soon"}} {
			m.all = append(m.all, tryWith(event, append(slices.Clone(at), more...)))
		}
		t.Setenv("NOD_TOKEN", "")
		x := tryWith(event, at)
		x.args = append([]string{"NOD_TOKEN="}, at...)
		m.all = append(m.all, x)
		t.Setenv("NOD_TOKEN", rig.TestAgentToken)
		for _, fail := range []string{"closed", "open"} {
			x = tryWith(event, append(slices.Clone(at), "--fail", fail, "--patience", "1ms"))
			x.args = append(slices.Clone(at), "--fail", fail)
			m.all = append(m.all, x)
		}
		x = tryWith("{", append(slices.Clone(at), "--patience", "1ms"))
		x.args = append([]string{"echo '{' | "}, at...)
		m.all = append(m.all, x)
	}
	return m
}

// broken are command lines with an invalid file, value or address, and the
// address of the daemon for them, if it is not the usual one.
var broken = []struct {
	url  string
	args []string
}{
	{"", []string{"ask", "x", "--form", "broken.json"}}, {"", []string{"ask", "x", "--request", "broken.json"}}, {"", []string{"ask",
		"x", "--request", "unknown.json"}},
	{"", []string{"approve", "x", "--input", "{"}}, {"", []string{"receipt", "verify", "broken.json", "--keys", "broken.json"}},
	{"", []string{"audit", "verify", "broken.json", "--keys", "keys.json"}},
	{"", []string{"config", "check", "--config", "broken.yaml"}}, {"", []string{"config", "check", "--config", "unknown.yaml"}}, {"",
		[]string{"config", "check", "--config", "types.yaml"}},
	{"", []string{"serve", "--config", "broken.yaml"}}, {"", []string{"serve", "--config", "redis.yaml"}},
	{"localhost:8787", []string{"list"}}, {"ftp://localhost", []string{"list"}}, {"http://", []string{"list"}}, {"http://[",
		[]string{"list"}}, {"http://nod.invalid", []string{"list"}},
	{"PAGE", []string{"list"}}, {"PAGE/gone", []string{"list"}}, {"PAGE/broken", []string{"list"}}, {"TLS", []string{"list"}},
}

var brokenFiles = map[string]string{
	"broken.json": "{", "unknown.json": `{"promt": "x"}`, "keys.json": `{"keys":[{"kty":"OKP"}]}`,
	"redis.yaml":  "redis: {url: redis://127.0.0.1:1}\nredis_x: 1\n",
	"broken.yaml": "slack: [\n", "unknown.yaml": "listen: 127.0.0.1:1\nchanel: x\n",
	"types.yaml": "routes: 7\nmax_connections: many\naudit: []\n",
}

// foreign serves pages that do not come from a nod daemon.
func foreign(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/gone"):
			http.NotFound(w, r)
		case strings.HasPrefix(r.URL.Path, "/broken"):
			w.WriteHeader(http.StatusBadGateway)
		default:
			fmt.Fprint(w, "<html>")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// mistakeTable collects the mistakes of one kind.
type mistakeTable struct {
	title, text string
	all         []mistake
}

func (m *mistakeTable) try(args []string) { m.all = append(m.all, try(args)) }

// withoutDaemon returns the mistakes that need no daemon.
func withoutDaemon(t *testing.T) []*mistakeTable {
	t.Helper()
	none := &mistakeTable{title: "Missing arguments", text: "nod names the argument and prints the usage."}
	wrong := &mistakeTable{title: "Invalid values of flags", text: "nod names the flag and the values that it accepts."}
	away := &mistakeTable{title: "No daemon", text: "nod retries for the time that `--patience` sets."}
	anonymous := &mistakeTable{title: "No token", text: "`NOD_TOKEN` is not set."}
	tree := commandTree(fullTree())
	t.Setenv("NOD_URL", "http://127.0.0.1:1")
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		c, at := tree[path], strings.Fields(path)
		if c.Hidden || path == "" || slices.Contains([]string{"help", "completion", "hook"}, at[0]) {
			continue // hooks are in a table of their own
		}
		if c.Args != nil && c.Args(c, nil) != nil || c.HasSubCommands() && !c.Runnable() || slices.Contains([]string{"cancel", "link", "ask"}, path) {
			none.try(at)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, chosen := cli.Choices(f); chosen || slices.Contains([]string{"int", "duration"}, f.Value.Type()) {
				wrong.try(append(slices.Clone(at), "--"+f.Name, "soon"))
			}
		})
		args, ok := calling[path]
		if !ok {
			if c.Flags().Lookup("url") != nil && !slices.Contains([]string{"doctor", "mcp", "proxy", "config"}, at[0]) { // config reload signs with keys
				t.Errorf("%s calls the daemon and is not in the test", path)
			}
			continue
		}
		whole := append(slices.Clone(at), args...)
		t.Setenv("NOD_TOKEN", "")
		anonymous.try(whole)
		t.Setenv("NOD_TOKEN", rig.TestAgentToken)
		if c.Flags().Lookup("patience") != nil {
			at = append(at, "--patience", "1ms")
		}
		m := try(append(at, args...))
		away.all = append(away.all, mistake{whole, m.code, m.says})
	}
	t.Setenv("NOD_TOKEN", "")
	anonymous.try([]string{"proxy", "codex"}) // with a token, it waits for the daemon and for Codex
	return []*mistakeTable{none, wrong, away, anonymous, hookMistakes(t)}
}

// TestMistakes checks what every command says to wrong input, against the end of
// docs/errors.md, which make reference writes.
func TestMistakes(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path, err := filepath.Abs("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range brokenFiles {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sections := withoutDaemon(t)
	t.Setenv("NOD_TOKEN", rig.TestAgentToken)
	unknown := &mistakeTable{title: "Unknown names", text: "The token belongs to an agent. An empty list is not an error."}
	t.Setenv("NOD_URL", r.Daemons[0].URL)
	for _, args := range naming {
		unknown.try(args)
	}
	invalid := &mistakeTable{title: "Invalid files and addresses",
		text: "The addresses are values of `NOD_URL`. At PAGE is a web server that is not nod."}
	page := foreign(t)
	for _, b := range broken {
		url := strings.Replace(strings.Replace(b.url, "PAGE", page, 1), "TLS", strings.Replace(page, "http", "https", 1), 1)
		t.Setenv("NOD_URL", url)
		m := try(b.args)
		m.says = strings.ReplaceAll(strings.ReplaceAll(m.says, page, "PAGE"), strings.Replace(page, "http", "https", 1), "TLS")
		if b.url != "" {
			m.args = append([]string{"NOD_URL=" + b.url}, b.args...)
		}
		invalid.all = append(invalid.all, m)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	byHand, _, _ := strings.Cut(string(got), mistakesIntro)
	var want strings.Builder
	want.WriteString(byHand + mistakesIntro)
	for _, s := range append(sections, unknown, invalid) {
		s.check(t)
		s.write(&want)
	}
	if *update {
		if err := os.WriteFile(path, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(got) != want.String() {
		t.Errorf("%s is out of date; run make reference; want\n%s", path, want.String())
	}
}

var fileNames = regexp.MustCompile(`\S+\.(json|yaml)\b`)

// check reports messages that are empty or have an internal word.
func (m *mistakeTable) check(t *testing.T) {
	t.Helper()
	for _, x := range m.all {
		said := fileNames.ReplaceAllString(x.says, "")
		for _, word := range internal {
			if strings.Contains(said, word) {
				t.Errorf("%s says %q: %s", commandLine(x.args), word, x.says)
			}
		}
		if x.code != 0 && x.says == "" {
			t.Errorf("%s: exit %d without a message", commandLine(x.args), x.code)
		}
	}
}

// write writes a table with one row for each message.
func (m *mistakeTable) write(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n%s\n\n| Command | Message | Exit code |\n|---|---|---|\n", m.title, m.text)
	var order []string
	commands, codes, whose := map[string][]string{}, map[string][]string{}, map[string]string{}
	for _, x := range m.all {
		if commands[x.says] == nil {
			order = append(order, x.says)
		}
		commands[x.says] = append(commands[x.says], "`"+strings.ReplaceAll(commandLine(x.args), "|", `\|`)+"`")
		code := strconv.Itoa(x.code)
		if slices.Contains(codes[x.says], code) || slices.Contains(codes[x.says], whose[x.says+x.args[0]]) {
			continue
		}
		if len(codes[x.says]) > 0 {
			code = "`nod " + x.args[0] + "`: " + code
			whose[x.says+x.args[0]] = code
		}
		codes[x.says] = append(codes[x.says], code)
	}
	for _, says := range order {
		fmt.Fprintf(w, "| %s | %s | %s |\n", strings.Join(commands[says], "<br>"), cellOf(says), strings.Join(codes[says], "; "))
	}
}

const mistakesIntro = `## Messages for wrong input

This part lists what each command says to wrong input. ` + "`make reference`" + ` writes it from the commands.
`

func commandLine(args []string) string {
	out := "nod"
	for _, a := range args {
		if strings.HasSuffix(a, "| ") {
			out = a + out
			continue
		}
		if name, _, ok := strings.Cut(a, "="); ok && name == strings.ToUpper(name) {
			out = a + " " + out
			continue
		}
		out += " " + render.ShellQuote(a)
	}
	return out
}

// cellOf returns an output as one cell of a table, without the help that precedes
// a message.
func cellOf(says string) string {
	lines := strings.Split(strings.ReplaceAll(says, "|", `\|`), "\n")
	if n := len(lines); strings.HasPrefix(lines[n-1], "nod: nod ") {
		lines = lines[n-1:]
	}
	if says == "" {
		return "(nothing)"
	}
	return "`" + strings.Join(lines, "`<br>`") + "`"
}
