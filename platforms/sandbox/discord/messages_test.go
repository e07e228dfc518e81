package discord_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

// TestMessages checks the life of a message: posted, edited, read, deleted.
func TestMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	where := d.post(&discordgo.MessageSend{
		Content: "first <@" + ana + "> @everyone", Embeds: []*discordgo.MessageEmbed{{Title: "t"}},
		Files: []*discordgo.File{{Name: "a.txt", ContentType: "text/plain", Reader: strings.NewReader("file")}},
	})
	m, err := d.bot.ChannelMessage(where.Channel, where.Message)
	if err != nil || len(m.Mentions) != 1 || !m.MentionEveryone || len(m.Attachments) != 1 {
		t.Fatalf("posted %+v %v", m, err)
	}
	resp, err := http.Get(d.URL + m.Attachments[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "file" || !strings.Contains(d.e.Sees("ana", where), "file") {
		t.Errorf("the file has %q", body)
	}
	text := "second <@" + bo + ">"
	edit := &discordgo.MessageEdit{
		Channel:         where.Channel,
		ID:              where.Message,
		Content:         &text,
		AllowedMentions: &discordgo.MessageAllowedMentions{},
	}
	if m, err := d.bot.ChannelMessageEditComplex(edit); err != nil || m.Content != text || len(m.Mentions) != 0 ||
		m.EditedTimestamp == nil {
		t.Errorf("edited %+v %v", m, err)
	}
	thread, err := d.bot.MessageThreadStart(where.Channel, where.Message, "talk", 1440)
	if err != nil || thread.ParentID != where.Channel || thread.ID != where.Message {
		t.Fatalf("thread %+v %v", thread, err)
	}
	if _, err := d.bot.ChannelMessageSend(thread.ID, "in the thread"); err != nil {
		t.Error(err)
	}
	if err := d.bot.ChannelMessageDelete(where.Channel, where.Message); err != nil ||
		d.e.Message(where.Channel, where.Message) != nil {
		t.Errorf("deleted: %v", err)
	}
}

// TestRESTErrors checks the documented errors of channels and messages.
func TestRESTErrors(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	where := d.post(&discordgo.MessageSend{Content: "x"})
	send := func(channel string, m *discordgo.MessageSend) error {
		_, err := d.bot.ChannelMessageSendComplex(channel, m)
		return err
	}
	thread := func(message, name string) error {
		_, err := d.bot.MessageThreadStart(discord.Channel, message, name, 1440)
		return err
	}
	var rows []discordgo.MessageComponent
	for range 6 {
		rows = append(rows, inRow(button("x", "x"))...)
	}
	many := make([]*discordgo.MessageEmbed, 11)
	for n := range many {
		many[n] = &discordgo.MessageEmbed{Title: "x"}
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	large := []*discordgo.MessageEmbed{{Description: long(4096)}, {Description: long(1905)}}
	_, read := d.bot.ChannelMessage(discord.Channel, "1")
	_, elsewhereRead := d.bot.ChannelMessage("1", "1")
	_, channel := d.bot.Channel("1")
	_, guild := d.bot.Guild("1")
	_, nobody := d.bot.GuildMember(discord.Guild, "1")
	_, elsewhere := d.bot.GuildMember("1", ana)
	_, dm := d.bot.UserChannelCreate("1")
	for _, x := range []struct {
		name string
		code int
		err  error
	}{
		{"channel", 10003, channel},
		{"post elsewhere", 10003, send("1", &discordgo.MessageSend{Content: "x"})},
		{"read elsewhere", 10003, elsewhereRead},
		{"message", 10008, read},
		{"delete", 10008, d.bot.ChannelMessageDelete(discord.Channel, "1")},
		{"delete elsewhere", 10003, d.bot.ChannelMessageDelete("1", "1")},
		{"guild", 10004, guild},
		{"member", 10007, nobody},
		{"member elsewhere", 10004, elsewhere},
		{"direct message", 50007, dm},
		{"empty", 50006, send(discord.Channel, &discordgo.MessageSend{})},
		{"long", 50035, send(discord.Channel, &discordgo.MessageSend{Content: long(2001)})},
		{"embeds", 50035, send(discord.Channel, &discordgo.MessageSend{Embeds: many})},
		{"embed text", 50035, send(discord.Channel, &discordgo.MessageSend{Embeds: large})},
		{"rows", 50035, send(discord.Channel, &discordgo.MessageSend{Components: rows})},
		{"thread", 10008, thread("1", "x")},
		{"thread name", 50035, thread(where.Message, long(101))},
		{"first thread", 0, thread(where.Message, "x")},
		{"second thread", 160004, thread(where.Message, "x")},
	} {
		if x.code == 0 && x.err == nil {
			continue
		}
		d.refused(x.name, x.code, x.err)
	}
}

// TestNonce checks that a repeated nonce returns the first message.
func TestNonce(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	_, first := b.call("POST", "", `{"content":"x","nonce":"n","enforce_nonce":true}`, "", "")
	_, again := b.call("POST", "", `{"content":"x","nonce":"n","enforce_nonce":true}`, "", "")
	_, other := b.call("POST", "", `{"content":"x","nonce":"n"}`, "", "")
	if first["id"] != again["id"] || first["id"] == other["id"] {
		t.Errorf("got %v, %v and %v", first["id"], again["id"], other["id"])
	}
	status, answer := b.call("POST", "", `{"content":"x","nonce":"01234567890123456789012345"}`, "", "")
	b.want("long nonce", "BASE_TYPE_MAX_LENGTH", status, answer)
}

// TestEmbeds checks the limits of embeds and of the controls below them.
func TestEmbeds(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	options := func(n int) string {
		var out []string
		for k := range n {
			out = append(out, `{"label":"x","value":"`+string(rune('a'+k))+`"}`)
		}
		return `"options":[` + strings.Join(out, ",") + `]`
	}
	menu := func(rest string) string {
		return row(`{"type":3,"custom_id":"a",` + rest + `}`)
	}
	var fields []string
	for range 26 {
		fields = append(fields, `{"name":"x","value":"x"}`)
	}
	const linked = `"label":"x","custom_id":"a","url":"https://x.example"}`
	const two = `"options":[{"label":"x","value":"v"},{"label":"x","value":"v"}]`
	const plain = `{"type":2,"style":1,"label":"x","custom_id":"a"}`
	b := newRawBot(t)
	for _, x := range []struct{ body, word string }{
		{`"embeds":[{"title":"` + long(256) + `","fields":[{"name":"x","value":"x"}],"color":16777215}]`, ""},
		{`"embeds":[{"title":"` + long(257) + `"}]`, "title"},
		{`"embeds":[{"description":"` + long(4097) + `"}]`, "description"},
		{`"embeds":[{"footer":{"text":"` + long(2049) + `"}}]`, "footer"},
		{`"embeds":[{"author":{"name":"` + long(257) + `"}}]`, "author"},
		{`"embeds":[{"fields":[{"name":"","value":"x"}]}]`, "name"},
		{`"embeds":[{"fields":[` + strings.Join(fields, ",") + `]}]`, "25 or fewer"},
		{`"embeds":[{"color":-1}]`, "color"},
		{`"components":[` + press + `]`, "UNION_TYPE_CHOICES"},
		{`"components":[` + row() + `]`, "BASE_TYPE_BAD_LENGTH"},
		{`"components":[` + row(`{"type":2,"style":7,"label":"x","custom_id":"a"}`) + `]`, "style"},
		{`"components":[` + row(`{"type":2,"style":1,"custom_id":"a"}`) + `]`, "LABEL_OR_EMOJI"},
		{`"components":[` + row(`{"type":2,"style":1,"label":"`+long(81)+`","custom_id":"a"}`) + `]`, "label"},
		{`"components":[` + row(`{"type":2,"style":1,"label":"x","custom_id":"`+long(101)+`"}`) + `]`, "custom_id"},
		{`"components":[` + row(`{"type":2,"style":1,`+linked) + `]`, "CUSTOM_ID_AND_URL"},
		{`"components":[` + row(`{"type":2,"style":5,`+linked) + `]`, "CUSTOM_ID_AND_URL"},
		{`"components":[` + row(`{"type":2,"style":5,"label":"x"}`) + `]`, "url"},
		{`"components":[` + row(`{"type":2,"style":6,"sku_id":"1"}`) + `]`, "style"},
		{`"components":[` + row(`{"type":5,"custom_id":"a"}`) + `]`, ""},
		{`"components":[` + row(`{"type":4,"custom_id":"a"}`) + `]`, "UNION_TYPE_CHOICES"},
		{`"components":[` + menu(options(25)) + `]`, ""},
		{`"components":[` + menu(options(26)) + `]`, "options"},
		{`"components":[` + row(`{"type":3,"custom_id":"a",`+options(1)+`}`, press) + `]`, "BASE_TYPE_BAD_LENGTH"},
		{`"components":[` + menu(`"max_values":3,`+options(2)) + `]`, "max_values"},
		{`"components":[` + menu(`"placeholder":"`+long(151)+`",`+options(2)) + `]`, "placeholder"},
		{`"components":[` + menu(two) + `]`, "VALUE_DUPLICATED"},
		{`"components":[` + row(plain, plain) + `]`, "ID_DUPLICATED"},
	} {
		status, answer := b.call("POST", "", "{"+x.body+"}", "", "")
		b.want(x.body, x.word, status, answer)
	}
	if got := discord.CheckMessage(map[string]any{"content": long(2001)}); !strings.Contains(got, "Invalid Form Body") {
		t.Errorf("a long message: %q", got)
	}
	if got := discord.CheckMessage(map[string]any{"content": "x"}); got != "" {
		t.Errorf("a short message: %q", got)
	}
}
