package slack_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// raw posts blocks in JSON and returns the place of the message.
func (d *bench) raw(blocks string) core.Action {
	d.T.Helper()
	answer := d.call("chat.postMessage", `{"channel":"`+slack.Channel+`","text":"x","blocks":[`+blocks+`]}`)
	ts, _ := answer["ts"].(string)
	if ts == "" {
		d.T.Fatal(answer)
	}
	return core.Action{Channel: slack.Channel, Message: ts}
}

const two = `"options":[{"text":{"type":"plain_text","text":"One"},"value":"1"},{"text":{"type":"plain_text","text":"Two"},"value":"2"}]`

// TestElements checks that every interactive element sends its own click, and
// what the bot learns from it.
func TestElements(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	for name, x := range map[string]struct {
		element, value string
		got            func(a *slackgo.BlockAction) string
	}{
		"static_select":       {two, "2", func(a *slackgo.BlockAction) string { return a.SelectedOption.Value }},
		"radio_buttons":       {two, "2", func(a *slackgo.BlockAction) string { return a.SelectedOption.Value }},
		"overflow":            {two, "2", func(a *slackgo.BlockAction) string { return a.SelectedOption.Value }},
		"checkboxes":          {two, "2", func(a *slackgo.BlockAction) string { return a.SelectedOptions[0].Value }},
		"multi_static_select": {two, "2", func(a *slackgo.BlockAction) string { return a.SelectedOptions[0].Value }},
		"users_select":        {"", bo, func(a *slackgo.BlockAction) string { return a.SelectedUser }},
		"datepicker":          {"", "2026-11-22", func(a *slackgo.BlockAction) string { return a.SelectedDate }},
		"timepicker":          {"", "14:15", func(a *slackgo.BlockAction) string { return a.SelectedTime }},
		"datetimepicker": {"", "1795356900", func(a *slackgo.BlockAction) string {
			return map[bool]string{true: "1795356900"}[a.SelectedDateTime == 1795356900]
		}},
	} {
		element := `{"type":"` + name + `","action_id":"pick"` + strings.TrimSuffix(","+x.element, ",") + `}`
		at := d.raw(`{"type":"actions","block_id":"b","elements":[` + element + `]}`)
		at.Control, at.Values = "pick", map[string][]string{"b": {x.value}}
		in := d.clicked(at)
		if a := in.ActionCallback.BlockActions[0]; string(a.Type) != name || a.BlockID != "b" || x.got(a) != x.value {
			t.Errorf("%s: the bot gets %+v", name, a)
		}
		if name != "overflow" && len(in.BlockActionState.Values["b"]) != 1 {
			t.Errorf("%s: the state is %+v", name, in.BlockActionState)
		}
		at.Values = map[string][]string{"b": {"none"}}
		at.As, at.Do = "ana", "press"
		if r, err := d.e.Act(t.Context(), at); err == nil && name != "overflow" {
			t.Errorf("%s takes a value that it does not offer: %+v", name, r)
		} else if err == nil {
			<-d.last
		}
	}
}

// TestAccessories checks that an element next to a section works, that its ID
// tells it from others with the same action ID, and that items of a menu are
// controls.
func TestAccessories(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	open := func(id string) string {
		return `{"type":"section","block_id":"` + id + `","text":` + text(5) + `,"accessory":` + pressable("open") + `}`
	}
	at := d.raw(open("one") + `,` + open("two") + `,` + inActions(`{"type":"overflow","action_id":"more",`+two+`}`))
	at.Control = "two/open"
	if a := d.clicked(at).ActionCallback.BlockActions[0]; a.BlockID != "two" || a.ActionID != "open" {
		t.Errorf("the bot gets %+v", a)
	}
	place := core.Place{Service: slack.Name, Channel: at.Channel, Message: at.Message}
	if r, err := core.Press(t.Context(), d.e, "ana", place, "Two"); err != nil || !r.OK {
		t.Fatalf("%+v %v", r, err)
	}
	if a := (<-d.last).ActionCallback.BlockActions[0]; a.ActionID != "more" || a.SelectedOption.Value != "2" || a.BlockID == "" {
		t.Errorf("the bot gets %+v", a)
	}
}

// TestSeveralInOneBlock checks that a block with several elements keeps the
// value of each, and that a value that no longer fits is forgotten.
func TestSeveralInOneBlock(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	sel := func(id string) string { return `{"type":"static_select","action_id":"` + id + `",` + two + `}` }
	at := d.raw(`{"type":"actions","block_id":"b","elements":[` + sel("x") + `,` + sel("y") + `,` + pressable("go") + `]}`)
	at.Control, at.Values = "x", map[string][]string{"b/x": {"2"}, "b/y": {"1"}}
	d.clicked(at)
	at.Control, at.Values = "go", nil
	state := d.clicked(at).BlockActionState.Values["b"]
	if state["x"].SelectedOption.Value != "2" || state["y"].SelectedOption.Value != "1" {
		t.Errorf("the state is %+v", state)
	}
	less := strings.Replace(sel("x"), `"value":"2"`, `"value":"3"`, 1)
	d.call("chat.update", `{"channel":"`+at.Channel+`","ts":"`+at.Message+`","text":"x","blocks":[`+
		`{"type":"actions","block_id":"b","elements":[`+less+`,`+sel("y")+`,`+pressable("go")+`]}]}`)
	state = d.clicked(at).BlockActionState.Values["b"]
	if state["x"].SelectedOption.Value != "" || state["y"].SelectedOption.Value != "1" {
		t.Errorf("after a redraw, the state is %+v", state)
	}
}

// TestEphemeralClicks checks that a private message works, without its content
// in the payload, and that its response URL adds another one.
func TestEphemeralClicks(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	note := `{"channel":"` + slack.Channel + `","user":"` + ana + `","text":"x","blocks":[` + inActions(pressable("go")) + `]}`
	answer := d.call("chat.postEphemeral", note)
	ts, _ := answer["message_ts"].(string)
	in := d.clicked(core.Action{Channel: slack.Channel, Message: ts, Control: "go"})
	if !in.Container.IsEphemeral || in.Message.Timestamp != "" || in.Container.MessageTs != ts {
		t.Errorf("the bot gets %+v", in.Container)
	}
	resp, err := http.Post(in.ResponseURL, "application/json", strings.NewReader(`{"text":"new"}`))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if notes := d.e.Notes("ana"); len(notes) != 2 || !strings.Contains(notes[1], "new") {
		t.Errorf("notes %q", notes)
	}
	a := core.Action{As: "bo", Do: "press", Channel: slack.Channel, Message: ts, Control: "go"}
	if _, err := d.e.Act(t.Context(), a); err == nil {
		t.Error("Bo uses a message that only Ana sees")
	}
}

// TestResponseURLIsAbsolute checks that a bot that has not called the API yet
// can use the response URL of a command.
func TestResponseURLIsAbsolute(t *testing.T) {
	t.Parallel()
	d, got, answers := listen(t)
	answers <- ""
	d.Act(core.Action{As: "ana", Do: "command", Channel: slack.Channel, Text: "/nod list"})
	u, err := url.Parse((<-got).Get("response_url"))
	if err != nil || u.Scheme != "http" || u.Host == "" || !strings.HasPrefix(u.Path, "/slack/response/") {
		t.Errorf("response URL %v %v", u, err)
	}
}

// TestModalStack checks that at most three modals are open, which one is visible
// after another was closed, and the errors of triggers.
func TestModalStack(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	ctx := t.Context()
	trigger := func() string {
		return d.clicked(core.Action{Channel: d.at.Channel, Message: d.at.Message, Control: "go"}).TriggerID
	}
	told := modal(slackgo.NewSectionBlock(plain("text"), nil, nil))
	_, err := d.api.OpenViewContext(ctx, "1.2.3", told)
	d.refused("invalid_trigger_id", err)
	_, err = d.api.PushViewContext(ctx, trigger(), told)
	d.refused("invalid_trigger_id", err)
	first, err := d.api.OpenViewContext(ctx, trigger(), told)
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.api.PushViewContext(ctx, trigger(), told)
	if err != nil || second.RootViewID != first.ID || second.PreviousViewID != first.ID {
		t.Fatalf("pushed %+v %v", second, err)
	}
	third, err := d.api.PushViewContext(ctx, trigger(), told)
	if err != nil || third.RootViewID != first.ID || third.PreviousViewID != second.ID {
		t.Fatalf("pushed %+v %v", third, err)
	}
	_, err = d.api.PushViewContext(ctx, trigger(), told)
	d.refused("push_limit_reached", err)
	if _, err := d.e.Act(ctx, core.Action{As: "ana", Do: "submit", View: first.ID}); err == nil {
		t.Error("submitted a modal that is not on top")
	}
	if r := d.Act(core.Action{As: "ana", Do: "close", View: third.ID}); r.Modal != second.ID {
		t.Errorf("below: %+v", r)
	}
	if r := d.Act(core.Action{As: "ana", Do: "close", View: second.ID, Text: "all"}); r.Modal != "" {
		t.Errorf("below: %+v", r)
	}
}

// TestModalClicks checks clicks on a modal, and answers that push and clear.
func TestModalClicks(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	in := d.clicked(core.Action{Channel: d.at.Channel, Message: d.at.Message, Control: "go"})
	sel := slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, nil, "pick", options("x", "y")...)
	v := modal(slackgo.NewActionBlock("acts", button("go", "Go"), sel))
	v.ExternalID = "mine"
	opened, err := d.api.OpenViewContext(t.Context(), in.TriggerID, v)
	if err != nil {
		t.Fatal(err)
	}
	in = d.clicked(core.Action{View: opened.ID, Control: "pick", Values: map[string][]string{"acts": {"y"}}})
	if in.Container.ViewID != opened.ID || in.View.Hash == "" || in.ResponseURL != "" || in.Message.Timestamp != "" ||
		in.View.State.Values["acts"]["pick"].SelectedOption.Value != "y" {
		t.Errorf("the bot gets %+v", in)
	}
	_, err = d.api.PushViewContext(t.Context(), in.TriggerID, v)
	d.refused("duplicate_external_id", err)
	if _, err := d.api.UpdateViewContext(t.Context(), v, "mine", "", ""); err != nil {
		t.Error(err)
	}
}

// TestHomeClicks checks that the Home tab works and keeps its ID.
func TestHomeClicks(t *testing.T) {
	t.Parallel()
	d := newDealer(t)
	publish := func(hash string) (*slackgo.ViewResponse, error) {
		blocks := slackgo.Blocks{BlockSet: []slackgo.Block{slackgo.NewActionBlock("acts", button("go", "Go"))}}
		view := slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: blocks}
		return d.api.PublishViewContext(t.Context(), slackgo.PublishViewContextRequest{UserID: ana, View: view, Hash: &hash})
	}
	home, err := publish("")
	if err != nil {
		t.Fatal(err)
	}
	in := d.clicked(core.Action{View: home.ID, Control: "go"})
	if in.Container.ViewID != home.ID || in.View.Type != slackgo.VTHomeTab {
		t.Errorf("the bot gets %+v", in)
	}
	again, err := publish(home.Hash)
	if err != nil || again.ID != home.ID {
		t.Errorf("published %+v %v", again, err)
	}
	_, err = publish(home.Hash)
	d.refused("hash_conflict", err)
}

// TestMembersWrite checks messages and replies of members, and the stop button of an
// agent.
func TestMembersWrite(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	events := make(chan any, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		e, err := slackevents.ParseEvent(payload, slackevents.OptionNoVerifyToken())
		if err != nil {
			t.Error(err)
		}
		events <- e.InnerEvent.Data
		return nil
	})
	d.Act(core.Action{As: "ana", Do: "send", Channel: slack.Channel, Text: "hello <@" + slack.BotUser + "> & <b>"})
	said, _ := (<-events).(*slackevents.MessageEvent)
	if said == nil || said.User != ana || said.Text != "hello <@"+slack.BotUser+"> &amp; &lt;b&gt;" {
		t.Fatalf("the bot gets %+v", said)
	}
	if mention, _ := (<-events).(*slackevents.AppMentionEvent); mention == nil || mention.TimeStamp != said.TimeStamp {
		t.Errorf("the bot gets %+v", mention)
	}
	d.Act(core.Action{As: "bo", Do: "reply", Channel: slack.Channel, Message: said.TimeStamp, Text: "yes"})
	if reply, _ := (<-events).(*slackevents.MessageEvent); reply == nil || reply.ThreadTimeStamp != said.TimeStamp {
		t.Errorf("the bot gets %+v", reply)
	} else if reply.Message.ParentUserId != ana {
		t.Errorf("the thread was started by %q", reply.Message.ParentUserId)
	}
	d.Fault(core.Fault{Kind: "missing_scope", Method: "channels:history"})
	d.Act(core.Action{As: "bo", Do: "send", Channel: slack.Channel, Text: "the bot may not read this"})
	stop := core.Action{As: "ana", Do: "stop", Channel: slack.Channel, Message: said.TimeStamp}
	if _, err := d.e.Act(t.Context(), stop); err == nil {
		t.Error("stopped an agent that is not working")
	}
	set := slackgo.AgentSessionSetStatusParameters{
		Status: "processing", ChannelID: slack.Channel, ThreadTS: said.TimeStamp, Title: "release-42",
	}
	if s, err := d.api.SetAgentSessionStatusContext(t.Context(), set); err != nil || s.AgentStatus != "processing" {
		t.Fatalf("%+v %v", s, err)
	}
	d.Act(stop)
	if e, _ := (<-events).(*slackevents.AgentSessionStoppedEvent); e == nil || e.ThreadTimestamp != said.TimeStamp || e.User != ana {
		t.Errorf("the bot gets %+v", e)
	}
}
