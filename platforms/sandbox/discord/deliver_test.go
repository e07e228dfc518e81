package discord_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

// registerCommand registers the command "/nod grant ID".
func (d *bench) registerCommand() {
	d.T.Helper()
	id := &discordgo.ApplicationCommandOption{Name: "id", Description: "x", Type: discordgo.ApplicationCommandOptionString, Required: true}
	option := &discordgo.ApplicationCommandOption{
		Name: "grant", Description: "x", Type: discordgo.ApplicationCommandOptionSubCommand,
		Options: []*discordgo.ApplicationCommandOption{id},
	}
	nod := &discordgo.ApplicationCommand{
		Name:        "nod",
		Description: "x",
		Options:     []*discordgo.ApplicationCommandOption{option},
	}
	if _, err := d.bot.ApplicationCommandCreate(discord.Application, "", nod); err != nil {
		d.T.Fatal(err)
	}
}

// TestHTTP checks that interactions come signed to the URL of the app, and what
// its answers do.
func TestHTTP(t *testing.T) {
	t.Parallel()
	answers := make(chan string, 9)
	var key ed25519.PublicKey
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !discordgo.VerifyInteraction(r, key) {
			t.Error("the signature is wrong")
		}
		body, _ := io.ReadAll(r.Body)
		var i discordgo.Interaction
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&i); err != nil {
			t.Error(err)
		}
		switch said := <-answers; said {
		case "202", "500":
			w.WriteHeader(map[string]int{"202": 202, "500": 500}[said])
		default:
			_, _ = io.WriteString(w, said)
		}
	}))
	defer app.Close()
	d := newDesk(t, discord.Options{URL: app.URL}, false)
	key = d.e.PublicKey()
	d.registerCommand()
	command := core.Action{As: "ana", Do: "command", Channel: discord.Channel, Text: "/nod grant g1"}
	for said, word := range map[string]string{
		"202": "no answer", "500": "HTTP 500", "no": "not JSON", `{"type":99}`: "Invalid Form Body",
		`{"type":7,"data":{}}`: "Invalid Form Body",
		`{"type":9,"data":{}}`: "Invalid Form Body", `{"type":4,"data":{}}`: "empty message",
	} {
		answers <- said
		if said == "202" {
			go func() { _ = d.Hub.Clock.Lapse(t.Context()) }() // a failure shows in the reaction
		}
		if r := d.Act(command); r.OK || !strings.Contains(r.Warning, word) {
			t.Errorf("%s: %+v, want %q", said, r, word)
		}
	}
	answers <- `{"type":4,"data":{"content":"listed","flags":64}}`
	if r := d.Act(command); !r.OK || len(d.e.Notes("ana")) != 1 {
		t.Errorf("%+v, notes %q", r, d.e.Notes("ana"))
	}
	for _, text := range []string{"/nod grant", "/nod dance"} {
		command.Text = text
		if _, err := d.e.Act(t.Context(), command); err == nil {
			t.Errorf("%s is possible", text)
		}
	}
	forged := http.Header{}
	discord.Sign(forged, d.e.Key(), time.Now(), []byte("{}"))
	if forged.Get("X-Signature-Ed25519") == "" {
		t.Error("not signed")
	}
}

// TestLostSession checks that an interaction fails if the bot ends its session
// without an answer. The clock does not move.
func TestLostSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	where := d.post(&discordgo.MessageSend{Content: "card", Components: inRow(button("go", "Go"))})
	d.connect(discordgo.IntentsNone, func(s *discordgo.Session, _ *discordgo.Interaction) { _ = s.Close() })
	if r, err := core.Press(t.Context(), d.e, "ana", where, "Go"); err != nil || !strings.Contains(r.Warning, core.ErrNoAnswer.Error()) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGateway checks faults of events, resuming, invalid sessions and tokens.
func TestGateway(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, discord.Options{}, false), t.Context()
	where := d.post(&discordgo.MessageSend{Content: "card", Components: inRow(button("go", "Go"))})
	got := make(chan bool, 9)
	resumed, created := make(chan bool, 9), make(chan bool, 9)
	d.bot.AddHandler(func(*discordgo.Session, *discordgo.Resumed) { resumed <- true })
	d.bot.AddHandler(func(*discordgo.Session, *discordgo.MessageCreate) { created <- true })
	d.connect(
		discordgo.IntentsGuilds|discordgo.IntentsGuildMessages,
		func(s *discordgo.Session, i *discordgo.Interaction) {
			got <- true
			_ = s.InteractionRespond(i, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate})
		},
	)
	press := func() core.Reaction {
		r, err := core.Press(ctx, d.e, "ana", where, "Go")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	d.Fault(core.Fault{Kind: "event_duplicate", Count: 1})
	if r := press(); !r.OK {
		t.Errorf("duplicated: %+v", r)
	}
	await.Receive(t, "the click", got)
	await.Receive(t, "the click again", got)
	d.Fault(core.Fault{Kind: "mute", Count: 1})
	if r := press(); r.OK {
		t.Errorf("muted: %+v", r)
	}
	d.post(&discordgo.MessageSend{Content: "another"})
	await.Receive(t, "the message", created)
	for _, code := range []int{0, 4000} {
		if err := d.e.Disconnect(code); err != nil {
			t.Fatal(err)
		}
		await.Receive(t, "the end of the resume", resumed)
	}
	d.Fault(core.Fault{Kind: "refuse_connect"})
	if s := d.session(discord.Token); s.Open() == nil {
		t.Error("a session opened")
	}
	d.Hub.ClearFaults()
	s := d.session("wrong")
	s.LogLevel, s.ShouldReconnectOnError = -1, false
	if err := s.Open(); err == nil {
		t.Error("a wrong token opened a session")
	}
}
