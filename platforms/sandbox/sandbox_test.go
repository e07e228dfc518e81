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
	}
	for name, words := range map[string]string{"slack": "who", "discord": "/who", "telegram": ""} {
		if _, err := ana.Command(t.Context(), name, places[name].Channel, words); err == nil {
			t.Errorf("%s: gave an impossible command", name)
		}
	}
	st := s.State()
	if len(st.Members) != 4 || len(st.Slack.Channels) != 2 || len(st.Discord.Channels) != 2 ||
		len(st.Telegram.Chats) != 7 || st.Revision < 3 {
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
	if s.Message(at) != nil || sandbox.Controls("irc", nil) != nil || ana.Sees(at) != "" || ana.Notes("irc") != nil {
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

// TestChecks checks that the checks of the services are accessible.
func TestChecks(t *testing.T) {
	t.Parallel()
	empty := []byte(`{"blocks":[]}`)
	if !slices.Contains(sandbox.CheckSlackModal(empty), "invalid_arguments") ||
		sandbox.CheckDiscordModal(empty) == "" || sandbox.CheckDiscordMessage(map[string]any{}) == "" {
		t.Error("an empty modal or message is taken")
	}
}
