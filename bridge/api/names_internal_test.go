package api

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// TestNames checks that an error names the fields of the message that the
// sender knows, and all of them.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 301)
	for _, x := range []struct{ dialect, message, want string }{
		{"ask_widget", `{"type":"ask_request","id":"1","payload":{"prompt":"?","widgets":[{"type":"select"},{"type":"radio","options":["a","a"]},{"type":"radio","label":"\u0007","options":["a"]}]}}`,
			`widgets[0].options: required for select; widgets[1].options[1]: duplicate value "a"; widgets[2].label: control character U+0007 is not allowed`},
		{"agent_tool", `{"resource":"message","action":"ask","prompt":"?","widgets":[{"type":"buttons"}]}`, `widgets[0].options: required for buttons`},
		{"ask_widget", `{"type":"approval_request","id":"1","payload":{"tool":"` + long + `"}}`, `tool: 301 bytes are too many (at most 200)`},
		{"widget", `{"widgetId":"w","type":"selection","message":"?"}`, `options: required for selection`},
		{"widget", `{"widgetId":"w","type":"selection","multi":true,"message":"?"}`, `options: required for selection`},
		{"widget", `{"widgetId":"w","type":"action_selection","message":"?"}`, `actions: required for action_selection`},
		{"widget", `{"widgetId":"w","type":"action_selection","message":"?","actions":[{"id":"a","label":"A"},{"id":"a","label":"B"}]}`, `actions[1].id: duplicate value "a"`},
		{"widget", `{"widgetId":"w","type":"plan_review","message":"?"}`, `planContent: required for plan_review`},
		{"widget", `{"widgetId":"w","type":"feedback","message":"?"}`, `items: required for feedback`},
		{"widget", `{"widgetId":"w","type":"form","message":"?"}`, `schema: required for form`},
		{"widget", `{"widgetId":"w","type":"form","message":"?","schema":{"type":"object","properties":{"a":{"type":"file"},"b":{"type":"string","not":{}},"c":{"type":"integer","enum":[1.5]}}}}`,
			`schema.properties.a.type: "file" is not supported; schema.properties.b.not: not supported; schema.properties.c.enum[0]: must be an integer`},
		{"widget_block", "```widget\n{}\n```\n```widget\n{\"widgetId\":\"w\",\"type\":\"selection\",\"message\":\"?\"}\n```\n```widget\n{",
			`widget block 1: widgetId: required; widget block 2: options: required for selection; widget block 3: not closed`},
		{"mcp_elicitation", `{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"file"}}}}`, `requestedSchema.properties.a.type: "file" is not supported`},
		{"ask_user_question", `{"tool_name":"AskUserQuestion","input":{"questions":[{"question":"?","options":[{"label":"a"},{"label":"a"}]}]}}`, `questions[0].options[1].label: duplicate value "a"`},
		{"tool_interaction", `{"type":"input","inputSchema":{"type":"form","fields":[{"id":"a","type":"radio","label":"A"},{"id":"b","type":"select","label":"B"}]}}`,
			`inputSchema.fields[0].options: required for radio; inputSchema.fields[1].options: required for select`},
		{"ask_widget", `{"type":"ask_request","id":"1","payload":{"prompt":"?","widgets":[{"type":"slider"},{"type":"select"},{"type":"dial"}]}}`,
			`widgets[0].type: unknown type "slider"; widgets[2].type: unknown type "dial"; widgets[1].options: required for select`},
		{"ask_user_question", `{"tool_name":"AskUserQuestion","input":{"questions":[{"options":[{"label":"a"}]},{"question":"?"},{"question":"?","options":[{"label":"b"},{"label":"b"}]}]}}`,
			`questions[0].question: required; questions[1].options: required; questions[2].question: duplicate question; answers are listed by question; questions[2].options[1].label: duplicate value "b"`},
		{"tool_interaction", `{"type":"input","inputSchema":{"type":"form","fields":[{"id":"a","type":"date","label":"A"},{"id":"b","type":"slider","label":"B"},{"id":"c","type":"select","label":"C"}]}}`,
			`inputSchema.fields[0].type: unknown type "date"; inputSchema.fields[1].type: unknown type "slider"; inputSchema.fields[2].options: required for select`},
	} {
		tr, err := dialects[x.dialect]([]byte(x.message))
		for _, e := range tr.Exchanges {
			if err == nil {
				err = dialect.Named(e.Request.Normalize(), e.Names)
			}
		}
		if err == nil || bridge.PublicError(err).Message != x.want {
			t.Errorf("%s %s:\ngot  %v\nwant %s", x.dialect, x.message, err, x.want)
		}
	}
}
