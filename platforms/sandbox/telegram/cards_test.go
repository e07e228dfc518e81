package telegram_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// call calls a method with a JSON body, or as a form if there are files. It
// returns the result, or the description of the error.
func (d *bench) call(method string, args raw.Object, files map[string]string) (any, string) {
	d.T.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		d.T.Fatal(err)
	}
	body, kind := bytes.NewBuffer(encoded), "application/json"
	if len(files) > 0 {
		body, kind = d.form(args, files)
	}
	resp, err := http.Post(d.URL+"/telegram/bot"+telegram.Token+"/"+method, kind, body)
	if err != nil {
		d.T.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		d.T.Errorf("%s has the content type %q", method, got)
	}
	var answer raw.Object
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		d.T.Fatal(method, resp.Status, err)
	}
	return answer["result"], raw.Str(answer, "description")
}

func (d *bench) form(args raw.Object, files map[string]string) (*bytes.Buffer, string) {
	d.T.Helper()
	body := &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for k, v := range args {
		text, plain := v.(string)
		if !plain {
			encoded, err := json.Marshal(v)
			if err != nil {
				d.T.Fatal(err)
			}
			text = string(encoded)
		}
		_ = w.WriteField(k, text)
	}
	for name, data := range files {
		part, err := w.CreateFormFile(name, name)
		if err != nil {
			d.T.Fatal(err)
		}
		_, _ = io.WriteString(part, data)
	}
	w.Close()
	return body, w.FormDataContentType()
}

// done is call for a message. It fails if the call is refused.
func (d *bench) done(method string, args raw.Object, files map[string]string) raw.Object {
	d.T.Helper()
	result, bad := d.call(method, args, files)
	m, ok := result.(raw.Object)
	if !ok {
		d.T.Fatalf("%s %v: %s %v", method, args, bad, result)
	}
	return m
}

// clicked clicks a button and returns the ID of the callback query. The query
// stays unanswered until the test ends.
func (d *bench) clicked(as string, at core.Place, data string) string {
	d.T.Helper()
	go func() {
		a := core.On(d.e, as, at, "press")
		a.Control = data
		_, _ = d.e.Act(d.T.Context(), a) // the test ends before the client gives up
	}()
	for {
		result, bad := d.call("getUpdates", raw.Object{"timeout": 5, "offset": d.seen}, nil)
		list, _ := result.([]any)
		if len(list) == 0 {
			d.T.Fatal("no click arrived: ", bad)
		}
		for _, u := range raw.All(list) {
			d.seen = raw.Int(u["update_id"]) + 1
			if q := raw.Sub(u, "callback_query"); q != nil {
				return raw.Str(q, "id")
			}
		}
	}
}

// TestCards checks that the emulator accepts and shows the cards that a bot
// designed for today's Telegram sends, and that every button of them works.
func TestCards(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/cards/*.json")
	if err != nil || len(names) < 30 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			t.Parallel()
			encoded, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var calls []raw.Object
			if err := json.Unmarshal(encoded, &calls); err != nil {
				t.Fatal(err)
			}
			for _, args := range calls {
				newDesk(t, false).card(args)
			}
		})
	}
}

// card makes one call and checks the message that it makes.
func (d *bench) card(args raw.Object) {
	d.T.Helper()
	method := raw.Str(args, "method")
	delete(args, "method")
	card := d.done("sendMessage", raw.Object{"chat_id": telegram.Chat, "text": "first",
		"reply_markup": raw.Object{"inline_keyboard": []any{[]any{raw.Object{"text": "More", "callback_data": "more"}}}}}, nil)
	at := core.Place{Service: telegram.Name, Channel: group, Message: strconv.Itoa(raw.Int(card["message_id"]))}
	as, key := "bo", "text"
	if method == "answerCallbackQuery" {
		args["callback_query_id"] = d.clicked(as, at, "more")
		if result, bad := d.call(method, args, nil); result != true {
			d.T.Error(method, bad)
		}
		return
	}
	if strings.HasPrefix(method, "edit") {
		args["message_id"] = card["message_id"]
	}
	var files map[string]string
	if name, attached := strings.CutPrefix(raw.Str(args, "document"), "attach://"); attached {
		files, key = map[string]string{name: "#!/bin/sh"}, "caption"
	}
	if private := raw.Sub(args, "ephemeral_message_parameters"); private != nil {
		private["receiver_user_id"], private["callback_query_id"] = 7002, d.clicked(as, at, "more")
	}
	m := d.done(method, args, files)
	if m[key] != args[key] {
		d.T.Errorf("the text became %q", m[key])
	}
	d.kept(args, m, strings.TrimPrefix(key+"_entities", "text_"))
	if id := raw.Int(m["message_id"]); id != 0 {
		at.Message = strconv.Itoa(id)
	} else {
		at = d.e.PrivatePlaces(as)[0]
	}
	d.works(as, at, m)
}

// kept checks the entities of a message against those that were sent.
func (d *bench) kept(args, m raw.Object, key string) {
	d.T.Helper()
	got := raw.Objects(m, key)
	for _, want := range raw.Objects(args, key) {
		if !slices.ContainsFunc(got, func(e raw.Object) bool {
			return e["type"] == want["type"] && e["offset"] == want["offset"] && e["length"] == want["length"] &&
				e["unix_time"] == want["unix_time"] && e["date_time_format"] == want["date_time_format"] && e["url"] == want["url"]
		}) {
			d.T.Errorf("the entity %v is lost: %v", want, got)
		}
	}
	text := utf16.Encode([]rune(raw.Str(m, strings.TrimSuffix(key, "_entities")) + raw.Str(m, "text")))
	for _, e := range got {
		from := raw.Int(e["offset"])
		said := string(utf16.Decode(text[from : from+raw.Int(e["length"])]))
		if kind := raw.Str(e, "type"); kind == "mention" || kind == "bot_command" && said != "/nod" {
			d.T.Errorf("the text has the %s %q", kind, said)
		}
	}
}

// works clicks every button of a message.
func (d *bench) works(as string, at core.Place, m raw.Object) {
	d.T.Helper()
	want := strings.Count(string(must(json.Marshal(m["reply_markup"]))), `"callback_data"`)
	controls := d.e.Controls(m)
	if len(controls) != want {
		d.T.Errorf("the message has %d buttons, not %d", len(controls), want)
	}
	for _, c := range controls {
		id := d.clicked(as, at, c.ID)
		if result, bad := d.call("answerCallbackQuery", raw.Object{"callback_query_id": id}, nil); result != true {
			d.T.Errorf("%s: %s", c.Label, bad)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
