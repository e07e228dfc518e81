package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/broker"
)

// wall is a platform that shows cards and takes no clicks.
type wall struct{}

func (wall) Name() string                                 { return "wall" }
func (wall) Check(bridge.Interaction) error               { return nil }
func (wall) Run(ctx context.Context, _ bridge.Sink) error { <-ctx.Done(); return nil }

func (wall) Post(context.Context, bridge.Destination, bridge.View, *bridge.Parts) (bridge.MessageRef, error) {
	return bridge.MessageRef{Channel: "c", Message: "1"}, nil
}

func (wall) Update(context.Context, bridge.MessageRef, bridge.View, *bridge.Parts) error { return nil }

// judge is a policy that a test writes; nil asks about everything.
type judge struct {
	rule func(bridge.Act) bridge.Ruling
}

func (j *judge) Judge(a bridge.Act) bridge.Ruling {
	if j.rule == nil {
		return bridge.Ruling{Effect: bridge.EffectAsk}
	}
	return j.rule(a)
}

// court is an engine with a policy, three routes and an agent that asks.
type court struct {
	t      testing.TB
	engine *engine.Engine
	store  *broker.Broker
	judge  *judge
	agent  bridge.Agent
}

func newCourt(t testing.TB) *court {
	t.Helper()
	return newCourtOn(t, redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()}))
}

func newCourtOn(t testing.TB, client *redis.Client) *court {
	t.Helper()
	store, err := broker.New(t.Context(), broker.Options{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	masks, err := redact.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	people := func(names ...string) []bridge.Responder {
		var out []bridge.Responder
		for _, n := range names {
			out = append(out, bridge.Responder{Person: n, Platform: "wall", User: n})
		}
		return out
	}
	to := []bridge.Destination{{Platform: "wall", Channel: "c"}}
	c := &court{t: t, store: store, judge: &judge{}, agent: bridge.Agent{Name: "ci"}}
	c.engine = engine.New(engine.Options{
		Store: store, Keys: keys, Platforms: []bridge.Platform{wall{}}, Policy: c.judge, Redactor: masks,
		History: store, Agents: map[string]bridge.Agent{c.agent.Name: c.agent},
		Routes: map[string]bridge.Route{
			"default": {Destinations: to, Responders: people("ana", "bo")},
			"prod":    {Destinations: to, Responders: people("bo", "cy")},
			"both":    {Destinations: to, Responders: people("ana", "bo"), Quorum: 2},
			"must":    {Destinations: to, Responders: people("ana", "bo"), Must: []string{"bo"}},
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.engine.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		store.Close()
		_ = client.Close()
	})
	return c
}

// ask is a request for an approval in session s with every scope on offer.
func ask(prompt, tool, input string) bridge.Request {
	r := bridge.Request{Ask: bridge.Ask{
		Prompt: prompt, Session: "s",
		Approval: &bridge.Approval{Tool: tool, Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}},
	}}
	if input != "" {
		r.Approval.Input = json.RawMessage(input)
	}
	return r
}

func run(command string) bridge.Request { return ask("May I?", "bash", line(command)) }

func line(command string) string {
	b, _ := json.Marshal(map[string]string{"command": command})
	return string(b)
}

func (c *court) open(r bridge.Request) bridge.Record {
	c.t.Helper()
	rec, err := c.engine.Open(c.t.Context(), c.agent, r, "")
	if err != nil {
		c.t.Fatal(err)
	}
	return rec
}

// decide opens a request and has people answer it.
func (c *court) decide(r bridge.Request, d bridge.Decision, who ...string) bridge.Record {
	c.t.Helper()
	rec := c.open(r)
	if rec.State != bridge.StatePending {
		c.t.Fatalf("was not asked: %+v", rec.Response)
	}
	return c.answer(rec, d, who...)
}

func (c *court) answer(rec bridge.Record, d bridge.Decision, who ...string) bridge.Record {
	c.t.Helper()
	id := rec.Interaction.ID
	eventually(c.t, "the card is posted", func() bool {
		var err error
		if rec, err = c.engine.Get(c.t.Context(), id); err != nil {
			c.t.Fatal(err)
		}
		return len(rec.Messages) > 0
	})
	for _, name := range who {
		confirm := ""
		if rec.Interaction.Approval != nil {
			confirm = rec.Interaction.Approval.Confirm
		}
		var err error
		rec, err = c.engine.Answer(c.t.Context(), id, bridge.Actor{Platform: bridge.PlatformAPI, User: name, Person: name}, bridge.Reply{Decision: d, Confirm: confirm})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return rec
}

// passes reports whether a request is approved without a person, and withdraws
// it if it is not.
func (c *court) passes(r bridge.Request) bool {
	c.t.Helper()
	rec := c.open(r)
	if rec.State == bridge.StatePending {
		if _, err := c.engine.Cancel(c.t.Context(), rec.Interaction.ID, "test"); err != nil {
			c.t.Fatal(err)
		}
		return false
	}
	return rec.State == bridge.StateApproved
}

func (c *court) asked(what string, r bridge.Request) {
	c.t.Helper()
	if c.passes(r) {
		c.t.Errorf("approved without a person: %s", what)
	}
}

func (c *court) covered(what string, r bridge.Request) {
	c.t.Helper()
	if !c.passes(r) {
		c.t.Errorf("asked again: %s", what)
	}
}

func (c *court) grants() []bridge.Grant {
	c.t.Helper()
	all, err := c.engine.Grants.List(c.t.Context(), "")
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

// byRule grants by rule for lines whose parts all begin with "git push" or
// "make", and asks about the exact request otherwise.
func byRule(a bridge.Act) bridge.Ruling {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(a.Input, &in)
	r := bridge.Ruling{Effect: bridge.EffectAsk}
	for part := range strings.SplitSeq(in.Command, "; ") {
		found := false
		for _, rule := range []string{"git push", "make"} {
			if strings.HasPrefix(part, rule) {
				found = true
				r.Grants = append(r.Grants, bridge.RuleGrant{Key: "k-" + rule, Rule: strings.Fields(rule)[0], Covers: "command `" + rule + " *`"})
			}
		}
		if !found {
			r.Grants = nil
			break
		}
	}
	return r
}
