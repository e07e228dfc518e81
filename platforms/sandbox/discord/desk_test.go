package discord_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

const (
	ana = "300000000000000001"
	bo  = "300000000000000002"
)

// desk is an emulator with discordgo as the bot.
type desk struct {
	t   *testing.T
	hub *core.Hub
	e   *discord.Emulator
	url string
	bot *discordgo.Session
}

func newDesk(t *testing.T, o discord.Options, limits bool) *desk {
	t.Helper()
	hub := core.NewHub(!limits)
	hub.Clock = core.NewClock()
	e := discord.New(hub, []core.Account{{Key: "ana", Name: "Ana Lima", ID: ana}, {Key: "bo", Name: "Bo Chen", ID: bo}}, o)
	server := httptest.NewServer(e)
	t.Cleanup(func() { hub.Close(); server.CloseClientConnections(); server.Close() })
	d := &desk{t: t, hub: hub, e: e, url: server.URL}
	d.bot = d.session(discord.Token)
	return d
}

func (d *desk) session(token string) *discordgo.Session {
	d.t.Helper()
	s, err := discordgo.New("Bot " + token)
	if err != nil {
		d.t.Fatal(err)
	}
	s.ShouldRetryOnRateLimit = false
	s.Client = &http.Client{Transport: redirect(strings.TrimPrefix(d.url, "http://"))}
	return s
}

// redirect sends what is meant for discord.com to a host.
type redirect string

// RoundTrip implements http.RoundTripper.
func (host redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.URL.Path = "http", string(host), "/discord"+r.URL.Path
	r.URL.RawPath, r.Host = "", string(host)
	return http.DefaultTransport.RoundTrip(r)
}

// refused fails unless a call ended with an error of the API.
func (d *desk) refused(name string, code int, err error) {
	d.t.Helper()
	answer, ok := errors.AsType[*discordgo.RESTError](err)
	if !ok || answer.Message == nil || answer.Message.Code != code {
		d.t.Errorf("%s: got %v, want %d", name, err, code)
	}
}

func (d *desk) fault(f core.Fault) {
	f.Service = discord.Name
	d.hub.AddFault(f)
}

func (d *desk) post(m *discordgo.MessageSend) core.Place {
	d.t.Helper()
	sent, err := d.bot.ChannelMessageSendComplex(discord.Channel, m)
	if err != nil {
		d.t.Fatal(err)
	}
	return at(sent.ID)
}

func at(message string) core.Place {
	return core.Place{Service: discord.Name, Channel: discord.Channel, Message: message}
}

func (d *desk) act(a core.Action) core.Reaction {
	d.t.Helper()
	r, err := d.e.Act(d.t.Context(), a)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *desk) state() discord.State {
	d.hub.Lock()
	defer d.hub.Unlock()
	return d.e.State()
}

func (d *desk) within(what string, ok func() bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Second)
	defer cancel()
	if d.hub.Wait(ctx, ok) != nil {
		d.t.Fatal("not in time:", what)
	}
}

// connect opens the gateway with a handler of interactions, until the test
// ends.
func (d *desk) connect(intents discordgo.Intent, handle func(s *discordgo.Session, i *discordgo.Interaction)) {
	d.t.Helper()
	d.bot.Identify.Intents = intents
	d.bot.LogLevel = -1
	d.bot.AddHandler(func(s *discordgo.Session, i *discordgo.InteractionCreate) { handle(s, i.Interaction) })
	if err := d.bot.Open(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = d.bot.Close() })
	d.within("a session", func() bool { return d.state().Connections == 1 })
}

func button(id, label string) discordgo.Button {
	return discordgo.Button{CustomID: id, Label: label, Style: discordgo.PrimaryButton}
}

func inRow(c ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: c}}
}
