package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// world is an installation in this process whose config a test can change
// while requests are pending. Each channel is a place of the platform "chat".
type world struct {
	t       testing.TB
	store   *stored.Store
	redis   *redis.Client // nil in memory
	ahead   atomic.Int64  // of the clock of a store in memory, in ns
	keys    bridge.Keyring
	chat    *board
	engine  *rooms.House
	setup   setup
	reloads int
	rule    ruleFunc    // of a governed world
	bell    *await.Bell // rings after changes of the store and of cards
	// between replaces the store of the engine at the next reload.
	between core.Port
}

// setup is the part of the config that a reload changes.
type setup struct {
	people  map[string]directory.Person
	groups  map[string]directory.Group
	routes  map[string]bridge.Route
	agents  map[string]bridge.Agent
	policy  ruleFunc
	version string // of the policy
	config  string // its version; empty for a new one at each reload
	hide    bridge.Redactor
	signer  *proof.Signer // nil if nothing is proven
	linking bool
	// strangers means that requesters need not be in the config.
	strangers bool
	linked    bool          // accounts can be linked
	kept      time.Duration // of the audit log; 0 means forever
	site      *passkey.Site
	admins    []string
}

// ruleFunc is a policy that is a function.
type ruleFunc func(bridge.Act) bridge.Ruling

func (j ruleFunc) Judge(a bridge.Act) bridge.Ruling { return j(a) }

var team = []string{"ana", "bo", "cy", "di", "eve"}

func newSetup() setup {
	s := setup{people: map[string]directory.Person{}, routes: map[string]bridge.Route{}, agents: map[string]bridge.Agent{}}
	for _, who := range team {
		s.people[who] = directory.Person{Accounts: map[string]string{"chat": "U-" + who}}
	}
	s.routes["default"] = routeTo("C1", "ana", "bo")
	s.routes["prod"] = routeTo("C2", "cy", "di")
	return s
}

// swap gives each of two people the account of the other.
func (s setup) swap(a, b string) { s.people[a], s.people[b] = s.people[b], s.people[a] }

func routeTo(channel string, people ...string) bridge.Route {
	r := bridge.Route{Destinations: []bridge.Destination{{Platform: "chat", Channel: channel}}}
	for _, who := range people {
		r.Responders = append(r.Responders, bridge.Responder{Person: who, Platform: "chat", User: "U-" + who})
	}
	return r
}

// newWorld returns a world whose store is in this process.
func newWorld(t testing.TB, s setup) *world {
	t.Helper()
	w := &world{t: t, bell: &await.Bell{}}
	w.store = stored.InMemory(t, w.bell, func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) })
	return w.run(s)
}

// pass moves the clock of the store on.
func (w *world) pass(d time.Duration) { w.ahead.Add(int64(d)) }

// newWorldOn returns a world whose store is in a Redis.
func newWorldOn(t testing.TB, s setup, c *redis.Client) *world {
	t.Helper()
	w := &world{t: t, bell: &await.Bell{}, redis: c}
	redistest.Rings(c, w.bell)
	w.store = stored.InRedis(t, c)
	return w.run(s)
}

// inRedis returns a world whose store is in a Redis that a test changes by hand.
func inRedis(t testing.TB, s setup) *world {
	t.Helper()
	return newWorldOn(t, s, redistest.Shared(t).Client(t))
}

// run runs the first engine of a world.
func (w *world) run(s setup) *world {
	w.t.Helper()
	var err error
	if w.keys, err = bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey))); err != nil {
		w.t.Fatal(err)
	}
	w.chat = &board{bell: w.bell, cards: map[string]bridge.View{}, gone: map[string]bool{}}
	w.reload(s)
	w.serve()
	return w
}

// serve runs the current engine until the test ends.
func (w *world) serve() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	runner := w.engine
	go func() { done <- runner.Run(ctx) }()
	w.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// headerLen is the length of what comes before the value of a stored document.
const headerLen = 42

// document returns the name of a document in Redis.
func document(kind string, id bridge.ID) string { return "nod:{nod}:d:" + kind + ":" + string(id) }

// rewrite changes the value of a document in Redis, and keeps its seal.
func (w *world) rewrite(kind string, id bridge.ID, change func(string) string) {
	w.t.Helper()
	name := document(kind, id)
	was, err := w.redis.Get(w.t.Context(), name).Result()
	if err == nil {
		err = w.redis.Set(w.t.Context(), name, was[:headerLen]+change(was[headerLen:]), 0).Err()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// reload applies a changed config, as the daemon does. Jobs stay with the first
// engine: they only draw.
func (w *world) reload(s setup) {
	w.reloads++
	if s.signer != nil {
		w.store.Keys.Use(s.signer.SealKeys(""))
		w.store.Sign(s.signer)
	}
	people := directory.Options{People: s.people, Groups: s.groups, Remembered: time.Nanosecond}
	if s.linked {
		people.Links = engine.NewLinked(w.store.Documents())
	}
	o := rooms.Options{Options: engine.Options{
		Store: w.store, DB: w.store.DB, Signer: s.signer, History: w.store, Keys: w.keys, Platforms: []bridge.Platform{w.chat}, Routes: s.routes, Agents: s.agents,
		PolicyVersion: s.version, ConfigVersion: cmp.Or(s.config, fmt.Sprint("config ", w.reloads)), Redactor: s.hide, Linking: s.linking, UnknownRequesters: s.strangers,
		Directory: directory.New(people),
	}, AuditRetention: s.kept,
		Signing: passkeys.Signing{Site: s.site, People: team, Administrators: s.admins}}
	if w.between != nil {
		o.Store = w.between
	}
	if s.policy != nil {
		o.Policy = s.policy
	}
	w.setup, w.engine = s, rooms.New(o)
}

// open opens a request, and waits for its cards.
func (w *world) open(agent bridge.Agent, r bridge.Request) bridge.Record {
	w.t.Helper()
	rec, err := w.engine.Open(w.t.Context(), agent, r, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.posted(rec.Interaction.ID)
}

func (w *world) posted(id bridge.ID) bridge.Record {
	w.t.Helper()
	var rec bridge.Record
	w.eventually("the cards of "+string(id)+" are posted", func() bool {
		rec = w.get(id)
		return rec.State.Final() || len(rec.Messages)+len(rec.Failures) >= len(rec.Interaction.Destinations)
	})
	return rec
}

// eventually waits until a condition holds. It checks the condition after each
// change of the store and of a card.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	await.Until(w.t, what, holds, w.bell.Next)
}

func (w *world) get(id bridge.ID) bridge.Record {
	w.t.Helper()
	rec, err := w.store.Load(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

// drawn waits until the card of a request in a channel shows what is stored.
func (w *world) drawn(id bridge.ID, channel string) bridge.View {
	w.t.Helper()
	var v bridge.View
	w.eventually("the card of "+string(id)+" in "+channel+" is up to date", func() bool {
		rec, ok := w.get(id), false
		v, ok = w.chat.card(channel, id)
		return ok && v.Record.Revision == rec.Revision
	})
	return v
}

// press clicks a decision on the card that the channel shows now.
func (w *world) press(who string, id bridge.ID, channel string, d bridge.Decision, typed string) bridge.Verdict {
	w.t.Helper()
	v := w.drawn(id, channel)
	return w.pressOn(who, v, channel, d, typed)
}

// pressOn clicks a decision on a card as it was drawn.
func (w *world) pressOn(who string, v bridge.View, channel string, d bridge.Decision, typed string) bridge.Verdict {
	w.t.Helper()
	i := v.Record.Interaction
	n := slices.Index(i.Decisions(), d)
	if n < 0 {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: "not on offer"}
	}
	action, question, option := i.DecisionControl(n)
	if action == bridge.ActionInput {
		action = bridge.ActionSubmit
	}
	said := w.click(who, channel, v.Token(action, question, option), typed, i.ID)
	if said.Kind != bridge.VerdictReview {
		return said
	}
	w.state(i.ID, bridge.StatePending)
	return w.click(who, channel, confirmation(said), "", i.ID)
}

// confirmation returns the token of the control that confirms a change.
func confirmation(v bridge.Verdict) string {
	c := v.Review.Control
	return v.Review.View.Token(bridge.ActionSubmit, c.Question, c.Option)
}

func (w *world) click(who, channel, token, typed string, id bridge.ID) bridge.Verdict {
	w.t.Helper()
	verdict, err := w.engine.Click(w.t.Context(), bridge.Click{
		Token: token, Typed: typed, Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
		Ref: bridge.MessageRef{Channel: channel, Message: string(id)},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return verdict
}

// answer responds by API.
func (w *world) answer(who string, id bridge.ID, r bridge.Reply) error {
	w.t.Helper()
	_, err := w.engine.Answer(w.t.Context(), id, bridge.Actor{Platform: bridge.PlatformAPI, User: who,
		Name: who, Person: who}, r)
	return err
}

func shell(command string) bridge.Request {
	raw, _ := json.Marshal(map[string]string{"command": command}) // a string always marshals
	return bridge.Request{Ask: bridge.Ask{Prompt: "May I?", Approval: &bridge.Approval{Tool: "Bash", Input: raw,
		Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce,
			bridge.DecideEdit}}, Timeout: bridge.Duration(10 * time.Minute)}}
}

// commandOf is the command of an act that shell made.
func commandOf(a bridge.Act) string {
	var in struct{ Command string }
	_ = json.Unmarshal(a.Input, &in) // empty for an edit that is not an object
	return in.Command
}

// ruledBy is a policy with one rule, for make.
func ruledBy(r bridge.Ruling) ruleFunc { return byWord(map[string]bridge.Ruling{"make": r}) }

// byWord rules by the first word of a command; words that are not named are
// asked.
func byWord(rules map[string]bridge.Ruling) ruleFunc {
	return func(a bridge.Act) bridge.Ruling {
		word, _, _ := strings.Cut(commandOf(a), " ")
		r, ok := rules[word]
		if !ok || r.Effect == "" {
			r.Effect = bridge.EffectAsk
		}
		r.Rule = word
		return r
	}
}

// board is a platform that shows cards, and remembers what it shows.
type board struct {
	bell  *await.Bell
	mu    sync.Mutex
	cards map[string]bridge.View // by channel and message
	next  int
	notes []string // about messages to agents
	// outcome returns the outcome of the next call, which draws a message. Nil means
	// that each call succeeds.
	outcome func(bridge.MessageRef) outcome
	gone    map[string]bool // deleted messages, by channel and message
}

// outcome holds the outcome of a call to draw a card.
type outcome struct {
	takes time.Duration
	err   error
	lost  bool // the card is drawn, and the response is lost
}

// draws draws a card unless a fault prevents it.
func (p *board) draws(ref *bridge.MessageRef, v bridge.View) error {
	defer p.bell.Ring()
	var o outcome
	if p.outcome != nil {
		o = p.outcome(*ref)
		time.Sleep(o.takes)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	posts := ref.Message == ""
	switch {
	case errors.Is(o.err, bridge.ErrDeleted) && posts:
		o.err = nil
	case errors.Is(o.err, bridge.ErrDeleted):
		delete(p.cards, ref.Channel+" "+ref.Message)
		p.gone[ref.Channel+" "+ref.Message] = true
	case p.gone[ref.Channel+" "+ref.Message]:
		return bridge.ErrDeleted
	}
	if o.err != nil && (posts || !o.lost) {
		return o.err
	}
	if posts {
		p.next++
		ref.Message = fmt.Sprint(p.next)
	}
	p.cards[ref.Channel+" "+ref.Message] = v
	return o.err
}

func (p *board) Name() string                                 { return "chat" }
func (p *board) Check(bridge.Interaction) error               { return nil }
func (p *board) Run(ctx context.Context, _ bridge.Sink) error { <-ctx.Done(); return nil }

// Link implements bridge.Linker.
func (p *board) Link(_ context.Context, ref bridge.MessageRef) string {
	return "https://chat.example/" + ref.Channel + "/" + ref.Message
}

func (p *board) Post(_ context.Context, d bridge.Destination, v bridge.View, _ *bridge.Parts) (bridge.MessageRef,
	error) {
	ref := bridge.MessageRef{Channel: d.Channel, Thread: d.Thread}
	err := p.draws(&ref, v)
	return ref, err
}

func (p *board) Update(_ context.Context, ref bridge.MessageRef, v bridge.View, _ *bridge.Parts) error {
	return p.draws(&ref, v)
}

// card is the message of a channel that shows a request.
func (p *board) card(channel string, id bridge.ID) (bridge.View, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, v := range p.cards {
		if c, _, _ := strings.Cut(at, " "); c == channel && v.Record.Interaction.ID == id {
			return v, true
		}
	}
	return bridge.View{}, false
}

// clear forgets the cards.
func (p *board) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.cards)
}
