package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

func repeat(n int, of string) string {
	return strings.TrimSuffix(strings.Repeat(of+",", n), ",")
}

func text(n int) string {
	return fmt.Sprintf(`{"type":"plain_text","text":%q}`, strings.Repeat("x", n))
}

func inBlock(element string) string {
	return `{"type":"input","label":` + text(5) + `,"element":` + element + `}`
}

func inActions(elements string) string { return `{"type":"actions","elements":[` + elements + `]}` }

func pressable(id string) string {
	return `{"type":"button","action_id":"` + id + `","text":` + text(5) + `}`
}

// numberInput is a number input with more fields.
func numberInput(fields string) string {
	return inBlock(`{"type":"number_input","action_id":"a","is_decimal_allowed":true,` + fields + `}`)
}

// rich is a rich text block of one element.
func rich(kind, fields string, leaves ...string) string {
	element := `{"type":"rich_text_` + kind + `",` + fields + `"elements":[` + strings.Join(leaves, ",") + `]}`
	return `{"type":"rich_text","elements":[` + element + `]}`
}

func choice(kind, options string) string {
	return `{"type":"` + kind + `","action_id":"a",` + options + `}`
}

func option(value string) string { return `{"text":` + text(5) + `,"value":"` + value + `"}` }

// refusal is a list of blocks and a word of what is wrong with it; empty if
// nothing is.
type refusal struct{ blocks, word string }

func checkRefusals(t *testing.T, all []refusal) {
	t.Helper()
	for _, x := range all {
		view := `{"type":"modal","title":` + text(5) + `,"submit":` + text(5) + `,"blocks":[` + x.blocks + `]}`
		got := strings.Join(slack.CheckModal([]byte(view)), "\n")
		if (x.word == "") != (got == "") || !strings.Contains(got, x.word) {
			t.Errorf("%.200s: %s, want %q", x.blocks, got, x.word)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

// TestBlocks checks what Block Kit refuses about blocks and buttons, and where
// it says the mistake is.
func TestBlocks(t *testing.T) {
	t.Parallel()
	checkRefusals(t, []refusal{
		{`{"type":"header","text":` + text(150) + `}`, ""},
		{`{"type":"header","text":` + text(151) + `}`, "less than 151"},
		{`{"type":"header","text":{"type":"mrkdwn","text":"x"}}`, "/text/type"},
		{`{"type":"section","text":{"type":"mrkdwn","text":"x","emoji":true}}`, "invalid additional property: emoji"},
		{`{"type":"section"}`, "missing required field"},
		{`{"type":"section","text":` + text(0) + `}`, "more than 0"},
		{`{"type":"section","text":{"type":"mrkdwn","text":"` + strings.Repeat("&", 601) + `"}}`, "less than 3001"},
		{`{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}`, "already exists"},
		{`{"type":"divider","block_id":"` + strings.Repeat("x", 256) + `"}`, "/block_id"},
		{repeat(101, `{"type":"divider"}`), "no more than 100"},
		{`7`, "list of objects"},
		{`{"type":"video"}`, "unsupported type"},
		{`{"type":"context","elements":[]}`, "1 to 10"},
		{`{"type":"context","elements":[` + text(5) + `]}`, ""},
		{inActions(``), "1 to 25"},
		{inActions(pressable("a")), ""},
		{inActions(pressable("a") + "," + pressable("a")), "already exists"},
		{inActions(pressable("")), "/action_id"},
		{inActions(`{"type":"button","action_id":"a","text":` + text(76) + `}`), "less than 76"},
		{inActions(`{"type":"button","action_id":"a","style":"loud","text":` + text(5) + `}`), "/style"},
		{inActions(`{"type":"button","action_id":"a","value":"` + long(2001) + `","text":` + text(5) + `}`), "/value"},
		{inActions(`{"type":"plain_text_input","action_id":"a"}`), "only allowed in input"},
		{inActions(`{"type":"email_text_input","action_id":"a"}`), "only allowed in input"},
		{inActions(`{"type":"overflow","action_id":"a"}`), "missing required field: options"},
		{inBlock(pressable("a")), "not allowed in input"},
	})
}

// TestInputs checks what Block Kit refuses about inputs.
func TestInputs(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var out []string
		for k := range n {
			out = append(out, option(fmt.Sprint(k)))
		}
		return `"options":[` + strings.Join(out, ",") + `]`
	}
	one := `"options":[` + option("v") + `]`
	group := `{"label":` + text(5) + `,` + one + `}`
	checkRefusals(t, []refusal{
		{inBlock(`{"type":"plain_text_input","action_id":"a","max_length":3000}`), ""},
		{inBlock(`{"type":"plain_text_input","action_id":"a","max_length":3001}`), "max_length"},
		{inBlock(`{"type":"plain_text_input","action_id":"a","initial_value":"` + long(3001) + `"}`), "less than 3001"},
		{inBlock(`{"type":"number_input","action_id":"a"}`), "/is_decimal_allowed"},
		{numberInput(`"min_value":"9","max_value":"1"`), "less than max_value"},
		{numberInput(`"initial_value":"x"`), "/initial_value"},
		{inBlock(`{"type":"datepicker","action_id":"a","initial_date":"tomorrow"}`), "/initial_date"},
		{inBlock(`{"type":"timepicker","action_id":"a","initial_time":"25:00"}`), "/initial_time"},
		{inBlock(choice("static_select", many(100))), ""},
		{inBlock(choice("static_select", many(101))), "1 to 100"},
		{inBlock(choice("radio_buttons", many(11))), "1 to 10"},
		{inBlock(choice("static_select", `"placeholder":`+text(151)+`,`+one)), "/placeholder"},
		{inBlock(choice("checkboxes", `"placeholder":`+text(5)+`,`+one)), "invalid additional property: placeholder"},
		{inBlock(choice("static_select", `"initial_option":`+option("w")+`,`+one)), "one of the options"},
		{inBlock(choice("multi_static_select", `"initial_options":[`+option("v")+`],`+one)), ""},
		{inBlock(choice("static_select", `"options":[`+option("v")+`,`+option("v")+`]`)), "/options/1/value"},
		{inBlock(choice("static_select", `"options":[`+option("")+`]`)), "1 to 150"},
		{inBlock(choice("static_select", `"option_groups":[{"label":`+text(5)+`,`+one+`}]`)), ""},
		{inBlock(choice("static_select", `"option_groups":[`+repeat(101, group)+`]`)), "no more than 100"},
		{inBlock(choice("static_select", `"option_groups":[]`)), "exactly one"},
	})
}

// TestRichText checks what Block Kit refuses about rich text.
func TestRichText(t *testing.T) {
	t.Parallel()
	const leaf = `{"type":"text","text":"x"}`
	checkRefusals(t, []refusal{
		{rich("section", "", leaf, `{"type":"link","url":"https://x.example"}`, `{"type":"user","user_id":"U"}`), ""},
		{rich("section", "", `{"type":"date","timestamp":1,"format":"{date}"}`), ""},
		{rich("section", ""), "must not be empty"},
		{rich("section", "", `{"type":"text","text":""}`), "more than 0"},
		{rich("section", "", `{"type":"link","url":"ftp://x"}`), "valid URL"},
		{rich("section", "", `{"type":"date"}`), "missing required field: timestamp"},
		{rich("section", "", `{"type":"canvas"}`), "unsupported type"},
		{rich("table", ""), "unsupported type"},
		{rich("list", `"style":"bullet",`, `{"type":"rich_text_section","elements":[`+leaf+`]}`), ""},
		{rich("list", `"style":"roman",`, leaf), "bullet or ordered"},
		{rich("list", `"style":"ordered","indent":9,`, leaf), "0 to 8"},
		{rich("list", `"style":"ordered",`, leaf), "must be sections"},
	})
}

// TestViews checks what Slack refuses about a view itself.
func TestViews(t *testing.T) {
	t.Parallel()
	view := func(change map[string]any) []byte {
		v := map[string]any{"type": "modal", "title": plain("x"), "blocks": []any{map[string]any{"type": "divider"}}}
		for k, x := range change {
			v[k] = x
		}
		encoded, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	for word, change := range map[string]map[string]any{
		"":                  {},
		"must be modal":     {"type": "home"},
		"less than 25":      {"title": plain(strings.Repeat("x", 25))},
		"/submit":           {"blocks": []any{input("b", slackgo.NewPlainTextInputBlockElement(nil, "a"))}},
		"at least 1 item":   {"blocks": []any{}},
		"/private_metadata": {"private_metadata": strings.Repeat("x", 3001)},
		"/callback_id":      {"callback_id": strings.Repeat("x", 256)},
		"view_too_large":    {"private_metadata": strings.Repeat("x", 250_001)},
	} {
		got := strings.Join(slack.CheckModal(view(change)), "\n")
		if (word == "") != (got == "") || !strings.Contains(got, word) {
			t.Errorf("%v: %s, want %q", change, got, word)
		}
	}
	if got := slack.CheckModal([]byte("{")); len(got) != 1 {
		t.Errorf("no JSON: %q", got)
	}
}
