package discord_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

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
	roles, err := d.bot.GuildRoles(discord.Guild)
	if err != nil || len(roles) != 2 || roles[1].ID != discord.Role || roles[1].Color == 0 || !roles[1].Mentionable {
		t.Errorf("roles: %+v %v", roles, err)
	}
	if u, err := d.bot.User(bo); err != nil || u.GlobalName != "Bo Chen" {
		t.Errorf("user: %+v %v", u, err)
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
	if err != nil || gw.SessionStartLimit.Remaining != 1000 {
		t.Errorf("gateway: %+v %v", gw, err)
	}
	d.Fault(core.Fault{Kind: "sessions"})
	d.Fault(core.Fault{Kind: "endpoint"})
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
		d.Hub.ClearFaults()
		d.Fault(core.Fault{Kind: "missing_permission", Method: name})
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
	lacking("CREATE_PUBLIC_THREADS")
	_, err = d.bot.MessageThreadStart(where.Channel, where.Message, "talk", 1440)
	d.refused("thread", 50013, err)
	d.Hub.ClearFaults()
	thread, err := d.bot.MessageThreadStart(where.Channel, where.Message, "talk", 1440)
	if err != nil {
		t.Fatal(err)
	}
	lacking("SEND_MESSAGES_IN_THREADS")
	_, err = d.bot.ChannelMessageSend(thread.ID, "x")
	d.refused("in a thread", 50013, err)
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "no_permission"})
	d.refused("nothing", 50013, post())
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "absent"})
	d.refused("absent", 50001, post())
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "revoke"})
	if _, err := d.bot.User("@me"); err == nil {
		t.Error("a revoked token works")
	}
}

// TestRateLimits checks the limits of a route and of the bot, and what they
// say.
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
	if !limitedAtOnce(t, d.bot.Client, d.bot.Token) {
		t.Error("global: not limited")
	}
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "rate_limit", Method: "GET /gateway", RetryAfter: 3})
	if limited, ok := errors.AsType[*discordgo.RateLimitError](raw("gateway")()); !ok ||
		limited.RetryAfter != 3*time.Second {
		t.Errorf("fault: %v", limited)
	}
}

// limitedAtOnce makes many calls at the same time, so that they fit into a
// second on any machine, and reports whether one was limited.
func limitedAtOnce(t *testing.T, client *http.Client, token string) bool {
	var limited atomic.Bool
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 20 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, discordgo.EndpointAPI+"users/@me", nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", token)
				res, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
				if res.StatusCode == http.StatusTooManyRequests {
					limited.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	return limited.Load()
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
	d.refused("menu", 50035, create(&discordgo.ApplicationCommand{Name: strings.Repeat("x", 33), Type: discordgo.MessageApplicationCommand}))
}

// TestBodies checks what is answered to bodies that cannot be read.
func TestBodies(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	call := func(method, path, kind, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, d.URL+"/discord/api/v10"+path, strings.NewReader(body))
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
	d.Fault(core.Fault{Kind: "page", Status: 503})
	if !strings.Contains(call("GET", "/gateway", "", ""), "upstream error") {
		t.Error("no upstream error")
	}
}
