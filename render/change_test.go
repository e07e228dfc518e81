package render_test

import (
	"encoding/json"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestChanges checks what a card shows of the inputs with which Claude Code
// changes files, and that no part of an input is lost.
func TestChanges(t *testing.T) {
	for name, c := range map[string]struct{ tool, input, want string }{
		"Edit":                {"Edit", `{"file_path":"/r/a.go","old_string":"a\nb\nc","new_string":"a\nB && x\nc","replace_all":false}`, " a\n-b\n+B && x\n c"},
		"Edit, every":         {"Edit", `{"file_path":"/r/a.go","old_string":"a","new_string":"b","replace_all":true}`, "Every occurrence is replaced:\n-a\n+b"},
		"Edit, more":          {"Edit", `{"file_path":"/r/a.go","old_string":"a","new_string":"b","replace_all":"maybe"}`, "-a\n+b\n{\n  \"replace_all\": \"maybe\"\n}"},
		"Edit, delete":        {"Edit", `{"file_path":"/r/a.go","old_string":"a","new_string":""}`, "-a"},
		"Edit, create":        {"Edit", `{"file_path":"/r/a.go","old_string":"","new_string":"a\nb"}`, "+a\n+b"},
		"MultiEdit":           {"MultiEdit", `{"file_path":"/r/a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"<d>","replace_all":true}]}`, "Edit 1 of 2:\n-a\n+b\nEdit 2 of 2:\nEvery occurrence is replaced:\n-c\n+<d>"},
		"MultiEdit, one":      {"MultiEdit", `{"file_path":"/r/a.go","edits":[{"old_string":"a","new_string":"b"}]}`, "-a\n+b"},
		"MultiEdit, odd":      {"MultiEdit", `{"file_path":"/r/a.go","edits":[{"old_string":"a"}]}`, "{\n  \"edits\": [\n    {\n      \"old_string\": \"a\"\n    }\n  ]\n}"},
		"Write":               {"Write", `{"file_path":"/r/a.sh","content":"a && b\n"}`, "a && b\n"},
		"NotebookEdit":        {"NotebookEdit", `{"notebook_path":"/r/a.ipynb","cell_id":"c1","new_source":"x = 1\ny && 2","cell_type":"code","edit_mode":"replace"}`, "Replace the code cell c1 with:\n+x = 1\n+y && 2"},
		"NotebookEdit, new":   {"NotebookEdit", `{"notebook_path":"/r/a.ipynb","new_source":"x","cell_type":"markdown","edit_mode":"insert"}`, "Insert a markdown cell at the beginning:\n+x"},
		"NotebookEdit, gone":  {"NotebookEdit", `{"notebook_path":"/r/a.ipynb","cell_id":"c1","new_source":"","edit_mode":"delete"}`, "Delete the cell c1"},
		"NotebookEdit, other": {"NotebookEdit", `{"notebook_path":"/r/a.ipynb","new_source":"x","edit_mode":"swap"}`, "{\n  \"edit_mode\": \"swap\",\n  \"new_source\": \"x\"\n}"},
		"NotebookEdit, list":  {"NotebookEdit", `{"notebook_path":"/r/a.ipynb","new_source":["x"]}`, "{\n  \"new_source\": [\n    \"x\"\n  ]\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			i := bridge.Interaction{Ask: bridge.Ask{Approval: &bridge.Approval{Tool: c.tool, Input: json.RawMessage(c.input)}}}
			act := render.ActionOf(i)
			got := ""
			for n, b := range act.Rest {
				if n > 0 {
					got += "\n"
				}
				got += b.Text
				for _, s := range b.Spans {
					got += s.Text
				}
			}
			if got != c.want || len(act.Head) != 2 || !act.Head[1].Code {
				t.Errorf("%+v\n%s\nwant\n%s", act.Head, got, c.want)
			}
		})
	}
}
