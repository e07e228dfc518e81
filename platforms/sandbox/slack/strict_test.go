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

// TestMoreBlocks checks elements by their place, and that blocks and elements
// that no known client sends are refused.
func TestMoreBlocks(t *testing.T) {
	t.Parallel()
	const sel = `"action_id":"a"`
	one := `"options":[` + option("v") + `]`
	section := func(accessory string) string {
		return `{"type":"section","text":` + text(5) + `,"accessory":` + accessory + `}`
	}
	checkPosts(t, []refusal{
		{`{"type":"image","image_url":"https://x.example/x.png","alt_text":"a picture"}`, "unsupported type"},
		{`{"type":"context","elements":[` + pressable("a") + `]}`, "unsupported type"},
		{section(pressable("a")), ""},
		{section(`{"type":"external_select",` + sel + `}`), "unsupported type"},
		{section(`{"type":"overflow",` + sel + `,` + one + `}`), ""},
		{section(`{"type":"plain_text_input",` + sel + `}`), "only allowed in input"},
		{section(`{"type":"datetimepicker",` + sel + `}`), "unsupported type"},
		{inActions(`{"type":"datetimepicker",` + sel + `,"initial_date_time":1628633820}`), ""},
		{inActions(`{"type":"datetimepicker",` + sel + `,"initial_date_time":162863}`), "/initial_date_time"},
		{inActions(`{"type":"users_select",` + sel + `,"initial_user":"U1"}`), ""},
		{inActions(`{"type":"overflow",` + sel + `,"options":[` + repeat(6, option("v")) + `]}`), "1 to 5"},
		{inActions(`{"type":"overflow",` + sel + `,"options":[{"text":` + text(5) + `,"value":"v","url":"https://x.example"}]}`), ""},
		{inActions(`{"type":"overflow",` + sel + `,"options":[{"text":{"type":"mrkdwn","text":"x"},"value":"v"}]}`), "/text/type"},
		{inBlock(`{"type":"multi_static_select",` + sel + `,"max_selected_items":0,` + one + `}`), "/max_selected_items"},
	})
	checkRefusals(t, []refusal{
		{inBlock(`{"type":"email_text_input",`+sel+`,"focus_on_load":true}`) + `,` +
			inBlock(`{"type":"email_text_input",`+sel+`,"focus_on_load":true}`), "focus_on_load"},
	})
}

// TestSDKBlocks checks that what an SDK builds is accepted.
func TestSDKBlocks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	leaf := slackgo.NewRichTextSectionTextElement("x", &slackgo.RichTextSectionTextStyle{Bold: true})
	line := slackgo.NewRichTextSection(leaf, slackgo.NewRichTextSectionUserElement(ana, nil),
		slackgo.NewRichTextSectionDateElement(1795356900, "{date_long}", nil, nil))
	menu := slackgo.NewOverflowBlockElement("more", options("a", "b")...)
	menu.Confirm = slackgo.NewConfirmationBlockObject(plain("Sure?"), plain("Really?"), plain("Yes"), plain("No"))
	d.post(slackgo.MsgOptionBlocks(
		slackgo.NewHeaderBlock(plain("Header")), slackgo.NewDividerBlock(),
		slackgo.NewSectionBlock(plain("x"), []*slackgo.TextBlockObject{plain("y")}, slackgo.NewAccessory(menu)),
		slackgo.NewContextBlock("", plain("x")),
		slackgo.NewRichTextBlock("", line, slackgo.NewRichTextList(slackgo.RTEListOrdered, 1, line)),
		slackgo.NewActionBlock("",
			slackgo.NewDatePickerBlockElement("d"), slackgo.NewTimePickerBlockElement("t"), slackgo.NewDateTimePickerBlockElement("dt"),
			slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeUser, plain("Who"), "u"),
			slackgo.NewRadioButtonsBlockElement("r", options("a", "b")...),
		),
	))
}
