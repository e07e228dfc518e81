package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// setting is one setting of the config, by its path as in docs/configuration.md.
type setting struct {
	row string
	t   reflect.Type
}

// settings returns all settings that have a value.
func settings(t reflect.Type, row string) []setting {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map:
		return settings(t.Elem(), below(row, "NAME"))
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return settings(t.Elem(), row+"[]")
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]() && t != reflect.TypeFor[time.Time]():
		var out []setting
		for _, f := range fieldsOf(t) {
			out = append(out, settings(f.Type, below(row, f.Tag.Get("yaml")))...)
		}
		return out
	}
	return []setting{{row, t}}
}

// pathOf returns the path of the setting that yamlOf writes.
func pathOf(row string) string { return strings.NewReplacer("NAME", "x", "[]", "[0]").Replace(row) }

// wants checks that a config is refused with a place, the path of the setting and
// a text.
func wants(t *testing.T, what string, err error, place, path, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), place+": "+path+": ") || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v; want %s: %s: …%s", what, err, place, path, text)
	}
}

// TestEmptySettings checks that each setting that is written without a value is
// refused, in the file and in the environment.
func TestEmptySettings(t *testing.T) {
	t.Parallel()
	for _, s := range settings(reflect.TypeFor[Config](), "") {
		for _, empty := range []string{"", "''", "' '", "[]", "{}", "~"} {
			if limitOf(s.row).empty && empty == "[]" {
				continue
			}
			_, err := Load(written(t, yamlOf(s.row, empty)), nil)
			wants(t, s.row+": "+empty, err, "nod.yaml:1", pathOf(s.row), "empty; set a value, or remove the key")
		}
		if strings.Contains(s.row, "[]") || strings.Contains(s.row, "NAME") || s.t.Kind() == reflect.Pointer {
			continue
		}
		name := Variable(strings.Split(s.row, ".")...)
		_, err := Load("", []string{name + "="})
		wants(t, name, err, name, s.row, "empty; set a value, or unset the variable")
	}
}

// TestLimits checks that every duration and every count has a range, that values
// next to it are refused, and that each row is a setting.
func TestLimits(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, s := range settings(reflect.TypeFor[Config](), "") {
		rows[s.row], rows[s.row+"[]"] = true, true
		l := limitOf(s.row)
		_, known := limits[s.row]
		var outside []string
		switch {
		case s.t == reflect.TypeFor[Duration]():
			outside = []string{"-1h", "-1ns", (l.from - 1).String(), (l.to + time.Hour).String()}
			if !l.zero {
				outside = append(outside, "0s")
			}
		case s.t.Kind() == reflect.Int:
			outside = []string{"-1", fmt.Sprint(l.least - 1), fmt.Sprint(l.most + 1)}
		case l.words != nil:
			outside = []string{"other"}
		default:
			continue
		}
		if !known {
			t.Errorf("%s has no limits", s.row)
			continue
		}
		for _, value := range outside {
			text := "is out of range"
			if l.words != nil {
				text = "unknown value"
			}
			_, err := Load(written(t, yamlOf(s.row, value)), nil)
			wants(t, s.row+": "+value, err, "nod.yaml:1", pathOf(s.row), text)
		}
	}
	for row := range limits {
		if !rows[row] {
			t.Errorf("%s is not a setting", row)
		}
	}
}

// TestSecretSources checks that a secret that is named and empty, or has a space
// inside, is refused for every secret and every source, and that spaces and line
// breaks around it are dropped.
func TestSecretSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, blank, good, broken := file("empty", ""), file("blank", " \n\n"), file("good", "secret-0123456789\r\n"), file("broken", "secret-0123\n456789\n")
	for _, s := range settings(reflect.TypeFor[Config](), "") {
		if s.t != reflect.TypeFor[Secret]() {
			continue
		}
		for source, text := range map[string]string{
			"{file: " + empty + "}": "is empty", "{file: " + blank + "}": "is empty", "{file: " + broken + "}": "a space or a line break", "{env: EMPTY}": "not set, or empty",
			"{env: NONE}": "not set, or empty", "{env: BROKEN}": "a space or a line break", `"secret-0123\n456789"`: "a space or a line break", "{}": "empty",
			"{file: /dev/zero}": "not a regular file", "{file: " + dir + "}": "not a regular file", "{file: gone}": "no such file", "{env: GOOD, file: " + good + "}": "both set",
		} {
			_, err := Read(written(t, yamlOf(s.row, source)), []string{"EMPTY=", "BROKEN=secret-0123\n456789", "GOOD=x"})
			wants(t, s.row+": "+source, err, "nod.yaml:1", pathOf(s.row), text)
		}
		for _, source := range []string{"{file: " + good + "}", "{env: GOOD}", `" secret-0123456789\n"`} {
			c, err := Read(written(t, yamlOf(s.row, source)), []string{"GOOD=\tsecret-0123456789\n"})
			if got := c.Secrets(); err != nil || len(got) == 0 || got[0] != "secret-0123456789" {
				t.Errorf("%s: %s: %q, %v", s.row, source, got, err)
			}
		}
	}
	for _, value := range []string{"secret-0123456789\n", " secret-0123456789 "} {
		if c, err := Load("", []string{"NOD_METRICS_TOKEN=" + value}); err != nil || c.Metrics.Token.Value() != "secret-0123456789" {
			t.Errorf("%q: %q, %v", value, c.Metrics.Token.Value(), err)
		}
	}
	if c, err := Load("", []string{"NOD_HOSTS=a, b", "NOD_REDIS_PASSWORD=two words"}); err != nil || fmt.Sprint(c.Hosts) != "[a b]" || c.Redis.Password.Value() != "two words" {
		t.Errorf("%q, %v", c.Hosts, err)
	}
	_, err := Load("", []string{"NOD_HOSTS=a,,b"})
	wants(t, "an empty host", err, "NOD_HOSTS", "hosts[1]", "empty")
}

// TestWholeFile checks that nothing in a file is ignored, and that every problem
// is reported at once, with its line.
func TestWholeFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"listen: :1\n---\npolicy: [{then: deny}]\n":             "nod.yaml:2: a second document begins here",
		"listen: :1\n--- {policy: [{then: deny}]}\n":            "nod.yaml:2: a second document begins here",
		"listen: :1\n---\n: [\n":                                "nod.yaml:",
		"slack: {bot_token: !vault x}\n":                        "nod.yaml:1: slack.bot_token: the tag !vault is not supported",
		"listen: :1\nlisten: :2\n":                              `nod.yaml:2: duplicate key "listen"; line 1 has it as well`,
		"slack: {bot_token: {env: A1}, app_token: {env: A2}}\n": "slack.bot_token: the environment variable A1 is not set, or empty\n",
		"routes: 7\n":                           `nod.yaml:1: routes: a mapping is required, not "7"`,
		"routes: {a: []}\n":                     "nod.yaml:1: routes.a: empty; set a value",
		"routes: {a: [b]}\n":                    "nod.yaml:1: routes.a: a mapping is required, not a list",
		"max_connections: many\n":               `max_connections: a number is required, not "many"`,
		"console: {enabled: sometimes}\n":       `console.enabled: true or false is required, not "sometimes"`,
		"routes: {a: {to: {x: y}}}\n":           `routes.a.to: a list is required, not a mapping`,
		"slack: [\n":                            "nod.yaml:1: did not find expected node content",
		"chanel: x\nrisks: 7\nlog_level: [a]\n": "nod.yaml:2: risks: a list is required, not \"7\"\n",
		"people: &a {ana: *a}\n":                `unknown key "ana"`,
		"people: &p {ana: {ids: {x: y}}}\nagents: {ana: {ids: *p}}": `agents.ana: unknown key "ids"`,
		"policy: [{name: a, then: allow}, {name: b, than: deny}]":   `policy[1]: unknown key "than"; did you mean "then"?`,
		"log_level: warning\n": `log_level: unknown value "warning" (debug, info, warn or error)`,
	} {
		if _, err := Load(written(t, text), nil); err == nil || !strings.Contains(err.Error()+"\n", want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	for _, text := range []string{
		"", "# nothing\n", "---\nlisten: :1\n", "listen: :1\n---\n# the end\n", "listen: :1\n...\n",
		"x-base: &base {to: [\"slack:C1\"], responders: [ana]}\nslack: {bot_token: a, app_token: b}\npeople: {ana: }\nroutes: {default: {<<: *base, quorum: 1}}\n",
		"x-a: &a {slack: U1}\npeople: {ana: *a}\n", "people: {ana: {}}\n", "policy: [{then: allow, command: ['ls *'], options: []}]\n",
	} {
		if _, err := Load(written(t, text), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestFiles checks which files nod reads as a config.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{long: "too long", dir: "not a regular file", "/dev/zero": "not a regular file", filepath.Join(dir, "gone"): "no such file"} {
		if _, err := Load(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
