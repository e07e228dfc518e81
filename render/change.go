package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// fileChange is a change of one file, in the form that editor protocols use.
type fileChange struct {
	path, now string
	was       *string // nil for a new file
}

// fileChanges returns the file changes in the field diffs, and the other
// fields. If diffs holds anything else, it returns no changes and all fields.
func fileChanges(fields map[string]any) ([]fileChange, map[string]any) {
	list, ok := fields["diffs"].([]any)
	if !ok {
		return nil, fields
	}
	var out []fileChange
	for _, v := range list {
		one, _ := v.(map[string]any)
		path, ok1 := one["path"].(string)
		now, ok2 := one["newText"].(string)
		c, members := fileChange{path: path, now: now}, 2
		if was, has := one["oldText"]; has {
			s, isText := was.(string)
			if !isText {
				return nil, fields
			}
			c.was, members = &s, 3
		}
		if !ok1 || !ok2 || len(one) != members {
			return nil, fields
		}
		out = append(out, c)
	}
	return out, without(fields, "diffs")
}

// blocks returns the change as a diff below the path.
func (c fileChange) blocks() []Block {
	out := []Block{{Kind: Paragraph, Spans: []Span{{Text: exactName(c.path), Code: true}}}}
	if c.was == nil {
		return append(append(out, sentence("New file:")), written(c.now)...)
	}
	return append(out, changed(*c.was, c.now)...)
}

// patches renders a list of changes with a path and a diff each, which Codex
// reports. It reports false for any other input.
func patches(input json.RawMessage) ([]Block, bool) {
	var list []map[string]any
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	if dec.Decode(&list) != nil || len(list) == 0 {
		return nil, false
	}
	var out []Block
	for _, one := range list {
		path, rest := pop(one, "path")
		diff, rest := pop(rest, "diff")
		if path == "" || diff == "" {
			return nil, false
		}
		out = append(out, Block{Kind: Paragraph, Spans: []Span{{Text: exactName(path), Code: true}}})
		out = append(append(out, codeBlock(diff, "diff")...), jsonBlock(rest)...)
	}
	return out, true
}

// edit returns the change of a file as a diff with every line of the old and
// the new text, and the fields that the diff does not show.
func edit(fields map[string]any) ([]Block, map[string]any) {
	if diff, rest := take(fields, "diff", "patch"); diff != "" {
		return codeBlock(diff, "diff"), rest
	}
	if blocks, rest, ok := replacement(fields); ok {
		return blocks, rest
	}
	if blocks, rest, ok := replacements(fields); ok {
		return blocks, rest
	}
	if blocks, rest, ok := cell(fields); ok {
		return blocks, rest
	}
	return content(fields)
}

// content removes the full text of a file from the fields.
func content(fields map[string]any) ([]Block, map[string]any) {
	if text, ok := fields["content"].(string); ok {
		return written(text), without(fields, "content")
	}
	return nil, fields
}

// replacement returns a single text replacement as a diff. It reports false if
// the fields hold none.
func replacement(fields map[string]any) ([]Block, map[string]any, bool) {
	was, ok1 := fields["old_string"].(string)
	now, ok2 := fields["new_string"].(string)
	if !ok1 || !ok2 {
		return nil, fields, false
	}
	rest := maps.Clone(fields)
	delete(rest, "old_string")
	delete(rest, "new_string")
	var blocks []Block
	if all, ok := rest["replace_all"].(bool); ok {
		delete(rest, "replace_all") // false is the default
		if all {
			blocks = append(blocks, sentence("Every occurrence is replaced:"))
		}
	}
	return append(blocks, changed(was, now)...), rest, true
}

// changed returns a text replacement as a diff with every line of both texts.
func changed(was, now string) []Block {
	texts, crlf := unixLines(was, now)
	was, now = texts[0], texts[1]
	diff := ""
	switch {
	case was == now:
		diff = marked("-", was) + "\n" + marked("+", now)
	case now == "":
		diff = marked("-", was)
	case was == "":
		diff = marked("+", now)
	default:
		diff = fullDiff(was, now)
	}
	block := Block{Kind: Code, Text: exactDiff(revealed(diff)), Lang: "diff"}
	if crlf {
		return []Block{sentence("Every line ends with CR and LF:"), block}
	}
	return []Block{block}
}

// written returns the content of a file.
func written(content string) []Block {
	if content == "" {
		return []Block{sentence("The file is empty.")}
	}
	return codeBlock(content, "")
}

// replacements returns the edits of MultiEdit, in order, each as a diff. It
// reports false if any of them is not a replacement.
func replacements(fields map[string]any) ([]Block, map[string]any, bool) {
	edits, ok := fields["edits"].([]any)
	if !ok || len(edits) == 0 {
		return nil, fields, false
	}
	var out []Block
	for n, e := range edits {
		one, ok := e.(map[string]any)
		if !ok {
			return nil, fields, false
		}
		blocks, others, ok := replacement(one)
		if !ok {
			return nil, fields, false
		}
		if len(edits) > 1 {
			out = append(out, sentence(fmt.Sprintf("Edit %d of %d:", n+1, len(edits))))
		}
		out = append(out, blocks...)
		out = append(out, jsonBlock(others)...)
	}
	rest := maps.Clone(fields)
	delete(rest, "edits")
	return out, rest, true
}

// cell returns the change of a notebook cell. It shows only the new text,
// because the input does not have the old one. It reports false if the fields
// hold no cell.
func cell(fields map[string]any) ([]Block, map[string]any, bool) {
	now, ok := fields["new_source"].(string)
	if !ok {
		return nil, fields, false
	}
	rest := without(fields, "new_source")
	id, others := popShort(rest, "cell_id")
	kind, others := popShort(others, "cell_type")
	mode, others := popShort(others, "edit_mode")
	if kind != "" {
		kind += " "
	}
	named := []Span{{Text: "a " + kind + "cell"}}
	if id != "" {
		named = []Span{{Text: "the " + kind + "cell "}, {Text: id, Code: true}}
	}
	switch mode {
	case "insert":
		where := []Span{{Text: "Insert a " + kind + "cell at the beginning:"}}
		if id != "" {
			where = []Span{{Text: "Insert a " + kind + "cell after "}, {Text: id, Code: true}, {Text: ":"}}
		}
		return []Block{{Kind: Paragraph, Spans: where}, {Kind: Code, Text: exact(marked("+", now)), Lang: "diff"}}, others, true
	case "delete":
		out := []Block{{Kind: Paragraph, Spans: append([]Span{{Text: "Delete "}}, named...)}}
		if now != "" {
			out = append(out, codeBlock(now, "")...)
		}
		return out, others, true
	case "", "replace":
		where := append(append([]Span{{Text: "Replace "}}, named...), Span{Text: " with:"})
		return []Block{{Kind: Paragraph, Spans: where}, {Kind: Code, Text: exact(marked("+", now)), Lang: "diff"}}, others, true
	}
	return nil, fields, false
}

func sentence(text string) Block { return Block{Kind: Paragraph, Spans: []Span{{Text: text}}} }

// marked puts a mark before each line.
func marked(mark, s string) string {
	lines := strings.Split(s, "\n")
	for n := range lines {
		lines[n] = mark + lines[n]
	}
	return strings.Join(lines, "\n")
}
