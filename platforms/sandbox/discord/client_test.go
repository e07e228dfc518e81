package discord_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

func respond(
	t *testing.T,
	s *discordgo.Session,
	i *discordgo.Interaction,
	kind discordgo.InteractionResponseType,
	data *discordgo.InteractionResponseData,
) {
	t.Helper()
	if err := s.InteractionRespond(i, &discordgo.InteractionResponse{Type: kind, Data: data}); err != nil {
		t.Error(err)
	}
}

// TestPress checks a press and every way to answer it: an ephemeral message, an
// update, edits of the response, follow-ups.
func TestPress(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, discord.Options{}, false), t.Context()
	where := d.post(
		&discordgo.MessageSend{
			Content:    "card",
			Components: inRow(button("go", "Go"), button("private", "Private"), button("later", "Later")),
		},
	)
	var mu sync.Mutex
	last := map[string]*discordgo.Interaction{}
	d.connect(
		discordgo.IntentsGuilds|discordgo.IntentsGuildMessages,
		func(s *discordgo.Session, i *discordgo.Interaction) {
			mu.Lock()
			defer mu.Unlock()
			id := i.MessageComponentData().CustomID
			last[id] = i
			switch id {
			case "go":
				respond(
					t,
					s,
					i,
					discordgo.InteractionResponseUpdateMessage,
					&discordgo.InteractionResponseData{
						Content:    "pressed by " + i.Member.User.ID,
						Components: []discordgo.MessageComponent{},
					},
				)
			case "private":
				respond(
					t,
					s,
					i,
					discordgo.InteractionResponseChannelMessageWithSource,
					&discordgo.InteractionResponseData{
						Content:    "only you",
						Flags:      discordgo.MessageFlagsEphemeral,
						Components: inRow(button("more", "More")),
					},
				)
			case "later":
				respond(t, s, i, discordgo.InteractionResponseDeferredMessageUpdate, nil)
			}
		},
	)
	for _, label := range []string{"Private", "Later", "Go"} {
		if r, err := core.Press(ctx, d.e, "ana", where, label); err != nil || !r.OK {
			t.Fatalf("%s: %+v %v", label, r, err)
		}
	}
	if said := d.e.Sees("bo", where); !strings.Contains(said, "pressed by "+ana) ||
		len(d.e.Controls(d.e.Message(where.Channel, where.Message))) != 0 {
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
	mu.Lock()
	defer mu.Unlock()
	text := "edited"
	i := last["private"]
	if m, err := d.bot.InteractionResponse(i); err != nil || m.ID != private.Message {
		t.Errorf("response: %v %v", m, err)
	}
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
	if err := d.bot.InteractionResponseDelete(i); err != nil || len(d.e.Notes("ana")) != 0 {
		t.Errorf("deleted: %v, %q", err, d.e.Notes("ana"))
	}
	d.refused("deleted twice", 10008, d.bot.InteractionResponseDelete(i))
	_, err = d.bot.InteractionResponse(i)
	d.refused("read", 10008, err)
	_, err = d.bot.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text})
	d.refused("edit", 10008, err)
	d.refused(
		"answered twice",
		40060,
		d.bot.InteractionRespond(i, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate}),
	)
	forged := *i
	forged.Token = "none"
	d.refused(
		"unknown",
		10062,
		d.bot.InteractionRespond(
			&forged,
			&discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate},
		),
	)
	_, err = d.bot.FollowupMessageCreate(&forged, true, &discordgo.WebhookParams{Content: "x"})
	d.refused("no token", 50027, err)
	_, err = d.bot.FollowupMessageCreate(i, true, &discordgo.WebhookParams{})
	d.refused("empty", 50006, err)
}

func labelled(label string, c map[string]any) map[string]any {
	return map[string]any{"type": 18, "label": label, "component": c}
}

func choices(kind int, id string, rest map[string]any) map[string]any {
	c := map[string]any{"type": kind, "custom_id": id, "options": []any{
		map[string]any{"label": "Option x", "value": "x"}, map[string]any{"label": "Option y", "value": "y", "default": true},
	}}
	for k, v := range rest {
		c[k] = v
	}
	return c
}

// TestModal checks that a press opens a modal, what the client does not let a
// member send, and what the app gets.
func TestModal(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, discord.Options{}, false), t.Context()
	where := d.post(&discordgo.MessageSend{Content: "card", Components: inRow(button("open", "Open"))})
	modal := map[string]any{"custom_id": "form", "title": "Form", "components": []any{
		labelled("Note", map[string]any{"type": 4, "custom_id": "note", "style": 1, "min_length": 3, "max_length": 5}),
		labelled("One", choices(3, "one", nil)),
		labelled("Radio", choices(21, "radio", map[string]any{"required": false})),
		labelled("Many", choices(22, "many", nil)),
		map[string]any{"type": 10, "content": "text"},
	}}
	got := make(chan json.RawMessage, 1)
	d.bot.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		if e.Type == "INTERACTION_CREATE" && strings.Contains(string(e.RawData), `"type":5`) {
			select {
			case got <- e.RawData:
			default:
			}
		}
	})
	d.connect(discordgo.IntentsNone, func(s *discordgo.Session, i *discordgo.Interaction) {
		if i.Type == discordgo.InteractionModalSubmit {
			respond(
				t,
				s,
				i,
				discordgo.InteractionResponseUpdateMessage,
				&discordgo.InteractionResponseData{Content: "submitted"},
			)
			return
		}
		_, err := s.Request(
			"POST",
			discordgo.EndpointInteractionResponse(i.ID, i.Token)+"?with_response=true",
			map[string]any{"type": 9, "data": modal},
		)
		if err != nil {
			t.Error(err)
		}
	})
	closed, err := core.Press(ctx, d.e, "ana", where, "Open")
	if err != nil || !d.act(core.Action{As: "ana", Do: "close", View: closed.Modal}).OK {
		t.Fatalf("opened and closed: %+v %v", closed, err)
	}
	r, err := core.Press(ctx, d.e, "ana", where, "Open")
	if err != nil || r.Modal == "" {
		t.Fatalf("opened: %+v %v", r, err)
	}
	for word, fields := range map[string][][]string{
		"is required": {nil}, "is longer": {{"123456"}}, "is shorter": {{"1"}}, "choose 1 to 1": {{"1234"}, {}},
		"has 4 inputs": {nil, nil, nil, nil, nil}, "no option": {{"1234"}, {"z"}},
	} {
		if _, err := core.Fill(ctx, d.e, "ana", r.Modal, fields); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
	if _, err := core.Fill(ctx, d.e, "bo", r.Modal, nil); err == nil {
		t.Error("a member fills in another's modal")
	}
	if r, err := core.Fill(ctx, d.e, "ana", r.Modal, [][]string{{"1234"}, nil, {"Option x"},
		{"Option x", "Option y"}}); err != nil || !r.OK {
		t.Fatalf("submitted: %+v %v", r, err)
	}
	var in struct {
		Data struct {
			Components []struct{ Component map[string]any }
		}
	}
	if err := json.Unmarshal(<-got, &in); err != nil {
		t.Fatal(err)
	}
	c := in.Data.Components
	if c[0].Component["value"] != "1234" || c[1].Component["values"].([]any)[0] != "y" ||
		c[2].Component["value"] != "x" || len(c[3].Component["values"].([]any)) != 2 {
		t.Errorf("the app got %v", c)
	}
	if said := d.e.Sees("bo", where); !strings.Contains(said, "submitted") || len(d.state().Modals) != 0 {
		t.Errorf("shows %q", said)
	}
}

// TestModalChecks checks what Discord refuses in a modal.
func TestModalChecks(t *testing.T) {
	t.Parallel()
	text := map[string]any{"type": 4, "custom_id": "a", "style": 1}
	with := func(c map[string]any, k string, v any) map[string]any {
		out := map[string]any{k: v}
		for n, x := range c {
			if n != k {
				out[n] = x
			}
		}
		return out
	}
	old := func(c map[string]any) map[string]any {
		return map[string]any{"type": 1, "components": []any{c}}
	}
	for _, x := range []struct {
		component any
		word      string
	}{
		{labelled("x", text), ""},
		{old(with(text, "label", "x")), ""},
		{old(text), "label"},
		{map[string]any{"type": 10, "content": "x"}, ""},
		{map[string]any{"type": 10, "content": ""}, "content"},
		{map[string]any{"type": 2}, "UNION_TYPE_CHOICES"},
		{labelled(strings.Repeat("x", 46), text), "label"},
		{labelled("x", with(text, "label", "y")), "label"},
		{labelled("x", with(text, "style", 3)), "style"},
		{labelled("x", with(text, "max_length", 4001)), "max_length"},
		{labelled("x", with(text, "value", strings.Repeat("x", 4001))), "value"},
		{labelled("x", with(text, "placeholder", strings.Repeat("x", 101))), "placeholder"},
		{labelled("x", with(text, "type", 9)), "UNION_TYPE_CHOICES"},
		{labelled("x", choices(23, "a", nil)), ""},
		{labelled("x", choices(3, "a", map[string]any{"disabled": true})), "COMPONENT_DISABLED"},
		{labelled("x", choices(3, "a", map[string]any{"min_values": 0})), "min_values"},
		{labelled("x", choices(3, "a", map[string]any{"min_values": 0, "required": false})), ""},
		{labelled("x", choices(21, "a", map[string]any{"options": []any{}})), "options"},
		{labelled("x", choices(22, "a", map[string]any{"min_values": 11})), "min_values"},
		{labelled("x", choices(22, "a", nil)), ""},
	} {
		encoded, err := json.Marshal(map[string]any{"title": "x", "custom_id": "x", "components": []any{x.component}})
		if err != nil {
			t.Fatal(err)
		}
		if got := discord.CheckModal(encoded); (x.word == "") != (got == "") || !strings.Contains(got, x.word) {
			t.Errorf("%s: %s, want %q", encoded, got, x.word)
		}
	}
	if discord.CheckModal([]byte("{")) == "" || discord.CheckModal([]byte("{}")) == "" {
		t.Error("an empty modal is taken")
	}
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
		"can not":                      func(a *core.Action) { a.Do = "dance" },
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
	if r := d.act(press); !strings.Contains(r.Warning, "nobody is connected") {
		t.Errorf("without a session: %+v", r)
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
	d := newDesk(t, discord.Options{URL: app.URL, ResponseTTL: 100 * time.Millisecond}, false)
	key = d.e.PublicKey()
	id := &discordgo.ApplicationCommandOption{Name: "id", Description: "x", Type: discordgo.ApplicationCommandOptionString}
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
		t.Fatal(err)
	}
	command := core.Action{As: "ana", Do: "command", Channel: discord.Channel, Text: "/nod grant g1"}
	for said, word := range map[string]string{
		"202": "no answer", "500": "HTTP 500", "no": "not JSON", `{"type":99}`: "Invalid Form Body",
		`{"type":7,"data":{}}`: "Invalid Form Body",
		`{"type":9,"data":{}}`: "Invalid Form Body", `{"type":4,"data":{}}`: "empty message",
	} {
		answers <- said
		if r := d.act(command); r.OK || !strings.Contains(r.Warning, word) {
			t.Errorf("%s: %+v, want %q", said, r, word)
		}
	}
	answers <- `{"type":4,"data":{"content":"listed","flags":64}}`
	if r := d.act(command); !r.OK || len(d.e.Notes("ana")) != 1 {
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

// TestGateway checks faults of events, resuming, invalid sessions and tokens.
func TestGateway(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(
		t,
		discord.Options{Heartbeat: 50 * time.Millisecond, ResponseTTL: 300 * time.Millisecond},
		false,
	), t.Context()
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
	d.fault(core.Fault{Kind: "event_duplicate", Count: 1})
	if r := press(); !r.OK {
		t.Errorf("duplicated: %+v", r)
	}
	<-got
	<-got
	d.fault(core.Fault{Kind: "mute", Count: 1})
	if r := press(); r.OK {
		t.Errorf("muted: %+v", r)
	}
	d.post(&discordgo.MessageSend{Content: "another"})
	<-created
	for _, code := range []int{0, 4000} {
		if err := d.e.Disconnect(code); err != nil {
			t.Fatal(err)
		}
		<-resumed
	}
	d.fault(core.Fault{Kind: "refuse_connect"})
	if s := d.session(discord.Token); s.Open() == nil {
		t.Error("a session opened")
	}
	d.hub.ClearFaults()
	s := d.session("wrong")
	s.LogLevel, s.ShouldReconnectOnError = -1, false
	if err := s.Open(); err == nil {
		t.Error("a wrong token opened a session")
	}
}
