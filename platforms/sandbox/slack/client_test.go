package slack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// form is a modal with an input of each kind.
func form() slackgo.ModalViewRequest {
	note := slackgo.NewPlainTextInputBlockElement(nil, "a")
	note.MinLength, note.MaxLength = 3, 5
	size := slackgo.NewNumberInputBlockElement(nil, "a", false)
	size.MinValue, size.MaxValue = "1", "9"
	date := slackgo.NewDatePickerBlockElement("a")
	date.InitialDate = "2026-01-01"
	v := modal(
		input("note", note),
		input("size", size),
		input("date", date),
		input("time", slackgo.NewTimePickerBlockElement("a")),
		input(
			"mail",
			slackgo.NewEmailTextInputBlockElement(nil, "a"),
		),
		input("link", slackgo.NewURLTextInputBlockElement(nil, "a")),
		input("one", slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, nil, "a", options("x", "y")...)),
		input("radio", slackgo.NewRadioButtonsBlockElement("a", options("x", "y")...)),
		input("many", slackgo.NewCheckboxGroupsBlockElement("a", options("x", "y")...)),
	)
	v.CallbackID = "form"
	return v
}

var formValues = [][]string{{"abcd"},
	{"7"}, nil, {"12:30"},
	{"ana@example.com"},
	{"https://x.example"},
	{"Label y"},
	{"Label x"},
	{"Label x", "Label y"}}

// TestForm checks that a press opens a modal, which the client and the app
// check, and that the app gets what the member put in.
func TestForm(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("open", "Open the form"))))
	submitted, pressed := make(chan slackgo.InteractionCallback, 9), make(chan slackgo.InteractionCallback, 9)
	var answers []any
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		if json.Unmarshal(payload, &in) != nil {
			return nil
		}
		if in.Type == slackgo.InteractionTypeViewSubmission {
			submitted <- in
			answer := answers[0]
			answers = answers[1:]
			return answer
		}
		pressed <- in
		if _, err := d.api.OpenViewContext(ctx, in.TriggerID, form()); err != nil {
			t.Error(err)
		}
		return nil
	})
	r, err := core.Press(ctx, d.e, "ana", at, "Open")
	if err != nil || !r.OK || r.Modal == "" {
		t.Fatalf("pressed: %+v %v", r, err)
	}
	if in := <-pressed; in.User.ID != ana || in.ActionCallback.BlockActions[0].Value != "value of open" ||
		in.Message.Timestamp != at.Message {
		t.Errorf("the app got %+v", in)
	}
	early, err := core.Fill(ctx, d.e, "ana", r.Modal, [][]string{{"ab"}, {"10"}, nil, {"12:30"}, {"ana"}, {"x"}})
	if err != nil || len(early.Errors) != 7 {
		t.Errorf("the client finds %v %v", early, err)
	}
	answers = []any{
		slackgo.NewErrorsViewSubmissionResponse(map[string]string{"note": "no"}),
		slackgo.NewErrorsViewSubmissionResponse(map[string]string{"none": "no"}),
		map[string]any{"response_action": "update", "view": modal()},
		map[string]any{"response_action": "dance"},
		nil,
	}
	fill := func() core.Reaction {
		r, err := core.Fill(ctx, d.e, "ana", r.Modal, formValues)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := fill(); r.Errors["note"] != "no" {
		t.Errorf("errors: %+v", r)
	}
	for range 3 {
		if r := fill(); !strings.Contains(r.Warning, "trouble") {
			t.Errorf("a bad answer: %+v", r)
		}
	}
	if r := fill(); !r.OK {
		t.Errorf("closed: %+v", r)
	}
	if _, open := d.e.Inputs(r.Modal); open {
		t.Error("the modal is still open")
	}
	v := (<-submitted).View.State.Values
	if v["note"]["a"].Value != "abcd" || v["size"]["a"].Value != "7" || v["date"]["a"].SelectedDate != "2026-01-01" ||
		v["time"]["a"].SelectedTime != "12:30" ||
		v["one"]["a"].SelectedOption.Value != "y" || v["radio"]["a"].SelectedOption.Value != "x" ||
		len(v["many"]["a"].SelectedOptions) != 2 {
		t.Errorf("the app got %+v", v)
	}
}

// TestImpossible checks that a member cannot do what the client does not offer.
func TestImpossible(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))))
	press := core.Action{As: "ana", Do: "press", Channel: at.Channel, Message: at.Message, Control: "go"}
	for word, change := range map[string]func(*core.Action){
		"no member":           func(a *core.Action) { a.As = "zoe" },
		"can not":             func(a *core.Action) { a.Do = "dance" },
		"no channel":          func(a *core.Action) { a.Channel = "C0NONE" },
		"no message":          func(a *core.Action) { a.Message = "1.1" },
		"no control":          func(a *core.Action) { a.Control = "stop" },
		"there is no input":   func(a *core.Action) { a.Values = map[string][]string{"none": {"x"}} },
		"is open":             func(a *core.Action) { a.Do = "close" },
		"is open for ana":     func(a *core.Action) { a.Do = "submit" },
		"no command \"mute\"": func(a *core.Action) { a.Do, a.Text = "command", "mute" },
	} {
		a := press
		change(&a)
		if _, err := d.e.Act(t.Context(), a); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
	if r := d.act(press); !strings.Contains(r.Warning, "nobody is connected") {
		t.Errorf("without a socket: %+v", r)
	}
}

// TestPick checks that a select on a message is sent with the press.
func TestPick(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	at := d.post(slackgo.MsgOptionBlocks(
		input(
			"many",
			slackgo.NewCheckboxGroupsBlockElement("a", options("x", "y")...),
		),
		slackgo.NewActionBlock("acts", button("send", "Send")),
	))
	if got := labels(d.e.Controls(d.e.Message(at.Channel, at.Message))); strings.Join(got, ",") != "Field many,Send" {
		t.Errorf("controls %q", got)
	}
	got := make(chan slackgo.InteractionCallback, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		_ = json.Unmarshal(payload, &in)
		got <- in
		return nil
	})
	if r, err := d.e.Pick(t.Context(), "bo", at, []string{"Label y"}, "Send"); err != nil || !r.OK {
		t.Fatalf("picked: %+v %v", r, err)
	}
	if s := (<-got).BlockActionState.Values["many"]["a"].SelectedOptions; len(s) != 1 || s[0].Value != "y" {
		t.Errorf("the app got %+v", s)
	}
	if _, err := d.e.Pick(t.Context(), "bo", at, []string{"Label z"}, "Send"); err == nil {
		t.Error("picked an option that is not there")
	}
}

// TestStack checks views.push, views.update and the errors of triggers.
func TestStack(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{TriggerTTL: 300 * time.Millisecond}, false), t.Context()
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("open", "Open"))))
	triggers := make(chan string, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		_ = json.Unmarshal(payload, &in)
		triggers <- in.TriggerID
		return nil
	})
	trigger := func() string {
		if _, err := core.Press(ctx, d.e, "ana", at, "Open"); err != nil {
			t.Fatal(err)
		}
		return <-triggers
	}
	section := slackgo.NewSectionBlock(plain("text"), nil, nil)
	used := trigger()
	first, err := d.api.OpenViewContext(ctx, used, modal(section))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.api.OpenViewContext(ctx, used, modal(section))
	d.refused("exchanged_trigger_id", err)
	if _, err := d.api.PushViewContext(ctx, trigger(), modal(section)); err != nil {
		t.Error(err)
	}
	if _, err := d.api.UpdateViewContext(ctx, modal(section), "", first.Hash, first.ID); err != nil {
		t.Error(err)
	}
	_, err = d.api.UpdateViewContext(ctx, modal(section), "", first.Hash, first.ID)
	d.refused("hash_conflict", err)
	_, err = d.api.UpdateViewContext(ctx, modal(section), "", "", "V0NONE")
	d.refused("not_found", err)
	_, err = d.api.UpdateViewContext(ctx, modal(), "", "", first.ID)
	d.refused("invalid_arguments", err)
	late := trigger()
	d.hub.Lock()
	views := len(d.e.State().Views)
	d.hub.Unlock()
	if r := d.act(core.Action{As: "ana", Do: "close", View: first.ID}); !r.OK || views != 2 {
		t.Errorf("%d views; closed: %+v", views, r)
	}
	time.AfterFunc(400*time.Millisecond, func() { d.hub.Lock(); d.hub.Touch(); d.hub.Unlock() })
	start := time.Now()
	d.within("the trigger expires", func() bool { return time.Since(start) > 350*time.Millisecond })
	_, err = d.api.OpenViewContext(ctx, late, modal(section))
	d.refused("expired_trigger_id", err)
}

// TestHome checks the Home tab.
func TestHome(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	publish := func(view slackgo.HomeTabViewRequest, user string) error {
		_, err := d.api.PublishViewContext(ctx, slackgo.PublishViewContextRequest{UserID: user, View: view})
		return err
	}
	blocks := slackgo.Blocks{BlockSet: []slackgo.Block{slackgo.NewHeaderBlock(plain("Welcome home"))}}
	d.connect(func(kind socketmode.EventType, _ json.RawMessage) any {
		if kind == socketmode.EventTypeEventsAPI {
			if err := publish(slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: blocks}, ana); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if said, err := d.e.Home(ctx, "ana"); err != nil || !strings.Contains(said, "Welcome home") {
		t.Errorf("home: %q %v", said, err)
	}
	many := slackgo.Blocks{}
	for range 101 {
		many.BlockSet = append(many.BlockSet, slackgo.NewDividerBlock())
	}
	wrong := slackgo.Blocks{BlockSet: []slackgo.Block{slackgo.NewHeaderBlock(plain(""))}}
	d.refused("invalid_arguments", publish(slackgo.HomeTabViewRequest{Type: slackgo.VTModal, Blocks: blocks}, ana))
	d.refused("invalid_arguments", publish(slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: many}, ana))
	d.refused("invalid_arguments", publish(slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: wrong}, ana))
	d.fault(core.Fault{Kind: "event_drop"})
	if said, err := d.e.Home(ctx, "ana"); err != nil || !strings.Contains(said, "stays as it was") {
		t.Errorf("dropped: %q %v", said, err)
	}
}

// TestHTTP checks that payloads, commands and events come signed to the URL of
// the app, and what response URLs do.
func TestHTTP(t *testing.T) {
	t.Parallel()
	got := make(chan url.Values, 9)
	answer := make(chan string, 9)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, err := slackgo.NewSecretsVerifier(r.Header, slack.SigningSecret)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = v.Write(body)
		if err := v.Ensure(); err != nil {
			t.Error(err)
		}
		form, _ := url.ParseQuery(string(body))
		got <- form
		said := <-answer
		if said == "500" {
			w.WriteHeader(500)
		}
		_, _ = io.WriteString(w, said)
	}))
	defer app.Close()
	d, ctx := newDesk(t, slack.Options{URL: app.URL}, false), t.Context()
	at := d.post(
		slackgo.MsgOptionText("old", false),
		slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))),
	)
	command := core.Action{As: "ana", Do: "command", Channel: slack.Channel, Text: "/nod list"}
	answer <- `{"text":"only you"}`
	if r := d.act(command); !r.OK || len(d.e.Notes("ana")) != 1 {
		t.Errorf("command: %+v, notes %q", r, d.e.Notes("ana"))
	}
	if form := <-got; form.Get("command") != "/nod" || form.Get("text") != "list" || form.Get("user_id") != ana {
		t.Errorf("the app got %v", form)
	}
	for said, word := range map[string]string{"500": "HTTP 500", "no": "invalid_response"} {
		answer <- said
		if r := d.act(command); !strings.Contains(r.Warning, word) {
			t.Errorf("%s: %+v", said, r)
		}
		<-got
	}
	answer <- `{"text":"all of you","response_type":"in_channel"}`
	d.act(command)
	<-got
	answer <- ""
	if r, err := core.Press(ctx, d.e, "ana", at, "Go"); err != nil || !r.OK {
		t.Fatalf("pressed: %+v %v", r, err)
	}
	var in slackgo.InteractionCallback
	if err := json.Unmarshal([]byte((<-got).Get("payload")), &in); err != nil {
		t.Fatal(err)
	}
	respond := func(body string) int {
		resp, err := http.Post(d.url+in.ResponseURL, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, x := range []struct {
		body   string
		status int
	}{
		{`{"text":"new","replace_original":true}`, 200}, {`{"text":"private"}`, 200},
		{`{"text":"public","response_type":"in_channel"}`, 200}, {`{}`, 400}, {`{`, 400}, {`{"text":"fifth"}`, 200},
		{`{"text":"sixth"}`, 404},
	} {
		if status := respond(x.body); status != x.status {
			t.Errorf("%s: %d", x.body, status)
		}
	}
	if said := d.e.Sees("ana", at); !strings.Contains(said, "new") || len(d.e.Notes("ana")) != 3 {
		t.Errorf("shows %q, notes %q", said, d.e.Notes("ana"))
	}
}

// TestEventFaults checks the faults of what people do, and that sockets are
// recycled and refused.
func TestEventFaults(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))))
	got := make(chan bool, 9)
	d.connect(func(socketmode.EventType, json.RawMessage) any { got <- true; return nil })
	press := func() core.Reaction {
		r, err := core.Press(ctx, d.e, "ana", at, "Go")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	d.fault(core.Fault{Kind: "event_drop", Count: 1})
	if r := press(); !strings.Contains(r.Warning, "no answer") {
		t.Errorf("dropped: %+v", r)
	}
	d.fault(core.Fault{Kind: "event_delay", Delay: time.Millisecond, Count: 1})
	d.fault(core.Fault{Kind: "event_duplicate", Count: 1})
	if r := press(); !r.OK || len(got) != 2 {
		t.Errorf("duplicated: %+v, delivered %d times", r, len(got))
	}
	d.fault(core.Fault{Kind: "refuse_connect", Count: 1})
	if err := d.e.Disconnect(0); err != nil {
		t.Fatal(err)
	}
	d.within("the socket is gone", func() bool { return d.connections() == 0 })
	d.within("it is there again", func() bool { return d.connections() == 1 })
	resp, err := http.Get(d.url + "/slack/socket?ticket=none")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusForbidden {
		t.Errorf("an unknown ticket: %s", resp.Status)
	}
}

// TestArguments checks how arguments are read, and what is answered to what
// cannot be read.
func TestArguments(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	call := func(method, kind, body string) string {
		req, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodPost,
			d.url+"/slack/api/"+method,
			strings.NewReader(body),
		)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", "Bearer "+slack.BotToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	const json, form = "application/json; charset=utf-8", "application/x-www-form-urlencoded"
	for _, x := range []struct{ method, kind, body, word string }{
		{"chat.postMessage", json, `{"channel":"` + slack.Channel + `","text":"x"}`, `"ok":true`},
		{"chat.postMessage", json, `{`, "invalid_json"},
		{"chat.postMessage", json, `{"channel":"` + slack.Channel + `","text":"x","blocks":7}`, "invalid_blocks_format"},
		{"chat.postMessage", form, "channel=" + slack.Channel + "&blocks=%5B", "invalid_arguments"},
		{"chat.postMessage", form, "channel=" + slack.Channel + "&blocks=&text=x", `"ok":true`},
		{"chat.postMessage", "multipart/form-data", "", "invalid_form_data"},
		{"auth.test", json, "", `"ok":true`},
		{"views.open", json, "{}", "invalid_arguments"},
		{"views.publish", json, "{}", "invalid_arguments"},
		{"files.upload", json, "{}", "unknown_method"},
	} {
		if got := call(x.method, x.kind, x.body); !strings.Contains(got, x.word) {
			t.Errorf("%s %s: %s, want %s", x.method, x.body, got, x.word)
		}
	}
	for _, f := range []core.Fault{{Kind: "error", Status: 502}, {Kind: "drop"}, {Kind: "drop_after"}, {Kind: "half"}} {
		d.hub.ClearFaults()
		d.fault(f)
		if got := call("auth.test", json, ""); !strings.Contains(got, "upstream error") && !strings.Contains(got, "EOF") {
			t.Errorf("%s: %s", f.Kind, got)
		}
	}
}
