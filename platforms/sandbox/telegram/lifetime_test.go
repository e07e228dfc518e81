package telegram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// says fails unless a call is refused with a word, or accepted if it is empty.
func (d *bench) says(name, word, method string, args raw.Object) {
	d.T.Helper()
	result, bad := d.call(method, args, nil)
	if (word == "") != (bad == "") || !strings.Contains(bad, word) {
		d.T.Errorf("%s: got %q %v, want %q", name, bad, result, word)
	}
}

func to(chat int64, more raw.Object) raw.Object {
	out := raw.Object{"chat_id": chat}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// inline is a keyboard of one button.
func inline(button raw.Object) raw.Object {
	return raw.Object{"inline_keyboard": []any{[]any{button}}}
}

// TestEditMedia checks that a text becomes a document, that a new round replaces
// the file, and that its text cannot be edited.
func TestEditMedia(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	m := d.done("sendMessage", to(telegram.Chat, raw.Object{"text": "see https://x.example"}), nil)
	edit := func(more raw.Object) raw.Object {
		more["message_id"] = m["message_id"]
		return to(telegram.Chat, more)
	}
	media := func(file, caption string) raw.Object {
		return edit(raw.Object{"media": raw.Object{
			"type": "document", "media": file, "caption": caption,
			"caption_entities": []any{raw.Object{"type": "bold", "offset": 0, "length": 3}},
		}})
	}
	first := d.done("editMessageMedia", media("attach://one.sh", "the first"), map[string]string{"one.sh": "echo 1"})
	if raw.Str(raw.Sub(first, "document"), "file_name") != "one.sh" || first["caption"] != "the first" || first["text"] != nil ||
		first["entities"] != nil || len(raw.List(first, "caption_entities")) != 1 {
		t.Errorf("the text became %v", first)
	}
	second := d.done("editMessageMedia", media("attach://two.sh", "the second"), map[string]string{"two.sh": "echo 2"})
	file := raw.Str(raw.Sub(second, "document"), "file_id")
	if _, body := d.get("/telegram/files/" + file); body != "echo 2" {
		t.Errorf("the file has %q", body)
	}
	d.says("file of the server", "wrong file identifier", "editMessageMedia", media(file, "the second"))
	d.says("text of a document", "no text in the message", "editMessageText", edit(raw.Object{"text": "x"}))
	d.says("no file", "no document in the request", "editMessageMedia", media("attach://none", "x"))
	d.says("photo", "is unsupported", "editMessageMedia", edit(raw.Object{"media": raw.Object{"type": "photo", "media": file}}))
	d.says("no media", "can't parse input media", "editMessageMedia", edit(raw.Object{"media": "{"}))
}

// TestEphemeral checks who may get an ephemeral message, who sees it, and how
// it is deleted.
func TestEphemeral(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	card := d.done("sendMessage", to(telegram.Chat, raw.Object{
		"text": "card", "reply_markup": inline(raw.Object{"text": "More", "callback_data": "more"}),
	}), nil)
	at := core.Place{Service: telegram.Name, Channel: group, Message: fmt.Sprint(raw.Int(card["message_id"]))}
	query := d.clicked("bo", at, "more")
	send := func(chat int64, user int, query string) raw.Object {
		return to(chat, raw.Object{"text": "only Bo", "ephemeral_message_parameters": raw.Object{
			"receiver_user_id": user, "callback_query_id": query, "replace_callback_query_message": true,
		}, "reply_markup": inline(raw.Object{"text": "Back", "callback_data": "back"})})
	}
	const refused = "not enough rights"
	d.says("no click", refused, "sendMessage", send(telegram.Chat, 7002, ""))
	d.says("another's click", refused, "sendMessage", send(telegram.Chat, 7001, query))
	d.says("another chat", refused, "sendMessage", send(telegram.Forum, 7002, query))
	d.says("stranger", "user not found", "sendMessage", send(telegram.Chat, 9, query))
	d.says("private chat", "only to groups", "sendMessage", send(7002, 7002, query))
	m := d.done("sendMessage", send(telegram.Chat, 7002, query), nil)
	if raw.Int(m["message_id"]) != 0 || raw.Int(m["ephemeral_message_id"]) == 0 || raw.Int(raw.Sub(m, "receiver_user")["id"]) != 7002 {
		t.Errorf("sent %v", m)
	}
	if notes := d.e.Notes("bo"); len(notes) != 1 || !strings.Contains(notes[0], "only Bo") || len(d.e.Notes("ana")) > 0 {
		t.Errorf("Bo has %q, Ana has %q", notes, d.e.Notes("ana"))
	}
	if next := d.done("sendMessage", to(telegram.Chat, raw.Object{"text": "next"}), nil); raw.Int(next["message_id"]) !=
		raw.Int(card["message_id"])+1 {
		t.Errorf("the next message has the ID %v", next["message_id"])
	}
	private := func(more raw.Object) raw.Object {
		more["receiver_user_id"], more["ephemeral_message_id"] = 7002, m["ephemeral_message_id"]
		return to(telegram.Chat, more)
	}
	d.clicked("bo", d.e.PrivatePlaces("bo")[0], "back")
	if _, err := d.e.Act(t.Context(), core.Action{As: "ana", Do: "press", Channel: group, Message: "e1", Control: "back"}); err == nil {
		t.Error("Ana clicked what only Bo sees")
	}
	d.says("delete as a message", "message to delete not found", "deleteMessage", private(raw.Object{"message_id": 0}))
	d.says("delete", "", "deleteEphemeralMessage", private(raw.Object{}))
	d.says("delete again", "message not found", "deleteEphemeralMessage", private(raw.Object{}))
}

// TestKeyboards checks the outcome of each kind of button, and which are
// refused.
func TestKeyboards(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	for _, x := range []struct {
		word   string
		button raw.Object
	}{
		{"", raw.Object{"disabled": raw.Object{}}},
		{"", raw.Object{"copy_text": raw.Object{"text": strings.Repeat("x", 256)}}},
		{"", raw.Object{"url": "https://x.example", "style": "Danger"}},
		{"", raw.Object{"url": "tg://user?id=7001", "style": "default"}},
		{"BUTTON_COPY_TEXT_INVALID", raw.Object{"copy_text": raw.Object{"text": strings.Repeat("x", 257)}}},
		{"must be of type Object", raw.Object{"disabled": true}},
		{"Wrong HTTP URL", raw.Object{"url": "nowhere"}},
		{"Wrong HTTP URL", raw.Object{"url": "javascript://x"}},
		{"Text buttons are unallowed", raw.Object{"pay": true}},
		{"Text buttons are unallowed", raw.Object{"callback_data": ""}},
	} {
		x.button["text"] = "x"
		d.says(fmt.Sprint(x.button), x.word, "sendMessage", to(telegram.Chat, raw.Object{"text": "x", "reply_markup": inline(x.button)}))
	}
	both := raw.Object{"text": "x", "callback_data": "x", "disabled": raw.Object{}}
	m := d.done("sendMessage", to(telegram.Chat, raw.Object{"text": "x", "reply_markup": inline(both)}), nil)
	if len(d.e.Controls(m)) != 1 || strings.Contains(fmt.Sprint(m), "disabled") {
		t.Errorf("two kinds of one button: %v", m)
	}
	asks := inline(raw.Object{"text": "x", "callback_data": "x"})
	asks["force_reply"] = true
	m = d.done("sendMessage", to(telegram.Chat, raw.Object{"text": "why?", "reply_markup": asks}), nil)
	m = d.done("editMessageText", to(telegram.Chat, raw.Object{
		"message_id": m["message_id"], "text": "why so?", "reply_markup": inline(raw.Object{"text": "x", "callback_data": "x"}),
	}), nil)
	if raw.Sub(m, "reply_markup")["force_reply"] != true {
		t.Error("the edit changed force_reply")
	}
}

// TestEntities checks entities that need more than a place, and space around a
// text.
func TestEntities(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	for _, x := range []struct {
		word   string
		entity raw.Object
	}{
		{"Invalid date-time format", raw.Object{"type": "date_time", "unix_time": 1, "date_time_format": "rx"}},
		{"unix_time", raw.Object{"type": "date_time"}},
		{"must be a valid Number", raw.Object{"type": "date_time", "unix_time": 1 << 40}},
		{"", raw.Object{"type": "date_time", "unix_time": 1}},
		{"Unsupported type", raw.Object{"type": "custom_emoji"}},
		{"user", raw.Object{"type": "text_mention"}},
		{"url", raw.Object{"type": "text_link"}},
		{"Unsupported type", raw.Object{"type": "loud"}},
	} {
		x.entity["offset"], x.entity["length"] = 0, 1
		d.says(fmt.Sprint(x.entity), x.word, "sendMessage", to(telegram.Chat, raw.Object{"text": "x", "entities": []any{x.entity}}))
	}
	m := d.done("sendMessage", to(telegram.Chat, raw.Object{"text": "\n bold x  ", "entities": []any{
		raw.Object{"type": "bold", "offset": 0, "length": 6},
		raw.Object{"type": "text_mention", "offset": 7, "length": 1, "user": raw.Object{"id": 99}},
		raw.Object{"type": "text_link", "offset": 7, "length": 1, "url": "ftp://x"},
	}}), nil)
	list := raw.Objects(m, "entities")
	if m["text"] != "bold x" || len(list) != 1 || raw.Int(list[0]["offset"]) != 0 || raw.Int(list[0]["length"]) != 4 {
		t.Errorf("sent %v", m)
	}
	m = d.done("sendMessage", to(telegram.Chat, raw.Object{"text": "run x now", "entities": []any{
		raw.Object{"type": "bold", "offset": 0, "length": 9}, raw.Object{"type": "code", "offset": 4, "length": 1},
	}}), nil)
	if list = raw.Objects(m, "entities"); len(list) != 3 || raw.Int(list[0]["length"]) != 4 || raw.Int(list[2]["offset"]) != 5 {
		t.Errorf("bold code became %v", list)
	}
	m = d.done("sendMessage", to(telegram.Chat, raw.Object{"parse_mode": "hTmL", "text": `<blockquote>a</blockquote>` +
		`<pre>b</pre> <a href='https://x.example'>c</a> <a href="tg://user?id=7001">d</a>`}), nil)
	var kinds []string
	for _, e := range raw.Objects(m, "entities") {
		kinds = append(kinds, raw.Str(e, "type")+raw.Str(e, "url"))
	}
	if got := strings.Join(kinds, " "); got != "blockquote pre text_linkhttps://x.example text_mention" {
		t.Errorf("HTML became %s", got)
	}
	d.says("mode", "unsupported parse_mode", "sendMessage", to(telegram.Chat, raw.Object{"text": "x", "parse_mode": "bbcode"}))
}

// TestOldServer checks how servers without a feature answer to it.
func TestOldServer(t *testing.T) {
	t.Parallel()
	entity := func(e raw.Object) raw.Object {
		e["offset"], e["length"] = 0, 1
		return raw.Object{"text": "x", "entities": []any{e}}
	}
	button := func(b raw.Object) raw.Object {
		b["text"] = "x"
		return raw.Object{"text": "x", "reply_markup": inline(b)}
	}
	for _, x := range []struct {
		since, before, word string
		args                func() raw.Object
	}{
		{"7.4", "7.3", "Unsupported type", func() raw.Object { return entity(raw.Object{"type": "expandable_blockquote"}) }},
		{"9.5", "9.4", "Unsupported type", func() raw.Object { return entity(raw.Object{"type": "date_time", "unix_time": 1}) }},
		{"7.11", "7.10", "unallowed", func() raw.Object { return button(raw.Object{"copy_text": raw.Object{"text": "x"}}) }},
		{"10.3", "10.2", "unallowed", func() raw.Object { return button(raw.Object{"disabled": raw.Object{}}) }},
	} {
		d := newDesk(t, false)
		d.Fault(core.Fault{Kind: "old_server", Method: x.since})
		d.says(x.since, "", "sendMessage", to(telegram.Chat, x.args()))
		d.Fault(core.Fault{Kind: "old_server", Method: x.before})
		d.says(x.before, x.word, "sendMessage", to(telegram.Chat, x.args()))
		d.says(x.before+" without a chat", x.word, "sendMessage", to(0, x.args()))
	}
	d := newDesk(t, false)
	d.Fault(core.Fault{Kind: "old_server", Method: "9.3"})
	m := d.done("sendMessage", to(telegram.Chat, button(raw.Object{"url": "x.example", "style": "danger"})), nil)
	if strings.Contains(fmt.Sprint(m), "danger") {
		t.Errorf("a server without styles keeps %v", m)
	}
	m = d.done("sendMessage", to(telegram.Chat, raw.Object{
		"text": "secret", "ephemeral_message_parameters": raw.Object{"receiver_user_id": 7002},
	}), nil)
	if m["ephemeral_message_id"] != nil || d.e.Message(group, fmt.Sprint(raw.Int(m["message_id"]))) == nil {
		t.Errorf("a server without ephemeral messages sent %v", m)
	}
}

// TestCommands checks the limits of setMyCommands.
func TestCommands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	set := func(name, what string, n int) raw.Object {
		var all []any
		for range n {
			all = append(all, raw.Object{"command": name, "description": what})
		}
		return raw.Object{"commands": all}
	}
	for word, args := range map[string]raw.Object{
		"BOT_COMMAND_INVALID":             set("No d", "x", 1),
		"BOT_COMMAND_DESCRIPTION_INVALID": set("nod", strings.Repeat("x", 257), 1),
		"BOT_COMMANDS_TOO_MUCH":           set("nod", "x", 101),
		"can't parse commands":            {"commands": "{"},
	} {
		d.says(word, word, "setMyCommands", args)
	}
	d.says("set", "", "setMyCommands", set("nod", "x", 1))
}
