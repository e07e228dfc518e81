package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/platforms/kinds"
)

var update = flag.Bool("update", false, "write docs/configuration.md from the comments")

const (
	referencePath = "../docs/configuration.md"
	schemaPath    = "../deploy/nod.schema.json"
	sinceFirst    = "0.1.0" // used for keys whose comment has no "Since:"
)

// TestReference checks that docs/configuration.md matches the comments on the
// configuration, that every key has a description and an example, and that
// every example is valid.
func TestReference(t *testing.T) {
	t.Parallel()
	r := &reference{t: t, docs: structDocs(t)}
	for path, want := range map[string]string{referencePath: r.page(), schemaPath: r.schema()} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is out of date; run make reference (%v)", path, err)
		}
	}
}

// TestIDs checks that the IDs of a person in schedules are read from the file
// and from the environment.
func TestIDs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(path, []byte("people: {ana: {ids: {pagerduty: PABC123, goalert: old}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, []string{"NOD_PEOPLE_ANA_IDS_GOALERT=new"})
	if err != nil {
		t.Fatal(err)
	}
	if ids := c.People["ana"].IDs; ids["pagerduty"] != "PABC123" || ids["goalert"] != "new" {
		t.Errorf("%v", ids)
	}
}

// reference writes docs/configuration.md.
type reference struct {
	t    *testing.T
	docs map[string]structDoc
	b    strings.Builder
}

// structDoc is the documentation of a struct type and of its fields, by Go
// name.
type structDoc struct {
	text   string
	fields map[string]string
}

func structDocs(t *testing.T) map[string]structDoc {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]structDoc{}
	names = append(names, "../bridge/policy/rule.go")
	for _, k := range kinds.All {
		names = append(names, "../platforms/"+k.Name+"/kind.go")
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			spec := g.Specs[0].(*ast.TypeSpec)
			if s, ok := spec.Type.(*ast.StructType); ok {
				doc := structDoc{g.Doc.Text(), map[string]string{}}
				for _, f := range s.Fields.List {
					doc.fields[f.Names[0].Name] = f.Doc.Text()
				}
				docs[file.Name.Name+"."+spec.Name.Name] = doc
			}
		}
	}
	for _, k := range kinds.All {
		docs["config.Config"].fields[k.Title] = k.Title + " " + k.Doc
		docs["config.Person"].fields[k.Title] = fmt.Sprintf("%s is %s\n\nExample: %q", k.Title, k.Account.Doc, k.Account.Like)
		docs["config.Group"].fields[k.Title] = fmt.Sprintf("%s is %s\n\nExample: %q", k.Title, k.Group.Doc, k.Group.Like)
	}
	return docs
}

const preamble = `# Configuration reference

For administrators who write the configuration file.

This page lists every key of the configuration file, with its type, default and an example. ` + "`make reference`" + `
writes it from the source. [` + "`deploy/nod.example.yaml`" + `](../deploy/nod.example.yaml) shows the keys in context, and
` + "`nod config check`" + ` reports every mistake in a file with its path.

- The file is the one that ` + "`--config`" + ` or ` + "`NOD_CONFIG`" + ` names, or ` + "`~/.config/nod/nod.yaml`" + `, which ` + "`nod init`" + ` writes. A
  ` + "`nod.yaml`" + ` in the current directory is not read unless you name it. Unknown keys are errors.
- A *secret* is a text, ` + "`{env: NAME}`" + ` or ` + "`{file: PATH}`" + `. A relative path starts at the directory of the file. nod never
  prints a secret.
- A *duration* is a number with a unit, such as ` + "`90s`, `5m` or `720h`" + `.
- A setting that is written without a value, or that another setting makes useless, is an error with its line.
- Keys that begin with ` + "`x-`" + ` at the top are ignored. They are a place for YAML anchors.
- [` + "`deploy/nod.schema.json`" + `](../deploy/nod.schema.json) is the JSON Schema for editors; ` + "`nod config schema`" + ` prints it.
- An environment variable overrides the key in the file. Where NAME is part of a key, the entry must exist in the
  file; in the variable, use capitals, and an underscore for every other character.
`

// variables lists the environment variables that are not the name of a key.
const variables = "\n" +
	"## Environment variables\n" +
	"\n" +
	"These variables are not the name of a key, or set more than one.\n" +
	"\n" +
	"| Variable | Used by | Meaning |\n" +
	"|---|---|---|\n" +
	"| `NOD_URL` | all commands that call a daemon | URL of the daemon, `http://127.0.0.1:8787` by default |\n" +
	"| `NOD_TOKEN` | all commands that call a daemon | token of an agent or a person |\n" +
	"| `NOD_RECEIPT_KEYS` | `ask`, `approve`, `run`, `hook`, `proxy`, `mcp`, `receipt`, `audit` | file with public keys from `nod receipt keys`; decisions that they did not sign are rejected |\n" +
	"| `NO_COLOR` | all commands | any text turns off the colors on a terminal |\n" +
	"| `TRACEPARENT` | all commands that call a daemon | trace that the request belongs to (W3C Trace Context) |\n" +
	"| `CODEX_HOME` | `init codex`, `init all`, `doctor`, `proxy codex`, `hook codex` | directory of the Codex configuration, `~/.codex` by default |\n" +
	"| `CLAUDE_CONFIG_DIR` | `init claude`, `init all`, `doctor` | directory of the user settings of Claude Code, `~/.claude` by default |\n" +
	"| `COPILOT_HOME` | `init copilot`, `init all`, `doctor` | directory of the Copilot CLI configuration, `~/.copilot` by default |\n" +
	"| `USER` | `init` | suggested name of the first person |\n" +
	"\n" +
	"| Variable | Meaning |\n" +
	"|---|---|\n" +
	"| `NOD_CONFIG` | path of the configuration file, `~/.config/nod/nod.yaml` by default |\n" +
	"| `XDG_CONFIG_HOME` | replaces `~/.config` in that path |\n" +
	"| `NOD_…` | any key of the configuration: NOD and the path of the key in capitals, such as `NOD_REDIS_URL` |\n" +
	"%s" +
	"| `SSL_CERT_DIR` | directory of additional CAs that nod trusts, such as the one of your Redis |\n" +
	"| `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` | proxy for connections to the platforms, and of clients to the daemon |\n" +
	"\n" +
	"If both `SLACK_BOT_TOKEN` and `NOD_SLACK_BOT_TOKEN` are set, the second one applies;\n" +
	"the same holds for the other tokens. A secret in the file can also read any variable: `{env: NAME}`.\n"

func (r *reference) page() string {
	r.b.WriteString(preamble)
	config := reflect.TypeFor[Config]()
	r.b.WriteString("\n## General\n")
	var sections []reflect.StructField
	for _, f := range fieldsOf(config) {
		switch s := element(f.Type); {
		case s == nil:
			r.key("config.Config", f, keyOf(f), Variable(keyOf(f)))
		case f.Type.Kind() == reflect.Struct && s.NumField() == 1:
			only := s.Field(0)
			r.key(s.String(), only, keyOf(f)+"."+keyOf(only), Variable(keyOf(f), keyOf(only)))
		default:
			sections = append(sections, f)
		}
	}
	for _, f := range sections {
		fmt.Fprintf(&r.b, "\n## %s\n", keyOf(f))
		r.section("config.Config", f)
	}
	own := ""
	for _, k := range kinds.All {
		var names, paths []string
		for _, f := range fieldsOf(reflect.TypeOf(k.Settings()).Elem()) {
			if name := f.Tag.Get("env"); name != "" {
				names, paths = append(names, name), append(paths, k.Name+"."+keyOf(f))
			}
		}
		own += "| `" + strings.Join(names, "`, `") + "` | `" + strings.Join(paths, "`, `") + "` |\n"
	}
	fmt.Fprintf(&r.b, variables, own)
	return r.b.String()
}

// section writes a key of the file that contains other keys, and then those
// keys.
func (r *reference) section(owner string, f reflect.StructField) {
	s := element(f.Type)
	path, variable := keyOf(f), []string{keyOf(f)}
	fmt.Fprintf(&r.b, "\n%s\n", wrap(r.about(owner, f, path)))
	switch f.Type.Kind() {
	case reflect.Map:
		path += ".NAME"
		variable = extend(variable, "NAME")
	case reflect.Slice:
		path, variable = path+"[]", nil
	}
	for _, sub := range fieldsOf(s) {
		at := path + "." + keyOf(sub)
		if element(sub.Type) != nil {
			r.block(s.String(), sub, at, extend(variable, keyOf(sub)))
			continue
		}
		name := ""
		if variable != nil {
			name = Variable(extend(variable, keyOf(sub))...)
		}
		r.key(s.String(), sub, at, name)
	}
}

// block writes a key inside a section that contains other keys, as one list.
func (r *reference) block(owner string, f reflect.StructField, path string, variable []string) {
	s := element(f.Type)
	fmt.Fprintf(&r.b, "\n### %s\n\n%s\n\n", path, wrap(r.about(owner, f, path)))
	switch f.Type.Kind() {
	case reflect.Slice:
		path, variable = path+"[]", nil
	case reflect.Pointer:
		variable = nil
	}
	for _, sub := range fieldsOf(s) {
		text, attributes := r.attributes(s.String(), sub, path+"."+keyOf(sub))
		text += " Type: " + typeName(sub.Type) + ranged(path+"."+keyOf(sub)) + "."
		if sub.Type.Kind() != reflect.Bool && sub.Type.Kind() != reflect.Int && attributes["Default"] != "none" {
			text += " Default: " + attributes["Default"] + "."
		}
		text += " Example: " + attributes["Example"] + "."
		if variable != nil {
			text += " Environment variable: `" + Variable(extend(variable, keyOf(sub))...) + "`."
		}
		fmt.Fprintf(&r.b, "%s\n", strings.ReplaceAll(wrap("- "+text), "\n", "\n  "))
	}
}

// about returns the description of a key that contains other keys.
func (r *reference) about(owner string, f reflect.StructField, path string) string {
	text := r.describe(f, path, r.docs[owner].fields[f.Name])
	if _, more, _ := strings.Cut(paragraphs(r.docs[element(f.Type).String()].text), ". "); more != "" {
		text += "\n\n" + more
	}
	return text
}

func extend(path []string, key string) []string {
	if path == nil {
		return nil
	}
	return append(append([]string{}, path...), key)
}

// key writes one key that has a value.
func (r *reference) key(owner string, f reflect.StructField, path, variable string) {
	text, attributes := r.attributes(owner, f, path)
	fmt.Fprintf(&r.b, "\n### %s\n\n%s\n\n", path, wrap(text))
	fmt.Fprintf(&r.b, "- Type: %s\n- Default: %s\n- Example: %s\n", typeName(f.Type)+ranged(path), attributes["Default"], attributes["Example"])
	if variable != "" {
		fmt.Fprintf(&r.b, "- Environment variable: `%s`\n", variable)
	}
	fmt.Fprintf(&r.b, "- Since: %s\n", strings.Trim(attributes["Since"], "`"))
}

// attributes returns the description of a key that has a value, and what its
// comment says after it. It checks the example and the default.
func (r *reference) attributes(owner string, f reflect.StructField, path string) (string, map[string]string) {
	text, rest, _ := strings.Cut(r.docs[owner].fields[f.Name], "\n\n")
	attributes := map[string]string{"Default": "none", "Since": sinceFirst}
	switch f.Type.Kind() {
	case reflect.Bool:
		attributes["Default"] = "`false`"
	case reflect.Int, reflect.Float64:
		attributes["Default"] = "`0`"
	}
	for line := range strings.Lines(rest) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			attributes[name] = "`" + value + "`"
		}
	}
	r.example(f, path, strings.Trim(attributes["Example"], "`"))
	r.constant(f, path, strings.Trim(attributes["Default"], "`"))
	return r.describe(f, path, text), attributes
}

// describe returns a description that starts with the key instead of the Go
// name.
func (r *reference) describe(f reflect.StructField, path, doc string) string {
	text := paragraphs(doc)
	rest, ok := strings.CutPrefix(text, f.Name+" ")
	if !ok {
		r.t.Errorf("%s: the comment on %s must start with its name", path, f.Name)
	}
	return "`" + keyOf(f) + "` " + rest
}

// example checks that an example is a value of the key.
func (r *reference) example(f reflect.StructField, path, example string) {
	if example == "" {
		r.t.Errorf("%s: the comment on %s has no Example", path, f.Name)
		return
	}
	if strings.HasPrefix(example, "{env: ") {
		return // the variable in the example is not set
	}
	v := reflect.New(f.Type)
	if err := yaml.Unmarshal([]byte(example), v.Interface()); err != nil || v.Elem().IsZero() && example != "false" {
		r.t.Errorf("%s: example %q: %v", path, example, err)
	}
}

// constant checks a default that package config itself applies.
func (r *reference) constant(f reflect.StructField, path, want string) {
	var c Config
	c.defaults()
	v := reflect.ValueOf(c)
	for key := range strings.SplitSeq(path, ".") {
		n := 0
		for v.Kind() == reflect.Struct && n < v.NumField() && keyOf(v.Type().Field(n)) != key {
			n++
		}
		if v.Kind() != reflect.Struct || n == v.NumField() {
			return
		}
		v = v.Field(n)
	}
	if v.Type() != f.Type || v.IsZero() {
		return
	}
	got := reflect.New(f.Type)
	if err := yaml.Unmarshal([]byte(want), got.Interface()); err != nil || !reflect.DeepEqual(got.Elem().Interface(), v.Interface()) {
		r.t.Errorf("%s: default %q, but the code has %v", path, want, v.Interface())
	}
}

func keyOf(f reflect.StructField) string { return f.Tag.Get("yaml") }

// element returns the struct type that a key contains, either directly or in a
// list or map. It returns nil for a key with a value.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[Secret]() || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	return t
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[Duration]():
		return "duration"
	case reflect.TypeFor[time.Time]():
		return "time (RFC 3339)"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "text or list of texts"
	case reflect.Map:
		return "map of texts"
	}
	return "text"
}

// ranged returns the range of a setting, in parentheses, or "".
func ranged(path string) string {
	l, known := limits[path]
	out := ""
	switch {
	case known && l.to > 0:
		out = span(l.from) + " to " + span(l.to)
	case known && l.most > 0:
		out = fmt.Sprintf("%d to %d", l.least, l.most)
	default:
		return ""
	}
	if l.zero {
		out = "0, or " + out
	}
	return " (" + out + ")"
}

// paragraphs joins the lines of each paragraph.
func paragraphs(s string) string {
	parts := strings.Split(strings.TrimSpace(s), "\n\n")
	for n, p := range parts {
		parts[n] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(parts, "\n\n")
}

// wrap breaks paragraphs into lines of at most 110 columns.
func wrap(s string) string {
	var b strings.Builder
	column := 0
	for n, p := range strings.Split(s, "\n\n") {
		if n > 0 {
			b.WriteString("\n\n")
		}
		column = 0
		for word := range strings.FieldsSeq(p) {
			switch {
			case column == 0:
			case column+1+len(word) > 110:
				b.WriteString("\n")
				column = 0
			default:
				b.WriteString(" ")
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
	}
	return b.String()
}
