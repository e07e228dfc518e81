package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

var update = flag.Bool("update", false, "write docs/api.md from openapi.yaml")

// TestReference checks that docs/api.md matches openapi.yaml.
func TestReference(t *testing.T) {
	t.Parallel()
	const path = "../../docs/api.md"
	doc, _ := description(t)
	r := &reference{t: t, doc: doc}
	want := r.page()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is out of date; run make reference (%v)", path, err)
	}
}

// reference writes docs/api.md.
type reference struct {
	t   *testing.T
	doc *openapi3.T
	b   strings.Builder
}

const preamble = `# HTTP API reference

For developers who call nod over HTTP.

This page lists every operation of the HTTP API, with its body, response and an example. ` + "`make reference`" + ` writes
it from the OpenAPI description, which the daemon serves at ` + "`/openapi.yaml`" + `.

%s

- Send the token as ` + "`Authorization: Bearer TOKEN`" + `, and bodies as JSON of at most 1 MiB.
- Every operation can fail with an error in the form of [Error](#error): see [error codes](errors.md).
- Durations are texts such as ` + "`5m`" + ` or numbers of seconds.
- The daemon also serves [` + "`/v1/ws`" + `](websocket.md), [` + "`/metrics`" + `](metrics.md), [` + "`/console/`" + `](console.md), and the
  callbacks of the platforms in HTTP mode.
`

func (r *reference) page() string {
	fmt.Fprintf(&r.b, preamble, strings.TrimSpace(r.doc.Info.Description))
	r.operations(func(title, summary string, _ *openapi3.PathItem, _ *openapi3.Operation) {
		fmt.Fprintf(&r.b, "\n- [%s](#%s): `%s`", summary, anchor(summary), title)
	})
	r.b.WriteString("\n")
	r.operations(r.operation)
	r.b.WriteString("\n## Schemas\n\nFields marked with * are required.\n")
	for _, name := range slices.Sorted(maps.Keys(r.doc.Components.Schemas)) {
		fmt.Fprintf(&r.b, "\n### %s\n", name)
		r.schema(r.doc.Components.Schemas[name].Value)
		if shared := r.doc.Components.Responses[name]; shared != nil && name != "Health" {
			r.example("", shared.Value.Content)
		}
	}
	r.b.WriteString("\n### Error\n")
	r.schema(jsonSchema(r.doc.Components.Responses["Error"].Value.Content).Value.Properties["error"].Value)
	r.example("", r.doc.Components.Responses["Error"].Value.Content)
	return r.b.String()
}

// operations calls f for each operation, sorted by path.
func (r *reference) operations(f func(title, summary string, path *openapi3.PathItem, op *openapi3.Operation)) {
	paths := r.doc.Paths.Map()
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			if op := paths[p].GetOperation(method); op != nil {
				f(method+" "+p, op.Summary, paths[p], op)
			}
		}
	}
}

func (r *reference) operation(title, summary string, path *openapi3.PathItem, op *openapi3.Operation) {
	fmt.Fprintf(&r.b, "\n## %s\n\n`%s`\n", summary, title)
	if text := strings.TrimSpace(op.Description); text != "" {
		r.b.WriteString("\n" + text + "\n")
	}
	if params := slices.Concat(path.Parameters, op.Parameters); len(params) > 0 {
		r.b.WriteString("\n| Parameter | Type | Description |\n|---|---|---|\n")
		for _, p := range params {
			v := p.Value
			fmt.Fprintf(&r.b, "| `%s`%s (%s) | %s | %s |\n", v.Name, star(v.Required), v.In, r.typeOf(v.Schema), cell(v.Description))
		}
	}
	if op.RequestBody != nil {
		r.body(op.RequestBody.Value.Content)
	}
	responses := op.Responses.Map()
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		if code == "default" {
			continue
		}
		v := responses[code].Value
		fmt.Fprintf(&r.b, "\nResponse %s: %s", code, strings.TrimSpace(*v.Description))
		if s := jsonSchema(v.Content); s != nil {
			fmt.Fprintf(&r.b, " Type: %s.", r.responseType(s))
		}
		r.b.WriteString("\n")
		if responses[code].Ref == "" {
			r.example("", v.Content)
		}
	}
}

// body writes the body of a request and an example of it.
func (r *reference) body(content openapi3.Content) {
	s := jsonSchema(content)
	switch {
	case s == nil:
		r.b.WriteString("\nBody: the message of the protocol.\n")
	case s.Ref != "":
		fmt.Fprintf(&r.b, "\nBody: %s.\n", r.typeOf(s))
	default:
		r.b.WriteString("\nBody:\n")
		r.schema(s.Value)
	}
	r.example("Example body:", content)
}

// schema writes the fields of an object, or the allowed values of another type.
func (r *reference) schema(s *openapi3.Schema) {
	if s.Description != "" {
		fmt.Fprintf(&r.b, "\n%s\n", strings.TrimSpace(s.Description))
	}
	if len(s.Properties) == 0 {
		if s.Description == "" || len(s.Enum) > 0 || len(s.AnyOf) > 0 {
			fmt.Fprintf(&r.b, "\n%s\n", r.typeOf(&openapi3.SchemaRef{Value: s}))
		}
		return
	}
	r.b.WriteString("\n| Field | Type | Description |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		text := ""
		if p.Ref == "" {
			text = p.Value.Description
		}
		fmt.Fprintf(&r.b, "| `%s`%s | %s | %s |\n", name, star(slices.Contains(s.Required, name)), r.typeOf(p), cell(text))
	}
}

// responseType is like typeOf, but lists the fields of an unnamed object.
func (r *reference) responseType(s *openapi3.SchemaRef) string {
	if s.Ref != "" || len(s.Value.Properties) == 0 {
		return r.typeOf(s)
	}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(s.Value.Properties)) {
		fields = append(fields, "`"+name+"` ("+r.typeOf(s.Value.Properties[name])+")")
	}
	return "object with " + strings.Join(fields, ", ")
}

func (r *reference) typeOf(s *openapi3.SchemaRef) string {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return fmt.Sprintf("[%s](#%s)", name, anchor(name))
	}
	v := s.Value
	switch {
	case len(v.Enum) > 0:
		var values []string
		for _, e := range v.Enum {
			values = append(values, fmt.Sprintf("`%v`", e))
		}
		return strings.Join(values, ", ")
	case len(v.AnyOf) == 2:
		return r.typeOf(v.AnyOf[0]) + ", or matches `" + v.AnyOf[1].Value.Pattern + "`"
	case v.Items != nil:
		return "list of " + r.typeOf(v.Items)
	case v.AdditionalProperties.Schema != nil:
		return "map of " + r.typeOf(v.AdditionalProperties.Schema)
	case len(v.OneOf) > 0:
		return "text or number"
	case v.Type == nil:
		return "any"
	}
	name := map[string]string{"string": "text", "boolean": "true or false"}[v.Type.Slice()[0]]
	if name == "" {
		name = v.Type.Slice()[0]
	}
	if v.Default != nil {
		name += fmt.Sprintf(", default `%v`", v.Default)
	}
	return name
}

// example writes the JSON example of a body, if it has one.
func (r *reference) example(title string, content openapi3.Content) {
	media := content.Get("application/json")
	if media == nil || media.Example == nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(media.Example); err != nil {
		r.t.Fatal(err)
	}
	if title != "" {
		r.b.WriteString("\n" + title + "\n")
	}
	r.b.WriteString("\n```json\n" + b.String() + "```\n")
}

func jsonSchema(content openapi3.Content) *openapi3.SchemaRef {
	if media := content.Get("application/json"); media != nil {
		return media.Schema
	}
	return nil
}

func star(required bool) string {
	if required {
		return "\\*"
	}
	return ""
}

func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(s), "\n", " "), "|", `\|`)
}

// anchor returns the anchor of a heading on GitHub and on the site.
func anchor(heading string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}
