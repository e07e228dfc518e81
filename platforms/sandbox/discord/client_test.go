package discord_test

import (
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

// update and notice answer an interaction by changing the message, and by a new
// one.
const (
	update = discordgo.InteractionResponseUpdateMessage
	notice = discordgo.InteractionResponseChannelMessageWithSource
	later  = discordgo.InteractionResponseDeferredMessageUpdate
)

func respond(
	t *testing.T, s *discordgo.Session, i *discordgo.Interaction,
	kind discordgo.InteractionResponseType, data *discordgo.InteractionResponseData,
) {
	t.Helper()
	if err := s.InteractionRespond(i, &discordgo.InteractionResponse{Type: kind, Data: data}); err != nil {
		t.Error(err)
	}
}

// clickAll clicks the buttons of a card, to which the bot gives answers of
// different kinds, and returns the card and the interactions.
func clickAll(t *testing.T, d *bench) (core.Place, map[string]*discordgo.Interaction) {
	t.Helper()
	buttons := inRow(button("private", "Private"), button("later", "Later"), button("go", "Go"))
	card := d.post(&discordgo.MessageSend{Content: "card", Components: buttons})
	got := make(chan *discordgo.Interaction, 9)
	d.connect(discordgo.IntentsGuildMessages, func(s *discordgo.Session, i *discordgo.Interaction) {
		got <- i
		switch data := (&discordgo.InteractionResponseData{}); i.MessageComponentData().CustomID {
		case "go":
			data.Content, data.Components = "clicked by "+i.Member.User.ID, []discordgo.MessageComponent{}
			respond(t, s, i, update, data)
		case "private":
			data.Content, data.Flags = "only you", discordgo.MessageFlagsEphemeral
			respond(t, s, i, notice, data)
		case "later":
			respond(t, s, i, later, nil)
		}
	})
	interactions := map[string]*discordgo.Interaction{}
	for _, label := range []string{"Private", "Later", "Go"} {
		if r, err := core.Press(t.Context(), d.e, "ana", card, label); err != nil || !r.OK {
			t.Fatalf("%s: %+v %v", label, r, err)
		}
		interactions[label] = <-got
	}
	return card, interactions
}

// TestPress checks what members see of the answers to a click: an update, and
// an ephemeral message.
func TestPress(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	card, _ := clickAll(t, d)
	if said := d.e.Sees("bo", card); !strings.Contains(said, "clicked by "+ana) ||
		len(d.e.Controls(d.e.Message(card.Channel, card.Message))) != 0 {
		t.Errorf("shows %q", said)
	}
	if notes := d.e.Notes("ana"); len(notes) != 1 || d.e.Notes("bo") != nil || d.e.PrivatePlaces("bo") != nil {
		t.Errorf("notes %q", notes)
	}
	private := d.e.PrivatePlaces("ana")[0]
	if d.e.Message(private.Channel, private.Message)["content"] != "only you" {
		t.Error("the ephemeral message is not found")
	}
	if _, err := d.bot.ChannelMessage(private.Channel, private.Message); err == nil {
		t.Error("the bot reads an ephemeral message as if it were public")
	}
}

// TestResponses checks what a bot does with a response: edits, follow-ups, and the
// documented errors.
func TestResponses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	_, interactions := clickAll(t, d)
	i, text := interactions["Private"], "edited"
	if _, err := d.bot.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text}); err != nil ||
		!strings.Contains(d.e.Notes("ana")[0], text) {
		t.Errorf("edited: %v, %q", err, d.e.Notes("ana"))
	}
	follow, err := d.bot.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "public"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.bot.FollowupMessageEdit(i, follow.ID, &discordgo.WebhookEdit{Content: &text}); err != nil {
		t.Error(err)
	}
	forged := *i
	forged.Token = "none"
	_, edit := d.bot.FollowupMessageEdit(i, "1", &discordgo.WebhookEdit{Content: &text})
	_, noToken := d.bot.FollowupMessageCreate(&forged, true, &discordgo.WebhookParams{Content: "x"})
	_, empty := d.bot.FollowupMessageCreate(i, true, &discordgo.WebhookParams{})
	d.refused("edit", 10008, edit)
	d.refused("answered twice", 40060, d.bot.InteractionRespond(i, &discordgo.InteractionResponse{Type: later}))
	d.refused("unknown", 10062, d.bot.InteractionRespond(&forged, &discordgo.InteractionResponse{Type: later}))
	d.refused("no token", 50027, noToken)
	d.refused("empty", 50006, empty)
}

// TestPick checks that choosing from a select is sent on its own.
func TestPick(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	menu := discordgo.SelectMenu{
		MenuType: discordgo.StringSelectMenu,
		CustomID: "which",
		Options:  []discordgo.SelectMenuOption{{Label: "Option x", Value: "x"}, {Label: "Option y", Value: "y"}},
	}
	where := d.post(
		&discordgo.MessageSend{Content: "card", Components: append(inRow(menu), inRow(button("send", "Send"))...)},
	)
	got := make(chan []string, 9)
	d.connect(discordgo.IntentsNone, func(s *discordgo.Session, i *discordgo.Interaction) {
		got <- i.MessageComponentData().Values
		respond(t, s, i, discordgo.InteractionResponseDeferredMessageUpdate, nil)
	})
	if r, err := d.e.Pick(t.Context(), "ana", where, []string{"Option y"}, "Send"); err != nil || !r.OK {
		t.Fatalf("picked: %+v %v", r, err)
	}
	if v := <-got; len(v) != 1 || v[0] != "y" || len(<-got) != 0 {
		t.Errorf("the app got %q", v)
	}
	if _, err := d.e.Pick(t.Context(), "ana", where, []string{"Option z"}, "Send"); err == nil {
		t.Error("picked an option that is not there")
	}
}

// TestImpossible checks that a member cannot do what the client does not offer.
func TestImpossible(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	off := button("off", "Off")
	off.Disabled = true
	where := d.post(&discordgo.MessageSend{Content: "card", Components: inRow(button("go", "Go"), off)})
	press := core.Action{As: "ana", Do: "press", Channel: where.Channel, Message: where.Message, Control: "go"}
	for word, change := range map[string]func(*core.Action){
		"no member":                    func(a *core.Action) { a.As = "zoe" },
		"cannot":                       func(a *core.Action) { a.Do = "dance" },
		"no channel":                   func(a *core.Action) { a.Channel = "1" },
		"no message":                   func(a *core.Action) { a.Message = "1" },
		"no control \"stop\"":          func(a *core.Action) { a.Control = "stop" },
		"no control \"off\"":           func(a *core.Action) { a.Control = "off" },
		"no modal \"\" is open":        func(a *core.Action) { a.Do = "close" },
		"is open for ana":              func(a *core.Action) { a.Do = "submit" },
		"there is no command \"/nod\"": func(a *core.Action) { a.Do, a.Text = "command", "/nod" },
	} {
		a := press
		change(&a)
		if _, err := d.e.Act(t.Context(), a); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
	if r := d.Act(press); !strings.Contains(r.Warning, "no bot is connected") {
		t.Errorf("without a session: %+v", r)
	}
}
