package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Input renders the input of an approval: the command of a shell tool, the path
// and change of a file tool, and anything else as JSON.
func Input(a bridge.Approval) []Block {
	if len(a.Input) == 0 || string(a.Input) == "null" {
		return nil
	}
	if fields := object(a.Input); fields != nil {
		if out, ok := known(fields); ok {
			return out
		}
	}
	if out, ok := patches(a.Input); ok {
		return out
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bridge.ReadableJSON(a.Input), "", "  "); err != nil {
		return []Block{{Kind: Code, Text: exact(string(a.Input))}}
	}
	return []Block{{Kind: Code, Text: exact(pretty.String()), Lang: "json"}}
}

// known renders the fields that many tools share. It reports false if the input
// has none of them.
func known(fields map[string]any) ([]Block, bool) {
	if cmd, rest := take(fields, "command", "cmd", "argv"); cmd != "" {
		return append(shellBlock(cmd), jsonBlock(rest)...), true
	}
	path, rest := take(fields, "file_path", "path", "filename")
	if path == "" {
		return nil, false
	}
	out := []Block{{Kind: Paragraph, Spans: []Span{{Text: exactName(path), Code: true}}}}
	if diff, others := take(rest, "diff", "patch"); diff != "" {
		out = append(out, codeBlock(diff, "diff")...)
		rest = others
	}
	return append(out, jsonBlock(rest)...), true
}

// inputBlocks renders the fields of an input.
func inputBlocks(fields map[string]any) []Block {
	if out, ok := known(fields); ok {
		return out
	}
	return jsonBlock(fields)
}

// take removes the first of the named fields that holds a text or a list of
// texts. It quotes the arguments in a list for a shell.
func take(fields map[string]any, names ...string) (string, map[string]any) {
	for _, name := range names {
		text := ""
		switch v := fields[name].(type) {
		case string:
			text = v
		case []any:
			words := make([]string, 0, len(v))
			for _, w := range v {
				s, ok := w.(string)
				if !ok {
					return "", fields
				}
				words = append(words, ShellQuote(s))
			}
			text = strings.Join(words, " ")
		}
		if text == "" {
			continue
		}
		return text, without(fields, name)
	}
	return "", fields
}

func jsonBlock(fields map[string]any) []Block {
	if len(fields) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(fields); err != nil {
		return nil // cannot happen: it was decoded from JSON
	}
	return []Block{{Kind: Code, Text: exact(strings.TrimRight(b.String(), "\n")), Lang: "json"}}
}

// ShellQuote quotes one argument for a POSIX shell.
func ShellQuote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	safe := s != "" && strings.Trim(s, plain) == ""
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
