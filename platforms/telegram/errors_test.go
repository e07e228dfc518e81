package telegram_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestErrors checks that each known error of each call is about what the table
// says, and stops nothing else.
func TestErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Connected()
	d := bridge.Destination{Channel: group}
	v := w.question("ready?")
	ref, at := w.post(d, v)
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{Interaction: v.Record.Interaction.ID, Option: bridge.OptionForm}}, nil)
	long := w.question(strings.Repeat("long ", 2000))
	post := func(v bridge.View) func() error {
		return func() error {
			_, err := w.p.Post(t.Context(), d, v, bridge.NewParts(nil, nil))
			return err
		}
	}
	w.Answers([]platformtest.Call{
		{Method: "sendMessage", Make: post(v)},
		{Method: "sendDocument", Make: post(long)},
		{Method: "editMessageMedia", Make: post(long)},
		{Method: "editMessageText", Make: func() error { return w.p.Update(t.Context(), ref, v, nil) }},
		{Method: "sendMessage", Make: func() error { return w.p.Tell(t.Context(), "7001", "hello") }},
		{Method: "sendMessage", Make: func() error {
			return w.p.Remind(t.Context(), d, ref, bridge.Reminder{Users: []string{"7001"}, Text: "still waiting"})
		}},
		{
			Method: "getChatMember", Other: map[platforms.About]platforms.About{platforms.AboutPerson: platforms.AboutNothing},
			Make: func() error {
				_, err := w.p.Belongs(t.Context(), group, "7001")
				return err
			},
		},
		{Method: "answerCallbackQuery", Silent: true, Make: func() error {
			before := len(w.sink.Clicks())
			go func() { _, _ = w.Sandbox.Person("ana").Press(t.Context(), at, render.LabelAnswer) }() // the button may keep loading
			w.Eventually("the click arrives", func() bool { return len(w.sink.Clicks()) > before })
			return nil
		}},
		{Method: "getChat", Silent: true, Make: func() error {
			w.p.Diagnose(t.Context(), bridge.Needs{Destinations: []bridge.Destination{d}})
			return nil
		}},
	})
	w.post(d, v)
}

// TestUploadError checks that an outage during an upload is one, in the form in
// which Telegram and in which a proxy answers.
func TestUploadError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question(strings.Repeat("long ", 2000))
	for _, method := range []string{"sendDocument", "editMessageMedia"} {
		for _, kind := range []string{"error", "page"} {
			w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: method, Kind: kind, Status: http.StatusBadGateway, Count: 1})
			_, err := w.p.Post(t.Context(), bridge.Destination{Channel: group}, v, bridge.NewParts(nil, nil))
			if bridge.ErrorCode(err) != bridge.CodeUnavailable {
				t.Errorf("%s answers with %s: %v", method, kind, err)
			}
		}
	}
	w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: "editMessageMedia", Kind: "error", Error: "400 Bad Request: message to edit not found", Count: 1})
	parts := bridge.NewParts(nil, nil)
	for n, want := range []bridge.Code{bridge.CodeUnavailable, ""} { // someone deleted the placeholder
		if _, err := w.p.Post(t.Context(), bridge.Destination{Channel: group}, v, parts); bridge.ErrorCode(err) != want {
			t.Errorf("attempt %d after the placeholder was deleted: %v", n+1, err)
		}
	}
	w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: "sendDocument", Kind: "page", Status: 429, RetryAfter: 9, Count: 1})
	_, err := w.p.Post(t.Context(), bridge.Destination{Channel: group}, v, bridge.NewParts(nil, nil))
	if bridge.ErrorCode(err) != bridge.CodeRateLimited || bridge.PublicError(err).RetryAfter != 9*time.Second {
		t.Errorf("a proxy that limits the rate: %v", err)
	}
}

// TestClosedTopic checks that a person reads why no prompt can be posted, and not to
// click again if that does not help.
func TestClosedTopic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("ready?")
	_, at := w.post(bridge.Destination{Channel: forum, Thread: strconv.Itoa(sandbox.TelegramTopic)}, v)
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{Interaction: v.Record.Interaction.ID, Option: bridge.OptionForm}}, nil)
	for name, want := range map[string]string{
		"400 Bad Request: TOPIC_CLOSED": "topic is closed", "400 Bad Request: CHAT_WRITE_FORBIDDEN": "will not help",
		"403 Forbidden: bot was kicked from the supergroup chat": "will not help", "502 Bad Gateway": "Click again",
	} {
		tries := 1
		if strings.Contains(name, "TOPIC") { // nod also tries a reply that does not name the topic
			tries = 2
		}
		w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: "sendMessage", Kind: "error", Error: name, Count: tries})
		got, err := w.Sandbox.Person("ana").Press(t.Context(), at, render.LabelAnswer)
		said := got.Toast + strings.Join(w.Sandbox.Person("ana").Notes("telegram"), " ")
		if err != nil || !strings.Contains(said, want) || !strings.Contains(said, "Nothing was recorded") {
			t.Errorf("%s: ana reads %q, %v", name, said, err)
		}
	}
}
