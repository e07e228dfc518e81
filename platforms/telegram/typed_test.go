package telegram_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestStart checks what nod does on the commands of every bot, and that a
// linking code in a link to the bot is never confirmed by it.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ chat, text, want string }{
		{"7001", "/start", "who help"},
		{"7001", "/help", "who help"},
		{"7001", "/start abc234", "link abc234"},
		{"7001", "/start abc234 yes", "link abc234"},
		{group, "/help@NOD_sandbox_bot", "who help"},
		{group, "/start", "who help"},
	} {
		t.Run(c.text+" in "+c.chat, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			said := sandbox.Action{Service: "telegram", As: "ana", Do: "send", Channel: c.chat, Text: c.text}
			if _, err := w.Sandbox.Act(t.Context(), said); err != nil {
				t.Fatal(err)
			}
			w.Eventually("ana gets a reply", func() bool { return strings.Contains(w.last("7001"), "carried out") })
			var got []string
			for _, c := range w.sink.Commands() {
				got = append(got, c.Text)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("nod carried out %q, want %q", got, c.want)
			}
			if said := w.last("7001"); strings.Contains(said, "cards with buttons") != (c.want == "who help") {
				t.Errorf("ana reads %q", said)
			}
			if c.chat == group && len(w.messages(group)) > 1 {
				t.Errorf("everyone reads %v", w.messages(group))
			}
		})
	}
}

// TestCommandList checks the commands that clients show.
func TestCommandList(t *testing.T) {
	t.Parallel()
	s, given := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()}), make(chan string, 1)
	t.Cleanup(s.Close)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/setMyCommands") {
			given <- r.FormValue("commands")
		}
		s.ServeHTTP(w, r)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, &platformtest.Recorder{}) }()
	var list []struct{ Command, Description string }
	if err := json.Unmarshal([]byte(<-given), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[0].Command != "nod" || list[1].Command != "help" || list[2].Command != "start" {
		t.Errorf("clients show %+v", list)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestCaption checks that the text below a picture answers a card and a prompt.
func TestCaption(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("first")
	_, at := w.post(bridge.Destination{Channel: group}, v)
	p, err := newPlatform(platformtest.Setup{URL: w.Base, Notes: w.Notes, Callback: "https://nod.example.com/hook"})
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"update_id":1,"message":{"message_id":99,"from":{"id":7001,"first_name":"Ana"},"chat":{"id":%s},`+
		`"caption":"because of this","photo":[{"file_id":"F"}],"reply_to_message":{"message_id":%s,"chat":{"id":%s}}}}`, group, at.Message, group)
	req := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body))
	req.Header = forge{}.Sign(nil, body, v.Record.Interaction.Created)
	p.Handler(w.sink).ServeHTTP(httptest.NewRecorder(), req)
	clicks := w.sink.Clicks()
	if len(clicks) != 1 || clicks[0].Inputs[0].Text != "because of this" || clicks[0].Actor.User != "7001" {
		t.Errorf("the sink got %+v", clicks)
	}
}

// TestCardOfEarlierVersion checks that a card which nod did not invite replies to
// takes them once an edit says so.
func TestCardOfEarlierVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("first")
	ref, at := w.post(bridge.Destination{Channel: group}, v)
	if err := w.Notes.DropNote(t.Context(), "reply:telegram:"+ref.Channel+":"+ref.Message); err != nil {
		t.Fatal(err)
	}
	if err := w.p.Update(t.Context(), ref, v, nil); err != nil {
		t.Fatal(err)
	}
	said := sandbox.Action{Service: "telegram", As: "ana", Do: "reply", Channel: group, Message: at.Message, Text: "because"}
	if _, err := w.Sandbox.Act(t.Context(), said); err != nil {
		t.Fatal(err)
	}
	w.Eventually("the reply counts", func() bool { return len(w.sink.Clicks()) == 1 })
}
