package discord_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
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
	resp, err := http.Get(d.url + m.Attachments[0].URL)
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
	if all, err := d.bot.ChannelMessages(where.Channel, 50, "", "", ""); err != nil || len(all) != 1 {
		t.Errorf("read %v %v", all, err)
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
	_, list := d.bot.ChannelMessages("1", 50, "", "", "")
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
		{"read elsewhere", 10003, list},
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

// TestGuild checks what a bot reads about itself, the guild and its members.
func TestGuild(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{URL: "http://app.example"}, false)
	if me, err := d.bot.User("@me"); err != nil || !me.Bot || me.ID != discord.BotUser {
		t.Errorf("me: %v %v", me, err)
	}
	if app, err := d.bot.Application("@me"); err != nil || app.ID != discord.Application || len(app.VerifyKey) != 64 {
		t.Errorf("application: %+v %v", app, err)
	}
	if g, err := d.bot.Guild(discord.Guild); err != nil || g.OwnerID != ana ||
		g.Roles[0].Permissions&discordgo.PermissionSendMessages == 0 {
		t.Errorf("guild: %+v %v", g, err)
	}
	d.e.SetGroup(discord.Role, "bo")
	for id, roles := range map[string]int{discord.BotUser: 0, ana: 0, bo: 1} {
		if m, err := d.bot.GuildMember(discord.Guild, id); err != nil || m.User.ID != id || len(m.Roles) != roles {
			t.Errorf("member %s: %+v %v", id, m, err)
		}
	}
	dm, err := d.bot.UserChannelCreate(ana)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.bot.UserChannelCreate(ana); err != nil || again.ID != dm.ID || dm.Type != discordgo.ChannelTypeDM {
		t.Errorf("direct message: %+v %+v %v", dm, again, err)
	}
	if c, err := d.bot.Channel(discord.Channel); err != nil || c.Name != "deploys" || c.GuildID != discord.Guild {
		t.Errorf("channel: %+v %v", c, err)
	}
	gw, err := d.bot.GatewayBot()
	if err != nil || gw.SessionStartLimit.Remaining != 999 {
		t.Errorf("gateway: %+v %v", gw, err)
	}
	d.fault(core.Fault{Kind: "sessions"})
	d.fault(core.Fault{Kind: "endpoint"})
	if gw, err = d.bot.GatewayBot(); err != nil || gw.SessionStartLimit.Remaining != 3 {
		t.Errorf("few sessions: %+v %v", gw, err)
	}
	if _, err := d.bot.Application("@me"); err != nil {
		t.Error(err)
	}
}

// TestPermissions checks what a bot may not do without a permission.
func TestPermissions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	where := d.post(&discordgo.MessageSend{Content: "x"})
	reply := &discordgo.MessageSend{Content: "x", Reference: &discordgo.MessageReference{MessageID: where.Message}}
	post := func() error {
		_, err := d.bot.ChannelMessageSendComplex(discord.Channel, reply)
		return err
	}
	lacking := func(name string) {
		d.hub.ClearFaults()
		d.fault(core.Fault{Kind: "missing_permission", Method: name})
	}
	lacking("VIEW_CHANNEL")
	d.refused("post unseen", 50001, post())
	_, err := d.bot.Channel(discord.Channel)
	d.refused("read unseen", 50001, err)
	_, err = d.bot.ChannelMessageEdit(where.Channel, where.Message, "y")
	d.refused("edit unseen", 50001, err)
	lacking("SEND_MESSAGES")
	d.refused("post", 50013, post())
	lacking("READ_MESSAGE_HISTORY")
	d.refused("reply", 50035, post())
	if all, err := d.bot.ChannelMessages(discord.Channel, 50, "", "", ""); err != nil || len(all) != 0 {
		t.Errorf("history: %v %v", all, err)
	}
	lacking("CREATE_PUBLIC_THREADS")
	_, err = d.bot.MessageThreadStart(where.Channel, where.Message, "talk", 1440)
	d.refused("thread", 50013, err)
	d.hub.ClearFaults()
	thread, err := d.bot.MessageThreadStart(where.Channel, where.Message, "talk", 1440)
	if err != nil {
		t.Fatal(err)
	}
	lacking("SEND_MESSAGES_IN_THREADS")
	_, err = d.bot.ChannelMessageSend(thread.ID, "x")
	d.refused("in a thread", 50013, err)
	d.hub.ClearFaults()
	d.fault(core.Fault{Kind: "no_permission"})
	d.refused("nothing", 50013, post())
	d.hub.ClearFaults()
	d.fault(core.Fault{Kind: "absent"})
	d.refused("absent", 50001, post())
	d.hub.ClearFaults()
	d.fault(core.Fault{Kind: "revoke"})
	if _, err := d.bot.User("@me"); err == nil {
		t.Error("a revoked token works")
	}
}

// TestRateLimits checks the limits of a route and of the bot, and what they say.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, true)
	limit := func(what string, most int, call func() error) {
		t.Helper()
		for n := range most {
			if limited, ok := errors.AsType[*discordgo.RateLimitError](call()); ok {
				if n < 4 || limited.RetryAfter <= 0 {
					t.Errorf("%s: limited after %d calls: %+v", what, n, limited.RateLimit)
				}
				return
			}
		}
		t.Errorf("%s: not limited", what)
	}
	raw := func(path string) func() error {
		return func() error {
			d.bot.Ratelimiter = discordgo.NewRatelimiter() // the old one would wait in time
			_, err := d.bot.Request("GET", discordgo.EndpointAPI+path, nil)
			return err
		}
	}
	limit("route", 10, raw("channels/"+discord.Channel))
	limit("global", 80, raw("users/@me"))
	d.hub.ClearFaults()
	d.fault(core.Fault{Kind: "rate_limit", Method: "GET /gateway", RetryAfter: 3})
	if limited, ok := errors.AsType[*discordgo.RateLimitError](raw("gateway")()); !ok ||
		limited.RetryAfter != 3*time.Second {
		t.Errorf("fault: %v", limited)
	}
}

// TestCommands checks that commands are registered, and what is refused.
func TestCommands(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	create := func(c *discordgo.ApplicationCommand) error {
		_, err := d.bot.ApplicationCommandCreate(discord.Application, "", c)
		return err
	}
	for _, description := range []string{"x", "y"} {
		if err := create(&discordgo.ApplicationCommand{Name: "nod", Description: description}); err != nil {
			t.Error(err)
		}
	}
	var options []*discordgo.ApplicationCommandOption
	for range 26 {
		options = append(options, &discordgo.ApplicationCommandOption{Name: "x", Description: "x", Type: 1})
	}
	d.refused("name", 50035, create(&discordgo.ApplicationCommand{Name: "No d", Description: "x"}))
	d.refused(
		"description",
		50035,
		create(&discordgo.ApplicationCommand{Name: "nod", Description: strings.Repeat("x", 101)}),
	)
	d.refused("options", 50035, create(&discordgo.ApplicationCommand{Name: "nod", Description: "x", Options: options}))
	if _, err := d.bot.ApplicationCommandCreate("1", "", &discordgo.ApplicationCommand{Name: "nod"}); err == nil {
		t.Error("another application got a command")
	}
	for _, guild := range []string{"", discord.Guild} {
		got, err := d.bot.ApplicationCommandBulkOverwrite(
			discord.Application,
			guild,
			[]*discordgo.ApplicationCommand{{Name: "a", Description: "x"}, {Name: "b", Description: "x"}},
		)
		if err != nil || len(got) != 2 || got[0].ID == "" {
			t.Errorf("overwritten: %v %v", got, err)
		}
	}
	_, err := d.bot.Request("PUT", discordgo.EndpointApplicationGlobalCommands(discord.Application), []int{1})
	d.refused("no object", 50035, err)
}

// TestBodies checks what is answered to bodies that cannot be read.
func TestBodies(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	call := func(method, path, kind, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, d.url+"/discord/api/v10"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bot "+discord.Token)
		req.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err.Error()
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return string(raw)
	}
	const form, broken = "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data"
	messages := "/channels/" + discord.Channel + "/messages"
	for _, x := range []struct{ path, kind, body, word string }{
		{messages, "application/json", "{", "50109"},
		{messages, "text/plain", "{}", "CONTENT_TYPE_INVALID"},
		{messages, form, broken + "\r\n\r\nunfinished", "50035"},
		{messages, form, broken + "; name=\"payload_json\"\r\n\r\n{\r\n--x--\r\n", "50035"},
		{messages, "application/json", `{"content":7}`, "STRING_TYPE_CONVERT"},
		{"/nothing", "application/json", `{}`, "404: Not Found"},
	} {
		if got := call("POST", x.path, x.kind, x.body); !strings.Contains(got, x.word) {
			t.Errorf("%s: %s, want %s", x.body, got, x.word)
		}
	}
	if got := call("GET", "/../../files/1/a.txt", "", ""); !strings.Contains(got, "not found") {
		t.Errorf("an unknown file: %s", got)
	}
	d.fault(core.Fault{Kind: "error", Status: 503})
	if !strings.Contains(call("GET", "/gateway", "", ""), "upstream error") {
		t.Error("no upstream error")
	}
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
		{`"components":[` + row(`{"type":2,"style":6}`) + `]`, "sku_id"},
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
