package telegram_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

func (d *bench) get(path string) (int, string) {
	d.T.Helper()
	resp, err := http.Get(d.URL + path)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(body)
}

// TestMessages checks the life of a message: sent, edited, answered, deleted.
func TestMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	text := message("hello @somebody", keyboard("a"))
	text.Entities = []tgbotapi.MessageEntity{{Type: "bold", Offset: 0, Length: 5}}
	m := d.send(text)
	if m.Text != "hello @somebody" || m.Entities[0].Type != "bold" ||
		d.e.Message(at(m).Channel, at(m).Message)["detected_mentions"] == nil {
		t.Errorf("sent %+v", m)
	}
	edit := tgbotapi.NewEditMessageTextAndMarkup(telegram.Chat, m.MessageID, "second <b>text</b>", keyboard("b"))
	edit.ParseMode = "HTML"
	if m := d.send(edit); m.Text != "second text" || m.Entities[0].Offset != 7 || m.EditDate == 0 {
		t.Errorf("edited %+v", m)
	}
	none := tgbotapi.InlineKeyboardMarkup{InlineKeyboard: [][]tgbotapi.InlineKeyboardButton{}}
	if m := d.send(tgbotapi.NewEditMessageReplyMarkup(telegram.Chat, m.MessageID, none)); m.ReplyMarkup != nil {
		t.Errorf("keyboard %+v", m.ReplyMarkup)
	}
	reply := message("reply", nil)
	reply.ReplyToMessageID = m.MessageID
	if r := d.send(reply); r.ReplyToMessage == nil || r.ReplyToMessage.MessageID != m.MessageID {
		t.Errorf("replied %+v", r)
	}
	if said := d.e.Sees("ana", at(m)); !strings.Contains(said, "second text") {
		t.Errorf("shows %q", said)
	}
	if err := d.fails(tgbotapi.NewDeleteMessage(telegram.Chat, m.MessageID)); err != nil ||
		d.e.Message(at(m).Channel, at(m).Message) != nil {
		t.Errorf("deleted: %v", err)
	}
	reply.AllowSendingWithoutReply = true
	if r := d.send(reply); r.ReplyToMessage != nil {
		t.Errorf("replied to nothing %+v", r)
	}
	if d.e.Message("1", "1") != nil || d.e.Notes("ana") != nil {
		t.Error("there is something in no chat")
	}
}

// TestDocuments checks uploads, and the faults that lose files.
func TestDocuments(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	upload := func(data string) tgbotapi.DocumentConfig {
		c := tgbotapi.NewDocument(telegram.Chat, tgbotapi.FileBytes{Name: "plan.txt", Bytes: []byte(data)})
		c.Caption = "the plan"
		return c
	}
	m := d.send(upload("content"))
	if m.Document == nil || m.Document.FileName != "plan.txt" || m.Caption != "the plan" {
		t.Fatalf("sent %+v", m)
	}
	if said := d.e.Sees("ana", at(m)); !strings.Contains(said, "the plan") {
		t.Errorf("shows %q", said)
	}
	if _, body := d.get("/telegram/files/" + m.Document.FileID); body != "content" {
		t.Errorf("the file has %q", body)
	}
	if status, _ := d.get("/telegram/files/none"); status != 404 {
		t.Errorf("an unknown file: %d", status)
	}
	d.refused(400, "wrong file identifier", d.fails(tgbotapi.NewDocument(telegram.Chat, tgbotapi.FileID("F0"))))
	d.refused(400, "non-empty", d.fails(upload("")))
	long := upload("content")
	long.Caption = strings.Repeat("x", 1025)
	d.refused(400, "too long", d.fails(long))
	d.Fault(core.Fault{Kind: "truncate", Count: 1})
	if m := d.send(upload("content")); m.Document.FileSize != 3 {
		t.Errorf("truncated to %d bytes", m.Document.FileSize)
	}
	d.Fault(core.Fault{Kind: "strip", Count: 1})
	if m := d.send(upload("content")); m.Document != nil {
		t.Errorf("stripped %+v", m)
	}
	d.Fault(core.Fault{Kind: "truncate", Count: 1})
	if m := d.send(message(strings.Repeat("x", 100), nil)); len(m.Text) != 50 {
		t.Errorf("truncated to %d characters", len(m.Text))
	}
}

// TestMessageErrors checks the documented errors of sending and editing
// messages.
func TestMessageErrors(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	m, forced := d.send(message("x", keyboard("a"))), d.send(message("y", tgbotapi.ForceReply{ForceReply: true}))
	entities := func(e ...tgbotapi.MessageEntity) tgbotapi.MessageConfig {
		c := message("a\U0001F600", nil)
		c.Entities = e
		return c
	}
	mode := func(mode, text string) tgbotapi.MessageConfig {
		c := message(text, nil)
		c.ParseMode = mode
		return c
	}
	replied := message("x", nil)
	replied.ReplyToMessageID = 999
	for _, x := range []struct {
		word string
		c    tgbotapi.Chattable
	}{
		{"chat not found", tgbotapi.NewMessage(1, "x")},
		{"message text is empty", message(" ", nil)},
		{"message is too long", message(strings.Repeat("x", 4097), nil)},
		{"ends after the end", entities(tgbotapi.MessageEntity{Type: "bold", Offset: 1, Length: 3})},
		{"Unsupported type", entities(tgbotapi.MessageEntity{Type: "loud", Length: 1})},
		{"middle of a UTF-16 symbol", entities(tgbotapi.MessageEntity{Type: "bold", Length: 2})},
		{"too many entities", entities(make([]tgbotapi.MessageEntity, 101)...)},
		{"not emulated", mode("Markdown", "x")},
		{"not emulated", mode("MarkdownV2", "x")},
		{"Unsupported start tag", mode("HTML", "<h1>x</h1>")},
		{"Unexpected end tag", mode("HTML", "x</b>")},
		{"Can't find end tag", mode("HTML", "<b>x")},
		{"Unexpected character", mode("HTML", "x <")},
		{"message to be replied not found", replied},
		{"message to edit not found", tgbotapi.NewEditMessageText(telegram.Chat, 999, "x")},
		{"chat not found", tgbotapi.NewEditMessageText(1, 999, "x")},
		{"can't be edited", tgbotapi.NewEditMessageText(telegram.Chat, forced.MessageID, "x")},
		{"not modified", tgbotapi.NewEditMessageTextAndMarkup(telegram.Chat, m.MessageID, "x", keyboard("a"))},
		{"message to edit not found", tgbotapi.NewEditMessageReplyMarkup(telegram.Chat, 999, keyboard("a"))},
		{"message to delete not found", tgbotapi.NewDeleteMessage(telegram.Chat, 999)},
		{"chat not found", tgbotapi.NewDeleteMessage(1, 999)},
		{"query is too old", tgbotapi.NewCallback("none", "x")},
	} {
		d.refused(400, x.word, d.fails(x.c))
	}
}

// TestKeyboardErrors checks the documented errors of keyboards.
func TestKeyboardErrors(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	buttons := func(b ...tgbotapi.InlineKeyboardButton) tgbotapi.MessageConfig {
		return message("x", tgbotapi.NewInlineKeyboardMarkup(b))
	}
	many := make([]tgbotapi.InlineKeyboardButton, 9)
	for n := range many {
		many[n] = tgbotapi.NewInlineKeyboardButtonData("x", "x")
	}
	tall := tgbotapi.NewInlineKeyboardMarkup()
	for range 101 {
		tall.InlineKeyboard = append(tall.InlineKeyboard, many[:1])
	}
	asking := tgbotapi.ForceReply{ForceReply: true, InputFieldPlaceholder: strings.Repeat("x", 65)}
	for _, x := range []struct {
		word string
		c    tgbotapi.Chattable
	}{
		{"button text is empty", buttons(tgbotapi.NewInlineKeyboardButtonData("", "x"))},
		{"BUTTON_DATA_INVALID", buttons(tgbotapi.NewInlineKeyboardButtonData("x", strings.Repeat("x", 65)))},
		{"Text buttons are unallowed", buttons(tgbotapi.InlineKeyboardButton{Text: "x"})},
		{"markup is too long", buttons(many...)},
		{"markup is too long", message("x", tall)},
		{"placeholder is too long", message("x", asking)},
	} {
		d.refused(400, x.word, d.fails(x.c))
	}
}

// TestParameterErrors checks what is answered to parameters that cannot be
// read.
func TestParameterErrors(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	m := d.send(message("x", nil))
	for word, p := range map[string]tgbotapi.Params{
		"can't parse entities":         {"entities": "{"},
		"can't parse reply keyboard":   {"reply_markup": "["},
		"Array of Arrays":              {"reply_markup": `{"inline_keyboard":[7]}`},
		"can't parse reply parameters": {"reply_parameters": "["},
		"invalid button style":         {"reply_markup": `{"inline_keyboard":[[{"text":"x","url":"x","style":"loud"}]]}`},
		"thread not found":             {"chat_id": "7001", "message_thread_id": "3"},
	} {
		p["text"] = "x"
		if p["chat_id"] == "" {
			p["chat_id"] = group
		}
		_, err := d.bot.MakeRequest("sendMessage", p)
		d.refused(400, word, err)
	}
	edit := tgbotapi.Params{"chat_id": group, "message_id": at(m).Message, "text": "x"}
	edit["reply_markup"] = `{"force_reply":true}`
	_, err := d.bot.MakeRequest("editMessageText", edit)
	d.refused(400, "inline keyboard expected", err)
}

// TestThreads checks that only topics may be named as threads, although every
// reply in a supergroup has a thread ID.
func TestThreads(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	send := func(chat int64, reply int, topic string) raw.Object {
		t.Helper()
		p := tgbotapi.Params{"chat_id": strconv.FormatInt(chat, 10), "text": "x", "message_thread_id": topic}
		p["reply_parameters"] = fmt.Sprintf(`{"message_id":%d}`, reply)
		resp, err := d.bot.MakeRequest("sendMessage", p)
		if err != nil {
			t.Fatal(err)
		}
		var m raw.Object
		if err := json.Unmarshal(resp.Result, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, chat := range []int64{telegram.Chat, telegram.Forum} {
		first := send(chat, 0, "")
		root := raw.Int(first["message_id"])
		second := send(chat, root, "")
		third := send(chat, raw.Int(second["message_id"]), "")
		for _, m := range []raw.Object{second, third} {
			if raw.Int(m["message_thread_id"]) != root || m["is_topic_message"] != nil {
				t.Errorf("a reply has the thread %v, want %d", m["message_thread_id"], root)
			}
		}
		p := tgbotapi.Params{"chat_id": strconv.FormatInt(chat, 10), "text": "x", "message_thread_id": strconv.Itoa(root)}
		_, err := d.bot.MakeRequest("sendMessage", p)
		d.refused(400, "thread not found", err)
	}
	in := send(telegram.Forum, 0, strconv.Itoa(telegram.Topic))
	reply := send(telegram.Forum, raw.Int(in["message_id"]), "")
	for _, m := range []raw.Object{in, reply} {
		if raw.Int(m["message_thread_id"]) != telegram.Topic || m["is_topic_message"] != true {
			t.Errorf("in the topic: %v", m)
		}
	}
}

// TestHTML checks what parse_mode HTML becomes.
func TestHTML(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	c := message(`a &lt;<a href="https://x.example?a=1&amp;b=2"><b>link</b></a> <pre>@nobody</pre>`, nil)
	c.ParseMode = "HTML"
	m := d.send(c)
	if m.Text != "a <link @nobody" || len(m.Entities) != 3 || m.Entities[1].URL != "https://x.example?a=1&b=2" {
		t.Errorf("sent %q %+v", m.Text, m.Entities)
	}
	if d.e.Message(at(m).Channel, at(m).Message)["detected_mentions"] != nil {
		t.Error("a mention is detected in code")
	}
}

// TestChats checks what a bot reads about itself, chats and members.
func TestChats(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	if d.bot.Self.ID != telegram.BotID {
		t.Errorf("me: %+v", d.bot.Self)
	}
	for id, kind := range map[int64]string{telegram.Chat: "supergroup", ana: "private"} {
		if c, err := d.bot.GetChat(tgbotapi.ChatInfoConfig{ChatConfig: tgbotapi.ChatConfig{ChatID: id}}); err != nil ||
			c.Type != kind {
			t.Errorf("chat: %+v %v", c, err)
		}
	}
	_, err := d.bot.GetChat(tgbotapi.ChatInfoConfig{ChatConfig: tgbotapi.ChatConfig{ChatID: 1}})
	d.refused(400, "chat not found", err)
	status := func(chat, user int64) string {
		m, err := d.bot.GetChatMember(
			tgbotapi.GetChatMemberConfig{ChatConfigWithUser: tgbotapi.ChatConfigWithUser{ChatID: chat, UserID: user}},
		)
		if err != nil {
			return err.Error()
		}
		return m.Status
	}
	d.e.SetGroup(group, "bo")
	for user, want := range map[int64]string{
		ana: "member", 7002: "administrator", telegram.BotID: "member", 9: "Bad Request: user not found",
	} {
		if got := status(telegram.Chat, user); got != want {
			t.Errorf("%d is %s, want %s", user, got, want)
		}
	}
	if got := status(1, ana); !strings.Contains(got, "chat not found") {
		t.Error(got)
	}
	d.Fault(core.Fault{Kind: "no_permission"})
	if got := status(telegram.Chat, telegram.BotID); got != "restricted" {
		t.Error(got)
	}
	d.refused(400, "not enough rights", d.fails(message("x", nil)))
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "absent"})
	d.refused(403, "not a member", d.fails(message("x", nil)))
	if err := d.fails(tgbotapi.NewSetMyCommands(tgbotapi.BotCommand{Command: "nod", Description: "x"})); err != nil {
		t.Error(err)
	}
}

// TestCalls checks limits, tokens, and what is answered to what cannot be read.
func TestCalls(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	public := func() error { return d.fails(message("x", nil)) }
	private := func() error { return d.fails(tgbotapi.NewMessage(ana, "x")) }
	for name, call := range map[string]func() error{"group": public, "private": private} {
		var err error
		sent := 0
		for ; err == nil && sent < 40; sent++ {
			err = call()
		}
		if sent < 10 || sent > 30 {
			t.Errorf("%s: limited after %d messages", name, sent)
		}
		d.refused(429, "Too Many Requests", err)
	}
	for _, x := range []struct{ path, kind, body, word string }{
		{"bot1:wrong/getMe", "", "", "Unauthorized"},
		{"bot" + telegram.Token + "/dance", "", "", "Not Found"},
		{"bot" + telegram.Token + "/GETME", "application/json", "", "nod_sandbox_bot"},
		{"bot" + telegram.Token + "/getMe", "application/json", "{", "can't parse JSON object"},
		{"bot" + telegram.Token + "/getMe", "multipart/form-data", "", "can't parse multipart"},
		{"bot" + telegram.Token + "/getMe", "application/x-www-form-urlencoded", "a=%zz", "can't parse form"},
		{"bot" + telegram.Token + "/getChat", "application/json", `{"chat_id":7001,"flag":true,"more":null}`, "Ana Lima"},
	} {
		resp, err := http.Post(d.URL+"/telegram/"+x.path, x.kind, strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(body), x.word) {
			t.Errorf("%s %s: %s, want %s", x.path, x.body, body, x.word)
		}
	}
	d.Fault(core.Fault{Kind: "rate_limit", Method: "getMe", RetryAfter: 7, Count: 1})
	_, err := d.bot.GetMe()
	d.refused(429, "retry after 7", err)
	d.Fault(core.Fault{Kind: "revoke"})
	_, err = d.bot.GetMe()
	d.refused(401, "Unauthorized", err)
}

// TestUpgrade checks what a bot notices when a basic group becomes a supergroup.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	old := d.send(tgbotapi.NewMessage(telegram.Small, "x"))
	up := core.Action{As: "ana", Do: "upgrade", Channel: strconv.FormatInt(telegram.Small, 10)}
	d.Act(up)
	if _, err := d.e.Act(t.Context(), up); err == nil {
		t.Error("it was upgraded twice")
	}
	got, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{})
	to, from := int64(0), int64(0)
	for _, u := range got {
		to, from = to+u.Message.MigrateToChatID, from+u.Message.MigrateFromChatID
	}
	if err != nil || to != telegram.Grown || from != telegram.Small {
		t.Errorf("the bot got %+v, %v", got, err)
	}
	for _, c := range []tgbotapi.Chattable{
		tgbotapi.NewMessage(telegram.Small, "y"), tgbotapi.NewEditMessageText(telegram.Small, old.MessageID, "y"),
		tgbotapi.NewChatAction(telegram.Small, "typing"),
	} {
		var answer *tgbotapi.Error
		if err := d.fails(c); !errors.As(err, &answer) || answer.MigrateToChatID != telegram.Grown {
			t.Errorf("%T: %v", c, err)
		}
	}
	d.send(tgbotapi.NewMessage(telegram.Grown, "y"))
	d.refused(400, "wrong parameter", d.fails(tgbotapi.NewChatAction(telegram.Grown, "dance")))
}
