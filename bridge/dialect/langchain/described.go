package langchain

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode"
)

// said returns the description of an action without the name and the arguments
// that the middleware appends by default, in Python or JavaScript, because the
// card shows both. Any other text stays unchanged.
func (a action) said() string {
	head, args, ok := strings.Cut(a.Description, "\n\nTool: "+a.Name+"\nArgs: ")
	if !ok || !sameJSON(args, a.args()) && args != pythonText(a.args()) {
		return a.Description
	}
	return head
}

// sameJSON reports whether a text is the same JSON value.
func sameJSON(text string, want json.RawMessage) bool {
	var x, y any
	return unmarshal([]byte(text), &x) && unmarshal(want, &y) && reflect.DeepEqual(x, y)
}

func unmarshal(raw []byte, v any) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(v) == nil && !dec.More()
}

// pythonText returns a JSON value in the form in which Python prints it, or ""
// if that form is uncertain.
func pythonText(raw json.RawMessage) string {
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if !printPython(&b, dec) {
		return ""
	}
	return b.String()
}

func printPython(b *strings.Builder, dec *json.Decoder) bool {
	t, err := dec.Token()
	if err != nil {
		return false
	}
	switch t := t.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[t])
	case json.Number:
		b.WriteString(t.String())
	case string:
		return quotePython(b, t)
	case json.Delim:
		return printPythonItems(b, dec, t == '{')
	}
	return true
}

// printPythonItems prints the rest of a list or an object.
func printPythonItems(b *strings.Builder, dec *json.Decoder, named bool) bool {
	around := "[]"
	if named {
		around = "{}"
	}
	b.WriteByte(around[0])
	for n := 0; dec.More(); n++ {
		if n > 0 {
			b.WriteString(", ")
		}
		if named {
			if !printPython(b, dec) {
				return false
			}
			b.WriteString(": ")
		}
		if !printPython(b, dec) {
			return false
		}
	}
	b.WriteByte(around[1])
	_, err := dec.Token()
	return err == nil
}

func quotePython(b *strings.Builder, s string) bool {
	quote := `'`
	if strings.Contains(s, `'`) && !strings.Contains(s, `"`) {
		quote = `"`
	}
	b.WriteString(quote)
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\\' || string(r) == quote:
			b.WriteString(`\` + string(r))
		case !unicode.IsPrint(r):
			return false
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString(quote)
	return true
}
