package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	slackgo "github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// stage is a sandbox on an HTTP server.
func stage(t *testing.T, o sandbox.Options) (*sandbox.Sandbox, string) {
	t.Helper()
	o.NoLimits = true
	s := sandbox.New(o)
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	return s, server.URL
}

// posted posts a message with a button on each service, by the service's SDK.
func posted(t *testing.T, url string) map[string]sandbox.Place {
	t.Helper()
	out := map[string]sandbox.Place{}
	button := slackgo.NewButtonBlockElement("go", "v", slackgo.NewTextBlockObject("plain_text", "Go", false, false))
	workspace := slackgo.New(sandbox.SlackBotToken, slackgo.OptionAPIURL(url+"/slack/api/"))
	channel, ts, err := workspace.PostMessageContext(t.Context(), sandbox.SlackChannel,
		slackgo.MsgOptionText("card", false), slackgo.MsgOptionBlocks(slackgo.NewActionBlock("a", button)))
	if err != nil {
		t.Fatal(err)
	}
	out["slack"] = sandbox.Place{Service: "slack", Channel: channel, Message: ts}
	press := discordgo.Button{CustomID: "go", Label: "Go", Style: discordgo.PrimaryButton}
	row := discordgo.ActionsRow{Components: []discordgo.MessageComponent{press}}
	body, err := json.Marshal(discordgo.MessageSend{Content: "card", Components: []discordgo.MessageComponent{row}})
	if err != nil {
		t.Fatal(err)
	}
	messages := url + "/discord/api/v10/channels/" + sandbox.DiscordChannel + "/messages"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, messages, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+sandbox.DiscordToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var m discordgo.Message
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	out["discord"] = sandbox.Place{Service: "discord", Channel: m.ChannelID, Message: m.ID}
	bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(sandbox.TelegramToken, url+"/telegram/bot%s/%s")
	if err != nil {
		t.Fatal(err)
	}
	c := tgbotapi.NewMessage(sandbox.TelegramChat, "card")
	keys := tgbotapi.NewInlineKeyboardRow(tgbotapi.NewInlineKeyboardButtonData("Go", "go"))
	c.ReplyMarkup = tgbotapi.NewInlineKeyboardMarkup(keys)
	if _, err := bot.Send(c); err != nil {
		t.Fatal(err)
	}
	out["telegram"] = sandbox.Place{Service: "telegram", Channel: "-1001000000001", Message: "11"}
	return out
}

// TestServices checks that messages, state, members and faults of each service
// are accessible by its name.
func TestServices(t *testing.T) {
	t.Parallel()
	s, url := stage(t, sandbox.Options{})
	places, ana := posted(t, url), s.Person("ana")
	for name, at := range places {
		m := s.Message(at)
		if c := sandbox.Controls(name, m); len(c) != 1 || c[0].Label != "Go" ||
			!strings.Contains(sandbox.Texts(m), "card") || !strings.Contains(ana.Sees(at), "card") {
			t.Errorf("%s: %v", name, m)
		}
		if name != "telegram" {
			if r, err := ana.Press(t.Context(), at, "Go"); err != nil || r.Warning == "" {
				t.Errorf("%s: clicked without a bot: %+v %v", name, r, err)
			}
			if err := s.Disconnect(name, 0); err != nil {
				t.Error(err)
			}
		}
		if _, err := ana.Pick(t.Context(), at, []string{"None"}, "Go"); err == nil {
			t.Errorf("%s: picked an option that does not exist", name)
		}
		if _, err := ana.Fill(t.Context(), name, "V1"); err == nil || ana.Notes(name) != nil ||
			ana.PrivatePlaces(name) != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.SetGroup(name, "g", "ana")
		if found, ok := ana.Menu(at, "Go"); ok {
			t.Errorf("%s: the card itself is its menu %+v", name, found)
		}
		if got := s.Connections(name); got != 0 {
			t.Errorf("%s: %d connections, want none", name, got)
		}
		for _, id := range s.AddChannels(name, 2) {
			if !slices.ContainsFunc(s.Chats(name), func(c sandbox.ChatState) bool { return c.ID == id }) {
				t.Errorf("%s: channel %s is not among %+v", name, id, s.Chats(name))
			}
		}
	}
	other := sandbox.Place{Service: "telegram", Channel: places["telegram"].Channel, Message: "1"}
	if found, ok := ana.Menu(other, "Go"); !ok || found != places["telegram"] {
		t.Errorf("the menu of another card is %+v, want %+v", found, places["telegram"])
	}
	if open := s.Modals(); len(open) > 0 {
		t.Errorf("open modals: %+v", open)
	}
	if all, refused, _ := s.Calls(); all < len(places) || refused != 0 {
		t.Errorf("%d calls, %d refused; want at least %d, and none", all, refused, len(places))
	}
	for name, words := range map[string]string{"slack": "who", "discord": "/who", "telegram": ""} {
		if _, err := ana.Command(t.Context(), name, places[name].Channel, words); err == nil {
			t.Errorf("%s: gave an impossible command", name)
		}
	}
	st := s.State()
	if len(st.Members) != 4 || len(st.Slack.Channels) != 4 || len(st.Discord.Channels) != 4 ||
		len(st.Telegram.Chats) != 9 || st.Revision < 3 {
		t.Errorf("state %+v", st)
	}
	if _, err := ana.Reply(t.Context(), "-1001000000001", "x"); err == nil {
		t.Error("replied to nothing")
	}
	if said, err := ana.Home(t.Context()); err != nil || said == "" {
		t.Errorf("home without a bot: %q %v", said, err)
	}
	if err := s.Wait(t.Context(), func() bool { return s.State().Revision > 0 }); err != nil {
		t.Error(err)
	}
}

// TestUnknownService checks the errors for an unknown service.
func TestUnknownService(t *testing.T) {
	t.Parallel()
	s, _ := stage(t, sandbox.Options{})
	ctx, at, ana := t.Context(), sandbox.Place{Service: "irc"}, s.Person("ana")
	_, acted := s.Act(ctx, sandbox.Action{Service: "irc"})
	_, pressed := ana.Press(ctx, at, "Go")
	_, picked := ana.Pick(ctx, at, nil, "Go")
	_, filled := ana.Fill(ctx, "irc", "V1")
	for _, err := range []error{acted, pressed, picked, filled, s.Disconnect("irc", 0)} {
		if err == nil || !strings.Contains(err.Error(), "irc") {
			t.Errorf("got %v", err)
		}
	}
	s.SetGroup("irc", "g", "ana")
	if s.Chats("irc") != nil || s.Connections("irc") != 0 || s.Message(at) != nil || sandbox.Controls("irc", nil) != nil || ana.Sees(at) != "" || ana.Notes("irc") != nil {
		t.Error("there is something")
	}
}

// TestPaths checks the page, the control API, and the clock of a service.
func TestPaths(t *testing.T) {
	t.Parallel()
	s, url := stage(t, sandbox.Options{})
	get := func(path string) *http.Response {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	for path, kind := range map[string]string{
		"/": "text/html", "/app.js": "text/javascript", "/control/state": "application/json",
	} {
		if resp := get(path); resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %s %v", path, resp.Status, resp.Header)
		}
	}
	s.AddFault(sandbox.Fault{Service: "discord", Kind: "skew", Delay: time.Hour})
	ahead := func() time.Duration {
		at, err := http.ParseTime(get("/discord/api/v10/gateway").Header.Get("Date"))
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(at).Round(time.Hour)
	}
	if ahead() != time.Hour {
		t.Errorf("the clock is ahead by %v", ahead())
	}
	if s.ClearFaults(); ahead() != 0 {
		t.Errorf("without the fault, the clock is ahead by %v", ahead())
	}
}

// TestSignatures checks that SDKs can verify the signatures.
func TestSignatures(t *testing.T) {
	t.Parallel()
	s, _ := stage(t, sandbox.Options{})
	h, body := http.Header{}, []byte(`{}`)
	sandbox.SignSlack(h, sandbox.SlackSigningSecret, time.Now(), body)
	v, err := slackgo.NewSecretsVerifier(h, sandbox.SlackSigningSecret)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Write(body); err != nil || v.Ensure() != nil {
		t.Error("Slack's signature is wrong")
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	sandbox.SignDiscord(r.Header, s.DiscordKey(), time.Now(), body)
	if !discordgo.VerifyInteraction(r, s.DiscordPublicKey()) {
		t.Error("Discord's signature is wrong")
	}
}

// TestChecks checks that the services' own checks refuse and accept messages.
func TestChecks(t *testing.T) {
	t.Parallel()
	one := func(check func([]byte) string) func([]byte) []string {
		return func(raw []byte) []string {
			if bad := check(raw); bad != "" {
				return []string{bad}
			}
			return nil
		}
	}
	discord := func(raw []byte) string {
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			return err.Error()
		}
		return sandbox.CheckDiscordMessage(m)
	}
	for name, x := range map[string]struct {
		check     func([]byte) []string
		good, bad string
	}{
		"a message of Slack":    {sandbox.CheckSlackMessage, `{"text":"hi"}`, `{"text":"` + strings.Repeat("x", 50_000) + `"}`},
		"a Home tab of Slack":   {sandbox.CheckSlackHome, `{"type":"home","blocks":[{"type":"divider"}]}`, `{"type":"home","blocks":[{"type":"poem"}]}`},
		"a modal of Slack":      {sandbox.CheckSlackModal, `{"type":"modal","title":{"type":"plain_text","text":"T"},"blocks":[{"type":"divider"}]}`, `{"blocks":[]}`},
		"a message of Discord":  {one(discord), `{"content":"hi"}`, `{}`},
		"a modal of Discord":    {one(sandbox.CheckDiscordModal), `{"custom_id":"m","title":"T","components":[{"type":1,"components":[{"type":4,"custom_id":"i","style":1,"label":"L"}]}]}`, `{"blocks":[]}`},
		"a message of Telegram": {one(sandbox.CheckTelegramMessage), `{"text":"hi"}`, `{"text":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if bad := x.check([]byte(x.good)); len(bad) > 0 {
				t.Errorf("%s is refused: %q", x.good, bad)
			}
			for _, raw := range []string{x.bad, "{"} {
				if bad := x.check([]byte(raw)); len(bad) == 0 {
					t.Errorf("%.80s is accepted", raw)
				}
			}
		})
	}
}

// TestTell checks that the page learns what the program does, and that the change
// is announced.
func TestTell(t *testing.T) {
	t.Parallel()
	s, _ := stage(t, sandbox.Options{})
	changed, note := s.Changed(), sandbox.Note{Kind: "asks", Text: "May it deploy?"}
	s.Tell("deploy-bot", note)
	select {
	case <-changed:
	default:
		t.Error("the change is not announced")
	}
	if got := s.State().Story; got.Program != "deploy-bot" || !slices.Equal(got.Notes, []sandbox.Note{note}) {
		t.Errorf("the story is %+v, want deploy-bot and %+v", got, note)
	}
}
