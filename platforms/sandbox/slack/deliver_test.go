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

// listen is an app behind a URL: it verifies signatures, passes on what it
// gets, and gives answers.
func listen(t *testing.T) (d *bench, got chan url.Values, answers chan string) {
	t.Helper()
	got, answers = make(chan url.Values, 9), make(chan string, 9)
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
		said := <-answers
		if said == "500" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, said)
	}))
	t.Cleanup(app.Close)
	return newDesk(t, slack.Options{URL: app.URL}, false), got, answers
}

// TestCommands checks that commands come signed to the URL of the app, and what
// its answers do.
func TestCommands(t *testing.T) {
	t.Parallel()
	d, got, answers := listen(t)
	command := core.Action{As: "ana", Do: "command", Channel: slack.Channel, Text: "/nod list"}
	answers <- `{"text":"only you"}`
	if r := d.Act(command); !r.OK || len(d.e.Notes("ana")) != 1 {
		t.Errorf("command: %+v, notes %q", r, d.e.Notes("ana"))
	}
	if form := <-got; form.Get("command") != "/nod" || form.Get("text") != "list" || form.Get("user_id") != ana {
		t.Errorf("the app got %v", form)
	}
	for said, word := range map[string]string{"500": "HTTP 500", "no": "invalid_response"} {
		answers <- said
		if r := d.Act(command); !strings.Contains(r.Warning, word) {
			t.Errorf("%s: %+v", said, r)
		}
		<-got
	}
	answers <- `{"text":"all of you","response_type":"in_channel"}`
	if r := d.Act(command); !r.OK {
		t.Errorf("public: %+v", r)
	}
}

// TestResponseURLs checks that payloads come signed to the URL of the app, and
// what it can do with their response URLs.
func TestResponseURLs(t *testing.T) {
	t.Parallel()
	d, got, answers := listen(t)
	at := d.post(
		slackgo.MsgOptionText("old", false),
		slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))),
	)
	answers <- ""
	if r, err := core.Press(t.Context(), d.e, "ana", at, "Go"); err != nil || !r.OK {
		t.Fatalf("clicked: %+v %v", r, err)
	}
	var in slackgo.InteractionCallback
	if err := json.Unmarshal([]byte((<-got).Get("payload")), &in); err != nil {
		t.Fatal(err)
	}
	respond := func(body string) int {
		resp, err := http.Post(in.ResponseURL, "application/json", strings.NewReader(body))
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
		{`{"text":"new"}`, 200}, {`{"text":"private"}`, 200},
		{`{"text":"public","response_type":"in_channel"}`, 200}, {`{}`, 400}, {`{`, 400}, {`{"text":"fifth"}`, 200},
		{`{"text":"sixth"}`, 404},
	} {
		if status := respond(x.body); status != x.status {
			t.Errorf("%s: %d", x.body, status)
		}
	}
	if notes := d.e.Notes("ana"); len(notes) != 3 || !strings.Contains(notes[0], "new") {
		t.Errorf("notes %q", notes)
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
	d.Fault(core.Fault{Kind: "event_drop", Count: 1})
	if r := press(); !strings.Contains(r.Warning, "no answer") {
		t.Errorf("dropped: %+v", r)
	}
	d.Fault(core.Fault{Kind: "event_delay", Delay: time.Millisecond, Count: 1})
	d.Fault(core.Fault{Kind: "event_duplicate", Count: 1})
	if r := press(); !r.OK || len(got) != 2 {
		t.Errorf("duplicated: %+v, delivered %d times", r, len(got))
	}
	d.Fault(core.Fault{Kind: "refuse_connect"})
	if err := d.e.Disconnect(0); err != nil {
		t.Fatal(err)
	}
	d.Eventually("the socket is gone", func() bool { return d.connections() == 0 })
	d.Hub.ClearFaults()
	d.Eventually("it is there again", func() bool { return d.connections() == 1 })
	resp, err := http.Get(d.URL + "/slack/socket?ticket=none")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusForbidden {
		t.Errorf("an unknown ticket: %s", resp.Status)
	}
}

// TestLostSocket checks that a member reads that no app is connected if the socket
// of the app ends before the acknowledgment. The clock does not move.
func TestLostSocket(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))))
	d.connect(func(socketmode.EventType, json.RawMessage) any {
		d.Fault(core.Fault{Kind: "refuse_connect"})
		if err := d.e.Disconnect(0); err != nil {
			t.Error(err)
		}
		d.Eventually("the socket is gone", func() bool { return d.connections() == 0 })
		return nil
	})
	if r, err := core.Press(t.Context(), d.e, "ana", at, "Go"); err != nil || !strings.Contains(r.Warning, core.ErrNoReceiver.Error()) {
		t.Errorf("%+v, %v", r, err)
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
			d.URL+"/slack/api/"+method,
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
		{"chat.postMessage", form, "channel=" + slack.Channel + "&blocks=%5B", "invalid_blocks_format"},
		{"chat.postMessage", json, `{"channel":"` + slack.Channel + `","blocks":"[{\"type\":\"divider\"}]"}`, `"ok":true`},
		{"chat.postMessage", json, `{"channel":"` + slack.Channel + `","text":"x","blocks":"{}"}`, "invalid_blocks_format"},
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
	for _, f := range []core.Fault{{Kind: "page", Status: 502}, {Kind: "drop"}, {Kind: "drop_after"}, {Kind: "half"}} {
		d.Hub.ClearFaults()
		d.Fault(f)
		if got := call("auth.test", json, ""); !strings.Contains(got, "upstream error") && !strings.Contains(got, "EOF") {
			t.Errorf("%s: %s", f.Kind, got)
		}
	}
}
