package deploy

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/nodbridge/nod/bridge"
)

var update = flag.Bool("update", false, "write the generated files of the clients")

// leftOut holds the operations that the clients do not have, with the reason.
var leftOut = map[string]string{
	"hook": "nod hook calls it", "mcp": "MCP clients call it", "websocket": "not HTTP", "events": "a stream",
	"openapi": "not JSON", "exportAudit": "nod audit export calls it",
	"listLinks": "for people", "linkAccount": "for people",
	"unlinkAccount": "for people", "askUserTool": "for assistants that write widgets",
	"recallApproval": "for tools that keep approvals", "rememberApproval": "for tools that keep approvals",
	"forgetApprovals": "for tools that keep approvals", "listPasskeys": "nod passkey calls it",
	"invitePerson": "nod passkey calls it", "revokePasskey": "nod passkey calls it", "passkeyKeys": "nod receipt keys calls it",
	"publicKeys": "nod receipt keys calls it",
}

// notTheirs holds the headers of programs that pass on the calls of an agent.
var notTheirs = []string{"Nod-Call", "Nod-Connection", "Nod-Doubt"}

// withoutType holds the schemas that are any JSON, or that only operations use
// that are left out.
var withoutType = []string{"Answer", "Remembered"}

// language writes the types of one client.
type language struct {
	path, head, comment     string
	text, number, truth     string
	sources                 string // directory with the code that calls the operations
	list, record            func(of string) string
	enum                    func(values []any) string
	open                    func(name string) string
	field                   func(name, typ string, required bool) string
	pad, end                string
	operationsHead, oneCall string
	operationsEnd           string
	covered                 string // the texts that the digest covers: those of a request, and of its approval
	names                   func(quoted []string) string
}

var python = language{
	path: "clients/python/src/nodbridge/_types.py", sources: "clients/python/src/nodbridge", comment: "# ",
	head: "\"\"\"Types of the API, written from its OpenAPI description by `make reference`.\"\"\"\n\n" +
		"from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Tuple, TypedDict, Union\n",
	text: "str", number: "float", truth: "bool",
	list:   func(of string) string { return "List[" + of + "]" },
	record: func(of string) string { return "Dict[str, " + of + "]" },
	enum: func(values []any) string {
		quoted := make([]string, len(values))
		for n, v := range values {
			quoted[n] = fmt.Sprintf("%q", v)
		}
		return "Literal[" + strings.Join(quoted, ", ") + "]"
	},
	field:          func(name, typ string, _ bool) string { return name + ": " + typ },
	pad:            "    ",
	operationsHead: "\n\nOPERATIONS: Dict[str, Tuple[str, str]] = {\n",
	oneCall:        "    %q: (%q, %q),\n",
	operationsEnd:  "}\n",
	covered:        "\n# The texts that the digest of a request covers, and those of its approval.\nCOVERED = %s\nCOVERED_APPROVAL = %s\n",
	names:          func(quoted []string) string { return "(" + strings.Join(quoted, ", ") + ")" },
}

var typescript = language{
	path: "clients/typescript/src/types.ts", sources: "clients/typescript/src", comment: "// ",
	head: "// Types of the API, written from its OpenAPI description by `make reference`.\n",
	text: "string", number: "number", truth: "boolean",
	list:   func(of string) string { return "Array<" + of + ">" },
	record: func(of string) string { return "Record<string, " + of + ">" },
	enum: func(values []any) string {
		quoted := make([]string, len(values))
		for n, v := range values {
			quoted[n] = fmt.Sprintf("%q", v)
		}
		return strings.Join(quoted, " | ")
	},
	open: func(name string) string { return "export interface " + name + " {\n" },
	field: func(name, typ string, required bool) string {
		if !required {
			name += "?"
		}
		return name + ": " + typ + ";"
	},
	pad:            "  ",
	end:            "}\n",
	operationsHead: "\nexport const operations = {\n", oneCall: "  %s: [%q, %q],\n", operationsEnd: "} as const;\n",
	covered: "\n// The texts that the digest of a request covers, and those of its approval.\n" +
		"export const coveredTexts = %s;\nexport const coveredOfApproval = %s;\n",
	names: func(quoted []string) string { return "[" + strings.Join(quoted, ", ") + "]" },
}

// typeOf returns the name of the type of a schema.
func (l language) typeOf(s *openapi3.SchemaRef) string {
	anything := map[string]string{"str": "Any", "string": "unknown"}[l.text]
	if s == nil || s.Value == nil {
		return anything
	}
	if name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]; name == "Answer" {
		return anything
	} else if name != "" {
		return renamed(name)
	}
	switch v := s.Value; {
	case len(v.Enum) > 0:
		return l.enum(v.Enum)
	case len(v.AnyOf) == 2: // names, and those with a number
		return l.numbered(v.AnyOf[0].Value.Enum, v.AnyOf[1].Value.Pattern)
	case v.OneOf != nil:
		return map[string]string{"str": "Any", "string": "string | number"}[l.text]
	case v.Type.Is("string"):
		return l.text
	case v.Type.Is("integer") && l.text == "str":
		return "int"
	case v.Type.Is("integer"), v.Type.Is("number"):
		return l.number
	case v.Type.Is("boolean"):
		return l.truth
	case v.Type.Is("array"):
		return l.list(l.typeOf(v.Items))
	case v.Type.Is("object") && v.AdditionalProperties.Schema != nil:
		return l.record(l.typeOf(v.AdditionalProperties.Schema))
	case v.Type.Is("object"):
		return l.record(anything)
	}
	return anything
}

// numbered returns the type of names, some of which may have a number, as a
// pattern such as ^(a|b):[2-9]$ says.
func (l language) numbered(names []any, pattern string) string {
	if l.text == "str" {
		return "Union[" + l.enum(names) + ", str]"
	}
	var some []any
	for name := range strings.SplitSeq(pattern[strings.Index(pattern, "(")+1:strings.Index(pattern, ")")], "|") {
		some = append(some, name)
	}
	return l.enum(names) + " | `${" + l.enum(some) + "}:${number}`"
}

// renamed avoids names that the languages have.
func renamed(name string) string {
	if name == "Record" {
		return "RequestRecord"
	}
	return name
}

// file returns the types and the operations of the description.
func (l language) file(doc *openapi3.T) string {
	var b strings.Builder
	b.WriteString(l.head)
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name].Value
		if len(s.Enum)+len(s.AnyOf) > 0 {
			of := l.typeOf(&openapi3.SchemaRef{Value: s})
			alias := "\nexport type " + name + " = " + of + ";\n"
			if l.text == "str" {
				alias = "\n" + name + " = " + of + "\n"
			}
			b.WriteString(alias)
			continue
		}
		if slices.Contains(withoutType, name) {
			continue
		}
		l.object(&b, renamed(name), s)
	}
	b.WriteString(l.operationsHead)
	each(doc, func(method, path string, op *openapi3.Operation) {
		if leftOut[op.OperationID] == "" {
			fmt.Fprintf(&b, l.oneCall, op.OperationID, method, path)
		}
	})
	b.WriteString(l.operationsEnd)
	own, approval := coveredTexts()
	fmt.Fprintf(&b, l.covered, l.names(own), l.names(approval))
	return b.String()
}

// coveredTexts returns the names of the texts that the digest of a request covers,
// and those of its approval, as the table of texts has them.
func coveredTexts() (own, approval []string) {
	ask := bridge.Ask{Approval: &bridge.Approval{}}
	for t := range ask.Texts() {
		name, ofApproval := strings.CutPrefix(t.Path, "approval.")
		switch {
		case !t.Use.Has(bridge.TextCovered):
		case ofApproval:
			approval = append(approval, strconv.Quote(name))
		default:
			own = append(own, strconv.Quote(name))
		}
	}
	return own, approval
}

// object writes the type of an object. In Python, the required fields are those
// of a class of their own.
func (l language) object(b *strings.Builder, name string, s *openapi3.Schema) {
	all := slices.Sorted(maps.Keys(s.Properties))
	isRequired := func(field string) bool { return slices.Contains(s.Required, field) }
	isOptional := func(field string) bool { return !isRequired(field) }
	if l.text != "str" {
		b.WriteString("\n" + l.open(name))
		l.fields(b, s, all)
		b.WriteString(l.end)
		return
	}
	base := "TypedDict"
	if slices.ContainsFunc(all, isRequired) {
		base = "_" + name
		b.WriteString("\n\nclass " + base + "(TypedDict):\n")
		l.fields(b, s, slices.DeleteFunc(slices.Clone(all), isOptional))
	}
	b.WriteString("\n\nclass " + name + "(" + base + ", total=False):\n")
	optional := slices.DeleteFunc(slices.Clone(all), isRequired)
	l.fields(b, s, optional)
	if len(optional) == 0 {
		b.WriteString(l.pad + "pass\n")
	}
}

// fields writes some fields of an object.
func (l language) fields(b *strings.Builder, s *openapi3.Schema, names []string) {
	for _, name := range names {
		p := s.Properties[name]
		if p.Value.Description != "" && p.Ref == "" {
			for _, line := range wrapped(p.Value.Description, 100) {
				b.WriteString(l.pad + l.comment + line + "\n")
			}
		}
		line := l.field(name, l.typeOf(p), slices.Contains(s.Required, name))
		b.WriteString(l.pad + strings.Join(wrapped(line, 110), "\n"+l.pad+l.pad) + "\n")
	}
}

// wrapped splits a text into lines.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// each calls f for each operation, sorted by path and method.
func each(doc *openapi3.T, f func(method, path string, op *openapi3.Operation)) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		ops := doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(ops)) {
			f(method, path, ops[method])
		}
	}
}

func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../bridge/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestReferenceOfClients checks that the types of the clients are those of
// openapi.yaml.
func TestReferenceOfClients(t *testing.T) {
	t.Parallel()
	doc := description(t)
	for _, l := range []language{python, typescript} {
		want := l.file(doc)
		if *update {
			if err := os.WriteFile(l.path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got, err := os.ReadFile(l.path); err != nil || string(got) != want {
			t.Errorf("deploy/%s is out of date; run make reference (%v)", l.path, err)
		}
	}
}

// TestReferenceOfVerifier checks that the verifier of receipts covers the texts that
// the table of texts says.
func TestReferenceOfVerifier(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("verify/receipt.mjs")
	if err != nil {
		t.Fatal(err)
	}
	own, approval := coveredTexts()
	want := string(raw)
	for name, texts := range map[string][]string{"coveredTexts": own, "coveredOfApproval": approval} {
		line := regexp.MustCompile(`(?m)^const ` + name + ` = .*$`)
		if !line.MatchString(want) {
			t.Errorf("deploy/verify/receipt.mjs has no line for %s", name)
		}
		want = line.ReplaceAllString(want, "const "+name+" = "+typescript.names(texts)+";")
	}
	if *update {
		if err := os.WriteFile("verify/receipt.mjs", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Error("deploy/verify/receipt.mjs is out of date; run make reference")
	}
}

// TestReferenceOfAsyncNod checks that the methods of AsyncNod are those of Nod.
func TestReferenceOfAsyncNod(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("clients/python/src/nodbridge/_sync.py")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(raw), "\n\n\n")
	_, methods, found := strings.Cut(code, "    def ")
	head, _, _ := strings.Cut(string(raw)[strings.Index(string(raw), "from __future__"):], "\n\n\nclass Nod")
	head = strings.Replace(head, "approval_of, Base\nfrom ._core import Decision", "approval_of\nfrom ._core import Decision\nfrom ._loop import AsyncBase", 1)
	want := "\"\"\"The client for asyncio, written from _sync.py by `make reference`.\"\"\"\n\n" + head +
		"\n\n\nclass AsyncNod(AsyncBase):\n    \"\"\"A client for asyncio, with the methods of Nod.\n\n" +
		"    A cancelled task cancels its request, too.\n    \"\"\"\n\n" +
		strings.ReplaceAll(strings.ReplaceAll("    def "+methods, "    def ", "    async def "), "self._run(", "await self._perform(")
	const path = "clients/python/src/nodbridge/_async.py"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got, err := os.ReadFile(path); !found || err != nil || string(got) != want {
		t.Errorf("deploy/%s is out of date; run make reference (%v)", path, err)
	}
}

// TestClientsAreComplete checks that the code of each client calls every
// operation that is not left out, and names its parameters and the fields of its
// body.
func TestClientsAreComplete(t *testing.T) {
	t.Parallel()
	doc := description(t)
	for _, l := range []language{python, typescript} {
		code := ""
		entries, err := os.ReadDir(l.sources)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if raw, err := os.ReadFile(l.sources + "/" + e.Name()); err == nil && l.sources+"/"+e.Name() != l.path {
				code += string(raw)
			}
		}
		named := func(name string) bool {
			return regexp.MustCompile(`["'{ .,(]` + regexp.QuoteMeta(name) + `["'=:,})?]`).MatchString(code)
		}
		known := map[string]bool{}
		each(doc, func(_, _ string, op *openapi3.Operation) {
			known[op.OperationID] = true
			if leftOut[op.OperationID] != "" {
				return
			}
			if !strings.Contains(code, `"`+op.OperationID+`"`) {
				t.Errorf("%s does not call %s", l.sources, op.OperationID)
			}
			for _, field := range fieldsOf(op) {
				if !named(field) {
					t.Errorf("%s: %s does not have %q", l.sources, op.OperationID, field)
				}
			}
		})
		for id := range leftOut {
			if !known[id] {
				t.Errorf("there is no operation %s to leave out", id)
			}
		}
	}
}

// fieldsOf returns the query parameters of an operation and the fields of a body
// that has no type of its own. The caller of dialect passes its parameters on.
func fieldsOf(op *openapi3.Operation) []string {
	var out []string
	for _, p := range op.Parameters {
		if p.Value.In != "path" && op.OperationID != "dialect" && !slices.Contains(notTheirs, p.Value.Name) {
			out = append(out, p.Value.Name)
		}
	}
	if op.RequestBody == nil || op.RequestBody.Value.Content.Get("application/json") == nil {
		return out
	}
	if s := op.RequestBody.Value.Content.Get("application/json").Schema; s != nil && s.Ref == "" {
		out = slices.AppendSeq(out, maps.Keys(s.Value.Properties))
	}
	return out
}
