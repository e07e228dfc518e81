package telegram_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// answerAll answers every click that the bot polls, until the test ends.
func (d *bench) answerAll(toast string) chan tgbotapi.Update {
	seen := make(chan tgbotapi.Update, 99)
	config := tgbotapi.NewUpdate(0)
	config.Timeout = 50
	updates := d.bot.GetUpdatesChan(config)
	go func() {
		for u := range updates {
			if u.CallbackQuery != nil {
				_, _ = d.bot.Request(tgbotapi.NewCallbackWithAlert(u.CallbackQuery.ID, toast))
			}
			seen <- u
		}
	}()
	d.T.Cleanup(func() { d.bot.StopReceivingUpdates(); d.Hub.Close() })
	return seen
}

// TestPress checks that the bot gets a click and its answer is shown, and that
// options are buttons too.
func TestPress(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, false), t.Context()
	m := d.send(message("card", keyboard("a", "b", "send")))
	if len(d.e.Controls(d.e.Message(at(m).Channel, at(m).Message))) != 3 {
		t.Error("the keyboard is not listed")
	}
	seen := d.answerAll("done")
	r, err := core.Press(ctx, d.e, "ana", at(m), "Button a")
	if err != nil || !r.OK || r.Toast != "done" || !r.Alert {
		t.Errorf("clicked: %+v %v", r, err)
	}
	u := <-seen
	if q := u.CallbackQuery; q.From.ID != ana || q.Data != "a" || q.Message.MessageID != m.MessageID {
		t.Errorf("the bot got %+v", q)
	}
	d.refused(400, "query is too old", d.fails(tgbotapi.NewCallback(u.CallbackQuery.ID, "again")))
	if r, err := d.e.Pick(ctx, "ana", at(m), []string{"Button b"}, "Button send"); err != nil || !r.OK {
		t.Errorf("picked: %+v %v", r, err)
	}
	if b, send := <-seen, <-seen; b.CallbackQuery.Data != "b" || send.CallbackQuery.Data != "send" {
		t.Errorf("the bot got %v and %v", b, send)
	}
	if _, err := d.e.Pick(ctx, "ana", at(m), []string{"Button z"}, "Button send"); err == nil {
		t.Error("picked a button that is not there")
	}
	d.Fault(core.Fault{Kind: "event_drop", Count: 1})
	d.Fault(core.Fault{Kind: "event_duplicate", Count: 1})
	if r, err := core.Press(ctx, d.e, "ana", at(m), "Button a"); err != nil || !strings.Contains(r.Warning, "loading") {
		t.Errorf("dropped: %+v %v", r, err)
	}
	if r, err := core.Press(ctx, d.e, "ana", at(m), "Button a"); err != nil || !r.OK {
		t.Errorf("duplicated: %+v %v", r, err)
	}
	if first, second := <-seen, <-seen; first.CallbackQuery.ID != second.CallbackQuery.ID {
		t.Error("the second update is another click")
	}
	soon, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	d.Fault(core.Fault{Kind: "event_delay", Delay: time.Minute})
	if _, err := core.Press(soon, d.e, "ana", at(m), "Button a"); err == nil {
		t.Error("the click was delivered in time")
	}
}

// TestWriting checks which messages reach the bot, replies to prompts included.
func TestWriting(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, false), t.Context()
	prompt := message("Ana, why?", tgbotapi.ForceReply{ForceReply: true, Selective: true})
	prompt.Entities = []tgbotapi.MessageEntity{{Type: "text_mention", Length: 3, User: &tgbotapi.User{ID: ana}}}
	asked := d.send(prompt)
	said := core.Action{As: "ana", Do: "send", Channel: group, Text: "only people see this"}
	if r := d.Act(said); !r.OK {
		t.Errorf("sent: %+v", r)
	}
	said.Text = "/nod list"
	d.Act(said)
	d.Act(core.Action{As: "ana", Do: "send", Channel: "7001", Text: "in private"})
	if r, err := d.e.Reply(ctx, "ana", group, "because"); err != nil || !r.OK {
		t.Errorf("replied: %+v %v", r, err)
	}
	got, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{Limit: 2})
	if err != nil || len(got) != 2 || got[0].Message.Text != "/nod list" || got[1].Message.Chat.Type != "private" {
		t.Fatalf("the bot got %+v %v", got, err)
	}
	got, err = d.bot.GetUpdates(tgbotapi.UpdateConfig{Offset: got[1].UpdateID + 1})
	if err != nil || len(got) != 1 || got[0].Message.ReplyToMessage.MessageID != asked.MessageID || d.state().Handed != 3 {
		t.Errorf("the bot got %+v %v", got, err)
	}
	for word, change := range map[string]func(*core.Action){
		"no member":        func(a *core.Action) { a.As = "zoe" },
		"is not a chat ID": func(a *core.Action) { a.Channel = "deploys" },
		"cannot":           func(a *core.Action) { a.Do = "dance" },
		"in no chat":       func(a *core.Action) { a.Channel = "7002" },
		"1 to 4096":        func(a *core.Action) { a.Text = "" },
		"no message 9":     func(a *core.Action) { a.Do, a.Message = "reply", "9" },
		"no message 8":     func(a *core.Action) { a.Do, a.Message = "press", "8" },
	} {
		a := said
		change(&a)
		if _, err := d.e.Act(ctx, a); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
	for _, who := range []string{"bo", "zoe"} {
		if _, err := d.e.Reply(ctx, who, group, "x"); err == nil {
			t.Errorf("%s has a prompt", who)
		}
	}
	if _, err := d.e.Reply(ctx, "ana", "1", "x"); err == nil {
		t.Error("there is a prompt in no chat")
	}
	if _, open := d.e.Inputs("V1"); open {
		t.Error("a modal is open")
	}
	if d.e.Disconnect(0) == nil {
		t.Error("a connection ended")
	}
}

// TestPolling checks that a newer poll ends an older one, that mute holds
// updates back, and that a webhook forbids polling.
func TestPolling(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	older := make(chan error, 1)
	go func() {
		_, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{Timeout: 50})
		older <- err
	}()
	d.Eventually("the bot polls", func() bool { return d.state().Polling })
	if got, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{}); err != nil || len(got) != 0 {
		t.Errorf("newer: %v %v", got, err)
	}
	d.refused(409, "terminated by other getUpdates", <-older)
	d.Act(core.Action{As: "ana", Do: "send", Channel: "7001", Text: "x"})
	d.Fault(core.Fault{Kind: "mute"})
	if got, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{}); err != nil || len(got) != 0 {
		t.Errorf("muted: %v %v", got, err)
	}
	d.Hub.ClearFaults()
	if got, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{}); err != nil || len(got) != 1 {
		t.Errorf("heard: %v %v", got, err)
	}
}

// TestWebhook checks that updates come to the webhook, each until it is taken.
func TestWebhook(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	got, status := make(chan tgbotapi.Update, 9), make(chan int, 9)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Telegram-Bot-Api-Secret-Token") != "secret" {
			t.Error("the secret is missing")
		}
		var u tgbotapi.Update
		if err := json.NewDecoder(r.Body).Decode(&u); err != nil {
			t.Error(err)
		}
		got <- u
		w.WriteHeader(<-status)
	}))
	defer app.Close()
	set := func(url, secret string) error {
		_, err := d.bot.MakeRequest("setWebhook", tgbotapi.Params{"url": url, "secret_token": secret})
		return err
	}
	d.refused(400, "unallowed characters", set(app.URL, "no spaces"))
	d.Act(core.Action{As: "ana", Do: "send", Channel: "7001", Text: "first"})
	if err := set(app.URL, "secret"); err != nil {
		t.Fatal(err)
	}
	status <- 500
	status <- 200
	status <- 200
	first, again := <-got, <-got
	if first.UpdateID != again.UpdateID || first.Message.Text != "first" {
		t.Errorf("the app got %+v and %+v", first, again)
	}
	d.Act(core.Action{As: "ana", Do: "send", Channel: "7001", Text: "second"})
	if u := <-got; u.Message.Text != "second" {
		t.Errorf("the app got %+v", u)
	}
	_, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{})
	d.refused(409, "webhook is active", err)
	if info, err := d.bot.GetWebhookInfo(); err != nil || info.URL != app.URL || !d.state().Polling {
		t.Errorf("info: %+v %v", info, err)
	}
	if err := d.fails(tgbotapi.DeleteWebhookConfig{DropPendingUpdates: true}); err != nil {
		t.Error(err)
	}
	if info, err := d.bot.GetWebhookInfo(); err != nil || info.IsSet() || info.PendingUpdateCount != 0 ||
		telegram.Name != d.e.Name() {
		t.Errorf("info: %+v %v", info, err)
	}
}
