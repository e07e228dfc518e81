package discord_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/platformtest/desk"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

const (
	ana = "300000000000000001"
	bo  = "300000000000000002"
)

// bench is an emulator with discordgo as the bot.
type bench struct {
	desk.Desk
	e   *discord.Emulator
	bot *discordgo.Session
}

func newDesk(t *testing.T, o discord.Options, limits bool) *bench {
	t.Helper()
	var e *discord.Emulator
	d := desk.New(t, limits, func(hub *core.Hub) core.Service {
		e = discord.New(hub, []core.Account{{Key: "ana", Name: "Ana Lima", ID: ana}, {Key: "bo", Name: "Bo Chen", ID: bo}}, o)
		return e
	})
	b := &bench{Desk: d, e: e}
	b.bot = b.session(discord.Token)
	return b
}

func (d *bench) session(token string) *discordgo.Session {
	d.T.Helper()
	s, err := discordgo.New("Bot " + token)
	if err != nil {
		d.T.Fatal(err)
	}
	s.ShouldRetryOnRateLimit = false
	s.Client = &http.Client{Transport: redirect(strings.TrimPrefix(d.URL, "http://"))}
	return s
}

// redirect sends requests for discord.com to a host.
type redirect string

// RoundTrip implements http.RoundTripper.
func (host redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.URL.Path = "http", string(host), "/discord"+r.URL.Path
	r.URL.RawPath, r.Host = "", string(host)
	return http.DefaultTransport.RoundTrip(r)
}

// refused fails unless a call ended with an error of the API.
func (d *bench) refused(name string, code int, err error) {
	d.T.Helper()
	answer, ok := errors.AsType[*discordgo.RESTError](err)
	if !ok || answer.Message == nil || answer.Message.Code != code {
		d.T.Errorf("%s: got %v, want %d", name, err, code)
	}
}

func (d *bench) post(m *discordgo.MessageSend) core.Place {
	d.T.Helper()
	sent, err := d.bot.ChannelMessageSendComplex(discord.Channel, m)
	if err != nil {
		d.T.Fatal(err)
	}
	return at(sent.ID)
}

func at(message string) core.Place {
	return core.Place{Service: discord.Name, Channel: discord.Channel, Message: message}
}

func (d *bench) state() discord.State {
	d.Hub.Lock()
	defer d.Hub.Unlock()
	return d.e.State()
}

// connect opens the gateway with a handler of interactions, until the test
// ends.
func (d *bench) connect(intents discordgo.Intent, handle func(s *discordgo.Session, i *discordgo.Interaction)) {
	d.T.Helper()
	d.bot.Identify.Intents = intents
	d.bot.LogLevel = -1
	d.bot.AddHandler(func(s *discordgo.Session, i *discordgo.InteractionCreate) { handle(s, i.Interaction) })
	if err := d.bot.Open(); err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { _ = d.bot.Close() })
	d.Eventually("a session", func() bool { return d.state().Connections == 1 })
}

func button(id, label string) discordgo.Button {
	return discordgo.Button{CustomID: id, Label: label, Style: discordgo.PrimaryButton}
}

func inRow(c ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: c}}
}
