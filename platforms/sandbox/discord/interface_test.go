package discord_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// TestMentions checks which allowed_mentions are refused, and whom a message
// pings.
func TestMentions(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	content := "<@" + ana + "> <@" + bo + "> <@&" + discord.Role + ">"
	for _, x := range []struct{ allowed, word, pings string }{
		{``, "", ana + " " + bo + " " + discord.Role},
		{`{"parse":[]}`, "", ""},
		{`{"parse":["roles"],"users":["` + bo + `"]}`, "", bo + " " + discord.Role},
		{`{"roles":["` + discord.Role + `"]}`, "", discord.Role},
		{`{"parse":["users"],"users":["` + bo + `"]}`, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", ""},
		{`{"parse":["roles"],"roles":["1"]}`, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", ""},
		{`{"users":["` + bo + `","` + bo + `"]}`, "SET_TYPE_ALREADY_CONTAINS_VALUE", ""},
		{`{"parse":["users","users"]}`, "SET_TYPE_ALREADY_CONTAINS_VALUE", ""},
		{`{"parse":["people"]}`, "BASE_TYPE_CHOICES", ""},
		{`{"users":["ana"]}`, "not snowflake", ""},
		{`{"users":["1"` + strings.Repeat(`,"2"`, 100) + `]}`, "between 0 and 100", ""},
		{`[]`, "MODEL_TYPE_CONVERT", ""},
	} {
		body := raw.Object{"content": content}
		if x.allowed != "" {
			body["allowed_mentions"] = json.RawMessage(x.allowed)
		}
		status, m := b.call("POST", "", text(body), "", "")
		b.want(x.allowed, x.word, status, m)
		var pings []string
		for _, u := range raw.Objects(m, "mentions") {
			pings = append(pings, raw.Str(u, "id"))
		}
		for _, r := range raw.List(m, "mention_roles") {
			pings = append(pings, fmt.Sprint(r))
		}
		if got := strings.Join(pings, " "); got != x.pings {
			t.Errorf("%s pings %q, want %q", x.allowed, got, x.pings)
		}
	}
}

// TestWrongTypes checks that fields of the wrong type are refused, so that no
// accepted message breaks a client.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	for body, word := range map[string]string{
		`{"embeds":{}}`:                         "LIST_TYPE_CONVERT",
		`{"embeds":[null]}`:                     "MODEL_TYPE_CONVERT",
		`{"embeds":[{"title":7}]}`:              "STRING_TYPE_CONVERT",
		`{"components":{}}`:                     "LIST_TYPE_CONVERT",
		`{"components":[null]}`:                 "UNION_TYPE_CHOICES",
		v2(`{"type":10,"content":7}`):           "BASE_TYPE_BAD_LENGTH",
		v2(row(`{"type":5,"custom_id":"who"}`)): "",
		v2(row(`{"type":6,"custom_id":"who"}`)): "UNION_TYPE_CHOICES",
		v2(row(`{"type":5,"custom_id":"who","options":[{"label":"x","value":"x"}]}`)):                             "options",
		v2(row(`{"type":5,"custom_id":"who","default_values":[{"type":"user","id":"1"}]}`)):                       "default_values",
		v2(row(`{"type":5,"custom_id":"who","min_values":2,"max_values":1}`)):                                     "max_values",
		v2(row(`{"type":3,"custom_id":"x","options":[{"label":"x","value":"x"},7]}`)):                             "options",
		v2(row(`{"type":3,"custom_id":"x","options":[{"label":"x","value":"x"}],"min_values":1,"max_values":0}`)): "max_values",
		v2(row(`{"type":2,"style":1,"label":{},"custom_id":"go"}`)):                                               "LABEL_OR_EMOJI",
	} {
		status, answer := b.call("POST", "", body, "", "")
		b.want(body, word, status, answer)
	}
}

// TestUserSelect checks a select of users.
func TestUserSelect(t *testing.T) {
	t.Parallel()
	ep := newEndpoint(t)
	var body raw.Object
	if err := json.Unmarshal([]byte(v2(row(`{"type":5,"custom_id":"who"}`))), &body); err != nil {
		t.Fatal(err)
	}
	on := ep.posted(body)
	ep.acted(core.Action{Do: "choose", Channel: on.Channel, Message: on.Message, Control: "who", Values: map[string][]string{"who": {bo}}})
	resolved := raw.Sub(raw.Sub(ep.got.Load().(raw.Object), "data"), "resolved")
	if raw.Sub(raw.Sub(resolved, "users"), bo) == nil || raw.Sub(raw.Sub(resolved, "members"), bo) == nil {
		t.Errorf("the app got %v", resolved)
	}
}

// TestDeferred checks that a deferred response is a message that waits, which
// the first edit or follow-up turns into the answer.
func TestDeferred(t *testing.T) {
	t.Parallel()
	ep := newEndpoint(t)
	var body raw.Object
	if err := json.Unmarshal([]byte(v2(row(press))), &body); err != nil {
		t.Fatal(err)
	}
	on := ep.posted(body)
	ep.answer.Store(`{"type":5,"data":{"flags":64}}`)
	api := strings.TrimSuffix(ep.base, "/channels/"+discord.Channel+"/messages")
	for _, x := range []struct{ method, path, body string }{
		{"PATCH", "/messages/@original", v2(label)}, {"POST", "", `{"content":"hello"}`},
	} {
		ep.acted(core.Action{Do: "press", Channel: on.Channel, Message: on.Message, Control: "go"})
		places := ep.e.PrivatePlaces("ana")
		at := places[len(places)-1]
		if f := raw.Int(ep.e.Message(at.Channel, at.Message)["flags"]); f != 64|128 {
			t.Errorf("it waits with the flags %d", f)
		}
		token := raw.Str(ep.got.Load().(raw.Object), "token")
		ep.base = api + "/webhooks/" + discord.Application + "/" + token
		status, m := ep.call(x.method, x.path, x.body, "", "")
		ep.want(x.method, "", status, m)
		shown := ep.e.Message(at.Channel, at.Message)
		if raw.Int(shown["flags"])&128 != 0 || !strings.Contains(raw.Texts(shown), "hello") || len(ep.e.PrivatePlaces("ana")) != len(places) {
			t.Errorf("the answer is %v", shown)
		}
	}
	if card := raw.Texts(ep.e.Message(on.Channel, on.Message)); strings.Contains(card, "hello") {
		t.Error("the answer replaced the card")
	}
}

// TestSuggestions checks autocomplete, and options by name.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	ep := newEndpoint(t)
	api := strings.TrimSuffix(ep.base, "/channels/"+discord.Channel+"/messages")
	ep.base = api + "/applications/" + discord.Application
	command := `{"name":"nod","description":"x","options":[{"type":1,"name":"show","description":"x","options":[
		{"type":3,"name":"id","description":"x","required":true,"autocomplete":true},
		{"type":3,"name":"page","description":"x"}]}]}`
	status, made := ep.call("POST", "/commands", command, "", "")
	if status != 201 {
		t.Fatal(status, made)
	}
	ep.answer.Store(`{"type":8,"data":{"choices":[{"name":"7f3a: delete a pod","value":"7f3a"}]}}`)
	ask := core.Action{Do: "suggest", Channel: discord.Channel, Text: "/nod show 7f"}
	if r := ep.acted(ask); len(r.Choices) != 1 || r.Choices[0] != "7f3a: delete a pod" {
		t.Errorf("suggested %+v", r)
	}
	if sent := text(ep.got.Load().(raw.Object)); !strings.Contains(sent, `"focused":true`) || !strings.Contains(sent, `"type":4`) {
		t.Errorf("the app got %s", sent)
	}
	ask.As, ask.Text = "ana", "/nod show page:2"
	if _, err := ep.e.Act(t.Context(), ask); err == nil {
		t.Error("an option without autocomplete suggests")
	}
	ask.Text = "/nod show 7f"
	many := strings.TrimSuffix(strings.Repeat(`{"name":"x","value":"x"},`, 26), ",")
	for _, choices := range []string{`{"name":"","value":"x"}`, `{"name":"x","value":7}`, `{"name":"x"}`,
		`{"name":"x","value":"` + strings.Repeat("x", 101) + `"}`, many} {
		ep.answer.Store(`{"type":8,"data":{"choices":[` + choices + `]}}`)
		if r, err := ep.e.Act(t.Context(), ask); err != nil || r.OK || len(r.Choices) > 0 {
			t.Errorf("%.60s: %+v %v", choices, r, err)
		}
	}
	ep.answer.Store(`{"type":8,"data":{}}`)
	if r, err := ep.e.Act(t.Context(), ask); err != nil || r.OK {
		t.Errorf("without choices: %+v %v", r, err)
	}
	ep.answer.Store(`{"type":4,"data":{"content":"shown"}}`)
	ep.acted(core.Action{Do: "command", Channel: discord.Channel, Text: "/nod show 7f3a: delete a pod"})
	if sent := text(ep.got.Load().(raw.Object)); !strings.Contains(sent, `"value":"7f3a"`) {
		t.Errorf("with a suggestion, the app got %s", sent)
	}
	ep.acted(core.Action{Do: "command", Channel: discord.Channel, Text: "/nod show id:7f3a page:2"})
	if sent := text(ep.got.Load().(raw.Object)); !strings.Contains(sent, `"value":"7f3a"`) || !strings.Contains(sent, `"value":"2"`) {
		t.Errorf("the app got %s", sent)
	}
	for name, options := range map[string]string{
		"deep":   `{"type":1,"name":"b","description":"x","options":[{"type":1,"name":"c","description":"x"}]}`,
		"number": `{"type":4,"name":"b","description":"x"}`,
		"order":  `{"type":3,"name":"b","description":"x"},{"type":3,"name":"c","description":"x","required":true}`,
		"twice":  `{"type":3,"name":"b","description":"x"},{"type":3,"name":"b","description":"x"}`,
		"both":   `{"type":3,"name":"b","description":"x","autocomplete":true,"choices":[{"name":"c","value":"c"}]}`,
	} {
		body := `{"name":"a","description":"x","options":[` + options + `]}`
		if status, answer := ep.call("POST", "/commands", body, "", ""); status != 400 {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}

// TestTalk checks what members write, and what the bot gets of it.
func TestTalk(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	d.bot.SyncEvents = true // otherwise, handlers run in any order
	got := make(chan *discordgo.MessageCreate, 9)
	d.bot.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { got <- m })
	d.connect(discordgo.IntentsGuildMessages|discordgo.IntentsDirectMessages, func(*discordgo.Session, *discordgo.Interaction) {})
	card := d.post(&discordgo.MessageSend{Content: "card"})
	<-got
	d.Act(core.Action{As: "ana", Do: "send", Channel: discord.Channel, Text: "between people"})
	d.Act(core.Action{As: "ana", Do: "reply", Channel: discord.Channel, Message: card.Message, Text: "because"})
	d.Act(core.Action{As: "bo", Do: "send", Channel: discord.Channel, Text: "<@" + discord.BotUser + "> hello"})
	for _, want := range []string{"", "because", "<@" + discord.BotUser + "> hello"} {
		m := <-got
		if m.Content != want || m.Author.Bot || want == "because" && m.ReferencedMessage.ID != card.Message {
			t.Errorf("the bot got %q of %+v, want %q", m.Content, m.Author, want)
		}
	}
	for what, a := range map[string]core.Action{
		"nothing":       {Do: "send", Channel: discord.Channel},
		"nowhere":       {Do: "send", Channel: "1", Text: "x"},
		"to no message": {Do: "reply", Channel: discord.Channel, Message: "1", Text: "x"},
	} {
		a.As = "ana"
		if _, err := d.e.Act(t.Context(), a); err == nil {
			t.Errorf("wrote %s", what)
		}
	}
	_, err := d.bot.ChannelMessageEdit(discord.Channel, d.lastBy(bo), "x")
	d.refused("edit", 50005, err)
	d.refused("delete", 50013, d.bot.ChannelMessageDelete(discord.Channel, d.lastBy(bo)))
	reference := &discordgo.MessageSend{Content: "x", Reference: &discordgo.MessageReference{MessageID: "1"}}
	_, err = d.bot.ChannelMessageSendComplex(discord.Channel, reference)
	d.refused("reply to nothing", 50035, err)
}

// lastBy returns the ID of the newest message of a user.
func (d *bench) lastBy(user string) string {
	for _, ch := range d.state().Channels {
		for _, m := range slices.Backward(ch.Messages) {
			if raw.Str(raw.Sub(m, "author"), "id") == user {
				return raw.Str(m, "id")
			}
		}
	}
	return ""
}
