// Package pigeon is a small platform that exists only in this test. It shows that a
// platform needs its own folder, a line in the list of kinds and, for its emulator, one
// in the list of the sandbox, and nothing else.
package pigeon

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/config/secret"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
)

// Settings are those of a pigeon loft. It is used if token is set.
type Settings struct {
	Token secret.Text `yaml:"token" env:"PIGEON_TOKEN"`
	URL   string      `yaml:"url"`
}

// Kind describes pigeons to the rest of nod.
var Kind = platforms.Kind{
	Name: "pigeon", Title: "Pigeon", Doc: "connects a pigeon loft.",
	Settings: func() any { return &Settings{} },
	Account:  platforms.ID{Form: lazyregexp.New(`^P[0-9]+$`), Like: "P7", Doc: "the number of the person's perch."},
	Group:    platforms.ID{Form: lazyregexp.New(`^F[0-9]+$`), Like: "F1", Doc: "a flock."},
	Channel:  platforms.ID{Form: lazyregexp.New(`^loft-[0-9]+$`), Like: "loft-1"},
	Callback: "/pigeon/clicks", Sandbox: "/pigeon",
	Setup: platforms.Setup{
		Steps: func() string { return "Pigeon\n  1. Ask the loft for a token." }, Tokens: []platforms.Token{{Key: "token", Label: "Token"}},
		Place: "loft", Label: "loft", Find: "  2. Read the number on the perch.",
	},
	New: func(settings any, o platforms.Options) (platforms.Adapter, error) {
		s := settings.(*Settings)
		if o.APIURL == "" {
			o.APIURL = s.URL
		}
		return newLoft(s.Token.Value(), o), nil
	},
}

func newLoft(token string, o platforms.Options) *loft {
	return &loft{name: o.Name, url: o.APIURL + "/send", token: token, client: &http.Client{Timeout: 10 * time.Second}}
}

// message is a message of the service: a text and buttons.
type message struct {
	ID      string   `json:"id"`
	To      string   `json:"to"`
	Text    string   `json:"text"`
	Buttons []button `json:"buttons"`
}

// button is a button of a message. A click on it has its token.
type button struct {
	Label string `json:"label"`
	Token string `json:"token"`
}

// click is a click that the service reports.
type click struct{ User, Token, To, Message string }

// loft is the platform.
type loft struct {
	platforms.Basic
	name, url, token string
	client           *http.Client
}

// Name implements bridge.Platform.
func (l *loft) Name() string { return l.name }

// Check implements bridge.Platform.
func (l *loft) Check(i bridge.Interaction) error {
	if i.Kind != bridge.KindApproval && i.Kind != bridge.KindNotice {
		return bridge.Errorf(bridge.CodeUnsupported, "a pigeon carries only approvals")
	}
	return nil
}

// Post implements bridge.Platform.
func (l *loft) Post(ctx context.Context, d bridge.Destination, v bridge.View, _ *bridge.Parts) (bridge.MessageRef, error) {
	id, err := l.send(ctx, message{To: d.Channel}, v)
	return bridge.MessageRef{Channel: d.Channel, Message: id}, err
}

// Update implements bridge.Platform.
func (l *loft) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, _ *bridge.Parts) error {
	_, err := l.send(ctx, message{ID: ref.Message, To: ref.Channel}, v)
	return err
}

// send sends a new message, or changes the one that has an ID.
func (l *loft) send(ctx context.Context, m message, v bridge.View) (id string, err error) {
	card := render.NewCard(v, func(bridge.Question) bool { return false })
	parts := append([]string{card.HeadText(), card.From, render.PlainText(card.Body), render.PlainText(card.Closing)}, render.Notes(v)...)
	m.Text, m.Buttons = strings.Join(parts, "\n"), nil
	if i := v.Record.Interaction; !card.Closed && !v.Waiting {
		for _, n := range render.Ordered(i) {
			m.Buttons = append(m.Buttons, button{render.CardLabel(i, i.Decisions()[n]), v.Token(i.DecisionControl(n))})
		}
	}
	return l.put(ctx, m)
}

// Remind implements bridge.ReminderPoster.
func (l *loft) Remind(ctx context.Context, d bridge.Destination, _ bridge.MessageRef, r bridge.Reminder) error {
	_, err := l.put(ctx, message{To: d.Channel, Text: r.Text})
	return err
}

// Tell implements bridge.DirectMessenger.
func (l *loft) Tell(ctx context.Context, user, text string) error {
	_, err := l.put(ctx, message{To: user, Text: text})
	return err
}

// put makes a call of the loft, and returns the ID of the message.
func (l *loft) put(ctx context.Context, m message) (id string, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+l.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.client.Do(req)
	if err != nil {
		return "", platforms.NetworkError("the loft", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests:
		return "", bridge.Errorf(bridge.CodeUnavailable, "the loft answers %s", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return "", bridge.Errorf(bridge.CodeForbidden, "the loft answers %s", resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&m)
	return m.ID, err
}

// Run implements bridge.Platform.
func (l *loft) Run(ctx context.Context, _ bridge.Sink) error {
	<-ctx.Done()
	return nil
}

// Handler implements platforms.Adapter.
func (l *loft) Handler(sink bridge.Sink) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c click
		switch {
		case r.Method != http.MethodPost:
			http.NotFound(w, r)
			return
		case r.Header.Get("Authorization") != "Bearer "+l.token:
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		case json.NewDecoder(r.Body).Decode(&c) != nil:
			http.Error(w, "not a click", http.StatusBadRequest)
			return
		}
		v, err := sink.Click(r.Context(), bridge.Click{
			Token: c.Token, Actor: bridge.Actor{Platform: l.name, User: c.User}, Ref: bridge.MessageRef{Channel: c.To, Message: c.Message},
		})
		if bridge.ErrorCode(err) == bridge.CodeUnavailable {
			http.Error(w, bridge.PublicError(err).Message, http.StatusServiceUnavailable)
			return
		}
		if err != nil {
			_, _ = w.Write([]byte(bridge.PublicError(err).Message)) // the person reads it
			return
		}
		_, _ = w.Write([]byte(strings.TrimSpace(string(v.Kind) + " " + v.Note)))
	})
}
