package slack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// call calls a method of the Web API with JSON arguments.
func (d *bench) call(method, args string) map[string]any {
	d.T.Helper()
	req, err := http.NewRequestWithContext(
		d.T.Context(), http.MethodPost, d.URL+"/slack/api/"+method, strings.NewReader(args),
	)
	if err != nil {
		d.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Authorization", "Bearer "+slack.BotToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.T.Fatal(err)
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		d.T.Fatal(err)
	}
	return answer
}

// checkPosts posts each list of blocks as a message.
func checkPosts(t *testing.T, all []refusal) {
	t.Helper()
	d := newDesk(t, slack.Options{}, false)
	for _, x := range all {
		answer := d.call("chat.postMessage", `{"channel":"`+slack.Channel+`","text":"x","blocks":[`+x.blocks+`]}`)
		encoded, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(encoded); (x.word == "") != (answer["ok"] == true) || !strings.Contains(got, x.word) {
			t.Errorf("%.200s: %s, want %q", x.blocks, got, x.word)
		}
	}
}

// TestUnknownFields checks that Slack refuses fields that it does not know, and
// values of another type, wherever they are.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	checkPosts(t, []refusal{
		{`{"type":"divider","color":"red"}`, "invalid additional property: color [json-pointer:/blocks/0]"},
		{`{"type":"divider","block_id":7}`, "/blocks/0/block_id"},
		{`{"type":"section","text":` + text(5) + `,"fields":[]}`, "/blocks/0/fields"},
		{`{"type":"section","fields":[` + repeat(11, text(5)) + `]}`, "1 to 10"},
		{`{"type":"section","fields":[` + text(2001) + `]}`, "less than 2001"},
		{`{"type":"section","text":` + text(5) + `,"expand":"yes"}`, "must be a boolean"},
		{`{"type":"section","text":` + text(5) + `,"expand":true}`, ""},
		{`{"type":"section","text":{"type":"plain_text","text":"x","verbatim":true}}`, "verbatim"},
		{`{"type":"header","text":` + text(5) + `,"level":5}`, "/blocks/0/level"},
		{inActions(`{"type":"button","action_id":"a","text":` + text(5) + `,"color":"red"}`), "invalid additional property: color"},
		{inActions(`{"type":"button","action_id":"a","text":` + text(5) + `,"url":"` + long(3001) + `"}`), "/url"},
		{inActions(`{"type":"button","action_id":"a","text":` + text(5) + `,"accessibility_label":"` + long(76) + `"}`), "accessibility_label"},
		{inActions(`{"type":"button","action_id":"a","text":` + text(5) + `,"confirm":{"title":` + text(5) + `}}`), "/confirm/text"},
		{inActions(`{"type":"button","text":` + text(5) + `}`), ""},
		{inActions(`7`), "/blocks/0/elements/0"},
		{`{"type":"rich_text","elements":[],"text":"x"}`, "invalid additional property: text"},
		{rich("section", "", `{"type":"text","text":"x","style":{"loud":true}}`), "invalid additional property: loud"},
		{rich("section", `"indent":1,`, `{"type":"text","text":"x"}`), "invalid additional property: indent"},
		{inBlock(`{"type":"plain_text_input","action_id":"a","lines":3}`), "invalid additional property: lines"},
		{inBlock(choice("static_select", `"options":[{"text":`+text(5)+`,"value":"v","url":"https://x.example"}]`)), "property: url"},
	})
}

// TestMoreBlocks checks the blocks and elements that not every bot uses.
func TestMoreBlocks(t *testing.T) {
	t.Parallel()
	image := `"image_url":"https://x.example/x.png","alt_text":"a picture"`
	cell, sel := `{"type":"raw_text","text":"x"}`, `"action_id":"a"`
	one := `"options":[` + option("v") + `]`
	table := func(rows string) string { return `{"type":"table","rows":[` + rows + `]}` }
	markdown := func(n int) string { return `{"type":"markdown","text":"` + long(n) + `"}` }
	section := func(accessory string) string {
		return `{"type":"section","text":` + text(5) + `,"accessory":` + accessory + `}`
	}
	checkPosts(t, []refusal{
		{`{"type":"image",` + image + `}`, ""},
		{`{"type":"image",` + image + `,"title":` + text(2001) + `}`, "/title"},
		{`{"type":"image","image_url":"https://x.example/x.png"}`, "/alt_text"},
		{`{"type":"image","alt_text":"x"}`, "exactly one of image_url and slack_file"},
		{`{"type":"context","elements":[{"type":"image",` + image + `},{"type":"mrkdwn","text":"x"}]}`, ""},
		{`{"type":"context","elements":[` + pressable("a") + `]}`, "unsupported type"},
		{section(pressable("a")), ""},
		{section(`{"type":"image",` + image + `}`), ""},
		{section(`{"type":"overflow",` + sel + `,` + one + `}`), ""},
		{section(`{"type":"plain_text_input",` + sel + `}`), "only allowed in input"},
		{section(`{"type":"datetimepicker",` + sel + `}`), "unsupported type"},
		{inActions(`{"type":"datetimepicker",` + sel + `,"initial_date_time":1628633820}`), ""},
		{inActions(`{"type":"datetimepicker",` + sel + `,"initial_date_time":162863}`), "/initial_date_time"},
		{inActions(`{"type":"users_select",` + sel + `,"initial_user":"U1"}`), ""},
		{inActions(`{"type":"conversations_select",` + sel + `,"filter":{"include":["im"]}}`), ""},
		{inActions(`{"type":"conversations_select",` + sel + `,"filter":{"include":["all"]}}`), "/filter/include/0"},
		{inActions(`{"type":"channels_select",` + sel + `}`), ""},
		{inActions(`{"type":"external_select",` + sel + `,"min_query_length":0}`), ""},
		{inActions(`{"type":"overflow",` + sel + `,"options":[` + repeat(6, option("v")) + `]}`), "1 to 5"},
		{inActions(`{"type":"overflow",` + sel + `,"options":[{"text":` + text(5) + `,"value":"v","url":"https://x.example"}]}`), ""},
		{inActions(`{"type":"overflow",` + sel + `,"options":[{"text":{"type":"mrkdwn","text":"x"},"value":"v"}]}`), "/text/type"},
		{inBlock(`{"type":"multi_users_select",` + sel + `,"max_selected_items":0}`), "/max_selected_items"},
		{inBlock(`{"type":"rich_text_input",` + sel + `}`), ""},
		{inBlock(`{"type":"file_input",` + sel + `}`), "unsupported type"},
		{markdown(12_000), ""},
		{markdown(6000) + `,` + markdown(6001), "12000"},
		{table(`[` + cell + `,{"type":"raw_number","value":7},{"type":"rich_text","elements":[]}]`), ""},
		{table(`[`+cell+`]`) + `,` + table(`[`+cell+`]`), "only_one_table_allowed"},
		{table(`[` + repeat(21, cell) + `]`), "1 to 20"},
		{table(`[{"type":"raw_text","text":"` + long(10_001) + `"}]`), "10000"},
		{`{"type":"alert","text":` + text(5) + `}`, "unsupported type"},
		{`{"type":"plan","title":"x","tasks":[{"type":"task_card","task_id":"1","title":"x","status":"complete"}]}`, ""},
		{`{"type":"task_card","task_id":"1","title":"x","status":"done"}`, "/status"},
		{`{"type":"context_actions","elements":[{"type":"icon_button",` + sel + `,"icon":"trash","text":` + text(5) + `}]}`, ""},
		{`{"type":"context_actions","elements":[` + pressable("a") + `]}`, "unsupported type"},
	})
	checkRefusals(t, []refusal{
		{markdown(5), "unsupported type"},
		{table(`[` + cell + `]`), "unsupported type"},
		{`{"type":"alert","text":` + text(5) + `,"level":"warning"}`, ""},
		{inBlock(`{"type":"file_input",` + sel + `,"max_files":2}`), ""},
		{inBlock(`{"type":"email_text_input",`+sel+`,"focus_on_load":true}`) + `,` +
			inBlock(`{"type":"email_text_input",`+sel+`,"focus_on_load":true}`), "focus_on_load"},
	})
}

// TestSDKBlocks checks that what an SDK builds is accepted.
func TestSDKBlocks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	picture := slackgo.NewImageBlockElement("https://x.example/x.png", "a picture")
	leaf := slackgo.NewRichTextSectionTextElement("x", &slackgo.RichTextSectionTextStyle{Bold: true})
	line := slackgo.NewRichTextSection(leaf, slackgo.NewRichTextSectionUserElement(ana, nil),
		slackgo.NewRichTextSectionDateElement(1795356900, "{date_long}", nil, nil), slackgo.NewRichTextSectionEmojiElement("tada", 2, nil))
	menu := slackgo.NewOverflowBlockElement("more", options("a", "b")...)
	menu.Confirm = slackgo.NewConfirmationBlockObject(plain("Sure?"), plain("Really?"), plain("Yes"), plain("No"))
	table := slackgo.NewTableBlock("table").AddRow(slackgo.NewTableRawTextCell("x"), slackgo.NewTableRawNumberCell(7))
	d.post(slackgo.MsgOptionBlocks(
		slackgo.NewHeaderBlock(plain("Header")), slackgo.NewDividerBlock(), slackgo.NewMarkdownBlock("", "**x**"), table,
		slackgo.NewImageBlock("https://x.example/x.png", "a picture", "", plain("Picture")),
		slackgo.NewSectionBlock(plain("x"), []*slackgo.TextBlockObject{plain("y")}, slackgo.NewAccessory(menu)),
		slackgo.NewContextBlock("", picture, plain("x")),
		slackgo.NewRichTextBlock("", line, slackgo.NewRichTextList(slackgo.RTEListOrdered, 1, line)),
		slackgo.NewActionBlock("",
			slackgo.NewDatePickerBlockElement("d"), slackgo.NewTimePickerBlockElement("t"), slackgo.NewDateTimePickerBlockElement("dt"),
			slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeUser, plain("Who"), "u"),
			slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeExternal, plain("What"), "e"),
			slackgo.NewRadioButtonsBlockElement("r", options("a", "b")...),
		),
		input("i", slackgo.NewRichTextInputBlockElement(plain("Words"), "i")),
		slackgo.NewContextActionsBlock("", slackgo.NewIconButtonBlockElement("trash", plain("Remove"), "x")),
	))
}
