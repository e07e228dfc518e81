package platformtest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/bridge/turns"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// routeTwo is a route that requires two approvers.
const routeTwo = "two"

// routeSlow is a route with an early reminder.
const routeSlow = "slow"

// NewTurns returns the rate limits of an empty store.
func NewTurns(testing.TB) bridge.Turns {
	return turns.New(documents.DB{Store: memory.New(broker.NewSeals()), Log: slog.New(slog.DiscardHandler)})
}

// startEngine creates the adapter and an engine on an embedded store.
func (r *Rig) startEngine(s Setup) bridge.Sink {
	r.T.Helper()
	store := stored.InMemory(r.T, r.stored, func() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) })
	r.db = store.DB
	s.Notes, s.Turns = store.Notes(), turns.New(store.Documents())
	r.make(s)
	people := map[string]directory.Person{}
	var responders []bridge.Responder
	for _, m := range sandbox.SampleMembers() {
		account := r.Harness.Account(m)
		people[m.Key] = directory.Person{Accounts: map[string]string{r.Harness.Name: account}}
		if m.Key != "mal" {
			responders = append(responders, bridge.Responder{Person: m.Key, Platform: r.Harness.Name, User: account})
		}
	}
	route := bridge.Route{
		Destinations: []bridge.Destination{{Platform: r.Harness.Name, Channel: r.Harness.Channel}}, Responders: responders,
	}
	two, slow := route, route
	route.Attention.Mention = bridge.MentionNone // any mention on a card is then a fault
	two.Quorum, slow.Snooze = 2, time.Second
	slow.Steps = []bridge.Step{{After: bridge.Duration(time.Hour), Remind: true}}
	r.Engine = rooms.New(rooms.Options{Options: engine.Options{
		Store: store, DB: store.DB, Keys: r.Keys, Platforms: []bridge.Platform{r.Platform},
		Routes:    map[string]bridge.Route{bridge.DefaultRoute: route, routeTwo: two, routeSlow: slow},
		Directory: directory.New(directory.Options{People: people, Remembered: time.Nanosecond}),
		Agents:    map[string]bridge.Agent{r.agent.Name: r.agent},
		Log:       slog.New(slog.NewTextHandler(logged{r.T.Context(), r.T.Log}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}})
	return r.Engine
}

// logged writes a log to the output of its test while the test runs.
type logged struct {
	ctx context.Context
	log func(...any)
}

// Write implements io.Writer.
func (l logged) Write(b []byte) (int, error) {
	if l.ctx.Err() == nil {
		l.log(strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

// Card is a request whose card is posted.
type Card struct {
	bridge.Record
	r *Rig
}

// ask opens a request and waits for its card.
func (r *Rig) ask(req bridge.Request) Card {
	r.T.Helper()
	if req.Prompt == "" {
		req.Prompt = "Please answer"
	}
	rec, err := r.Engine.Open(r.Ctx, r.agent, req, "")
	if err != nil {
		r.T.Fatal(err)
	}
	return r.posted(rec.Interaction.ID)
}

// posted waits for the card of a request.
func (r *Rig) posted(id bridge.ID) Card {
	r.T.Helper()
	c := Card{r: r}
	r.Eventually("the card is posted", func() bool {
		var err error
		c.Record, err = r.Engine.Get(r.Ctx, id)
		return err == nil && len(c.Messages)+len(c.Failures) == len(c.Interaction.Destinations)
	})
	if len(c.Failures) > 0 {
		r.T.Fatalf("the card is not posted: %v", c.Failures)
	}
	return c
}

// due makes the first step of the escalation due now.
func (c Card) due() {
	c.r.T.Helper()
	stored.Due(c.r.T, c.r.db, fmt.Sprintf("%s:%s:0", life.JobStep, c.Interaction.ID))
}

// at returns the place of the card in the sandbox.
func (c Card) at() sandbox.Place { return c.r.Place(c.Messages[0]) }

func (c Card) text() string { return c.r.Text(c.at()) }

func (c Card) controls() []sandbox.Control { return c.r.Controls(c.at()) }

// read waits until nod has recorded that the card shows the full text. Reading
// the text takes a person longer than that.
func (c Card) read() Card {
	c.r.T.Helper()
	c.r.Eventually("nod knows that the card shows everything", func() bool {
		rec, err := c.r.Engine.Get(c.r.Ctx, c.Interaction.ID)
		return err == nil && rec.Shown[0] != ""
	})
	return c
}

// end waits for the response like an agent.
func (c Card) end() bridge.Record {
	c.r.T.Helper()
	ctx, cancel := context.WithTimeout(c.r.Ctx, await.Limit)
	defer cancel()
	rec, err := c.r.Engine.Await(ctx, c.Interaction.ID)
	if err != nil {
		c.r.T.Fatal(err)
	}
	return *rec
}

// closed waits until no control of the card decides, and the card contains the
// words.
func (c Card) closed(words ...string) {
	c.r.T.Helper()
	for _, w := range words {
		c.r.Says(c.at(), w)
	}
	c.r.Eventually("the card has no controls that decide", func() bool {
		return !slices.ContainsFunc(c.controls(), func(k sandbox.Control) bool { return k.Label != render.LabelRead })
	})
}

// pending fails the test unless the request is pending and its controls are
// visible.
func (c Card) pending() bridge.Record {
	c.r.T.Helper()
	rec, err := c.r.Engine.Get(c.r.Ctx, c.Interaction.ID)
	if err != nil || rec.State != bridge.StatePending {
		c.r.T.Fatalf("state %s, %v; want pending", rec.State, err)
	}
	if len(c.controls()) == 0 {
		c.r.T.Fatal("the controls are gone")
	}
	return rec
}

// holding returns a click that was prepared while the controls were visible.
func (c Card) holding(label, who string) sandbox.Action {
	c.r.T.Helper()
	c.r.Has(c.at(), label)
	act := sandbox.Action{
		Service: c.r.Harness.Name, As: who, Do: "press", Channel: c.at().Channel, Message: c.at().Message,
	}
	for _, control := range c.controls() {
		if act.Control == "" && strings.Contains(control.Label, label) {
			act.Control = control.ID
		}
	}
	return act
}

// elsewhere answers for a person without using the card.
func (c Card) elsewhere(who string, reply bridge.Reply) {
	c.r.T.Helper()
	actor := bridge.Actor{Platform: bridge.PlatformAPI, User: who, Name: who, Person: who}
	if _, err := c.r.Engine.Answer(c.r.Ctx, c.Interaction.ID, actor, reply); err != nil {
		c.r.T.Fatal(err)
	}
}
