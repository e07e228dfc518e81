package bridge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
)

// words begin the commands of the model; a rule decides by them.
var words = []string{"a", "b", "c", "d"}

// rules are the rulings by word: the policy of the model.
type rules map[string]bridge.Ruling

// act is an approval that a person gave, with what they saw and typed.
type act struct {
	who, account string
	typed        string
	risk         string // of the card
	input        string // of the card, or as edited
}

// asking is a request of the model with the approvals that nod recorded.
type asking struct {
	id        bridge.ID
	requester string
	acts      []act
	cards     []card // as they were drawn at some time
}

type card struct {
	channel string
	view    bridge.View
}

func drawRoutes(t *rapid.T) map[string]bridge.Route {
	routes := map[string]bridge.Route{}
	for n, name := range []string{"default", "prod", "sec"} {
		people := rapid.SliceOfNDistinct(rapid.SampledFrom(team), 1, 5, rapid.ID).Draw(t, name)
		r := routeTo(fmt.Sprint("C", n), people...)
		r.Quorum = rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "quorum")
		r.AllowSelf = rapid.IntRange(0, 3).Draw(t, "self") == 0
		r.DenyCounts = rapid.IntRange(0, 3).Draw(t, "deny") == 0
		if rapid.IntRange(0, 3).Draw(t, "with must") == 0 {
			r.Must = []string{rapid.SampledFrom(people).Draw(t, "must")}
		}
		routes[name] = r
	}
	return routes
}

func drawRules(t *rapid.T) rules {
	out := rules{}
	for _, w := range words {
		out[w] = bridge.Ruling{
			Effect: rapid.SampledFrom([]bridge.Effect{bridge.EffectAsk, bridge.EffectAsk, bridge.EffectAsk,
				bridge.EffectAsk, bridge.EffectAsk, bridge.EffectAllow, bridge.EffectDeny}).Draw(t, "effect"),
			Routes:  rapid.SampledFrom([][]string{nil, nil, {"prod"}, {"", "prod"}, {"prod", "sec"}}).Draw(t, "routes"),
			Quorum:  rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "quorum"),
			Confirm: rapid.SampledFrom([]string{"", "", "yes"}).Draw(t, "confirm"),
			Risk:    rapid.SampledFrom([]string{"", "", "high"}).Draw(t, "risk"),
			Reason:  "because",
		}
	}
	return out
}

func drawSetup(t *rapid.T) (setup, rules) {
	s := newSetup()
	s.routes = drawRoutes(t)
	r := drawRules(t)
	s.policy = byWord(r)
	s.agents["ci"] = bridge.Agent{Name: "ci"}
	if rapid.IntRange(0, 3).Draw(t, "owned") == 0 {
		s.agents["ci"] = bridge.Agent{Name: "ci", Owners: []string{"ana"}}
	}
	if rapid.IntRange(0, 4).Draw(t, "accounts move") == 0 { // ana's account is bo's now, and his hers
		s.swap("ana", "bo")
	}
	return s, r
}

// allowed returns the reason that an approval must not happen under the current
// rules. It is empty if the approval may happen. It is the whole model: what the policy says of
// the input, who has to approve it, and what each of them saw.
func allowed(s setup, r rules, requester, input string, approvers []act) string {
	ruling := r[commandWord(input)]
	switch ruling.Effect {
	case bridge.EffectDeny:
		return "the policy denies it"
	case bridge.EffectAllow:
		return "" // nobody has to approve it
	}
	people, accounts := map[string]bool{}, map[string]bool{}
	for _, a := range approvers {
		people[a.who], accounts[a.account] = true, true
		switch {
		case a.input != input:
			return a.who + " saw another input"
		case ruling.Confirm != "" && a.typed != ruling.Confirm:
			return a.who + " did not type the confirmation"
		case ruling.Risk != "" && a.risk != ruling.Risk:
			return a.who + " did not see the risk"
		}
	}
	names := ruling.Routes
	if len(names) == 0 {
		names = []string{""}
	}
	self := true
	for _, name := range names {
		if name == "" {
			name = "default"
		}
		route, n := s.routes[name], 0
		self = self && route.AllowSelf
		for _, who := range team {
			if people[who] && responds(route, who) {
				n++
			}
		}
		if n < max(route.Quorum, 1) {
			return fmt.Sprintf("%d of the route %s approved", n, name)
		}
		for _, who := range route.Must {
			if !people[who] || !responds(route, who) {
				return who + " did not approve"
			}
		}
	}
	if need := max(ruling.Quorum, 1); len(people) < need || len(accounts) < need {
		return fmt.Sprintf("%d people with %d accounts approved", len(people), len(accounts))
	}
	for _, who := range append(slices.Clone(s.agents["ci"].Owners), requester) {
		if people[who] && !self {
			return who + " approved their own request"
		}
	}
	return ""
}

func responds(route bridge.Route, who string) bool {
	return slices.ContainsFunc(route.Responders, func(r bridge.Responder) bool { return r.Person == who })
}

func commandWord(input string) string {
	word, _, _ := strings.Cut(commandOf(bridge.Act{Input: json.RawMessage(input)}), " ")
	return word
}

// TestNothingElseIsApproved checks random requests, rules, edits, follow-ups,
// reloads and votes against a model: whatever is approved, the model approves
// too. Grants are covered by covered.
func TestNothingElseIsApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	approved, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		m := &play{world: w, rt: rt}
		m.reload()
		m.open()
		for range rapid.IntRange(2, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 19).Draw(rt, "step") {
			case 0, 1:
				m.reload()
			case 2:
				m.followUp()
			case 3, 4:
				m.open()
			default:
				m.decide()
			}
			m.look()
		}
		approved, refused = approved+m.approved, refused+m.refused
	})
	t.Logf("%d approvals, %d decisions that did not approve", approved, refused)
	if approved == 0 {
		t.Error("nothing was ever approved")
	}
}

// covered reports whether a standing approval covers a request, with what the
// model knows of grants. No request of this model offers one yet.
var covered = func(bridge.Record) bool { return false }

// play is one run of the model.
type play struct {
	*world
	rt                *rapid.T
	rules             rules
	all               []*asking
	approved, refused int
}

// reload changes everything, or a little.
func (m *play) reload() {
	s, r := drawSetup(m.rt)
	if m.rules != nil && rapid.IntRange(0, 2).Draw(m.rt, "a little") > 0 {
		word, route := rapid.SampledFrom(words).Draw(m.rt, "rule"), rapid.SampledFrom([]string{"default",
			"prod", "sec", ""}).Draw(m.rt, "route")
		changed := maps.Clone(m.rules)
		changed[word] = r[word]
		r = changed
		routes := maps.Clone(m.setup.routes)
		if route != "" {
			routes[route] = s.routes[route]
		}
		s.routes, s.agents, s.policy = routes, m.setup.agents, byWord(r)
	}
	m.rules = r
	m.world.reload(s)
}

func (m *play) request() bridge.Request {
	r := shell(rapid.SampledFrom(words).Draw(m.rt, "word") + " " + fmt.Sprint(rapid.IntRange(0, 3).Draw(m.rt, "argument")))
	r.Requester = rapid.SampledFrom([]string{"", "", "cy"}).Draw(m.rt, "requester")
	return r
}

// opened checks a request right after its opening: no one saw it yet.
func (m *play) opened(rec bridge.Record, requester string) {
	switch {
	case rec.State == bridge.StateApproved && rec.Response.Grant != "":
		if !covered(rec) {
			m.rt.Fatalf("a grant approves %s", rec.Interaction.Approval.Input)
		}
	case rec.State == bridge.StateApproved:
		if m.rules[commandWord(string(rec.Interaction.Approval.Input))].Effect != bridge.EffectAllow {
			m.rt.Fatalf("approved at its opening: %+v", rec.Response)
		}
	case !rec.State.Final():
		m.posted(rec.Interaction.ID)
		m.all = append(m.all, &asking{id: rec.Interaction.ID, requester: requester})
	}
}

func (m *play) open() {
	r := m.request()
	rec, err := m.engine.Open(m.t.Context(), m.setup.agents["ci"], r, "")
	if err != nil {
		m.rt.Fatal(err)
	}
	m.opened(rec, r.Requester)
}

func (m *play) followUp() {
	a := m.pick()
	if a == nil {
		return
	}
	r := m.request()
	r.Requester = "" // it stays as it was
	rec, err := m.engine.Reprompt(m.t.Context(), m.setup.agents["ci"], a.id, r, "")
	switch bridge.ErrorCode(err) {
	case bridge.CodeForbidden, bridge.CodeConflict:
		return
	}
	if err != nil {
		m.rt.Fatal(err)
	}
	m.opened(rec, a.requester)
}

func (m *play) pick() *asking {
	pending := slices.DeleteFunc(slices.Clone(m.all), func(a *asking) bool { return m.get(a.id).State.Final() })
	if len(pending) > 0 && rapid.IntRange(0, 9).Draw(m.rt, "pending") > 0 {
		return rapid.SampledFrom(pending).Draw(m.rt, "request")
	}
	if len(m.all) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.all).Draw(m.rt, "request")
}

// look remembers the cards that are on the wall now.
func (m *play) look() {
	for _, a := range m.all {
		for _, channel := range []string{"C0", "C1", "C2"} {
			if v, ok := m.chat.card(channel, a.id); ok && len(a.cards) < 12 {
				a.cards = append(a.cards, card{channel, v})
			}
		}
	}
}

// decide lets a person decide on a card, maybe an old one, or by API.
func (m *play) decide() {
	a := m.pick()
	if a == nil {
		return
	}
	before := m.get(a.id)
	who := rapid.SampledFrom(team).Draw(m.rt, "who")
	d := rapid.SampledFrom([]bridge.Decision{bridge.DecideOnce, bridge.DecideOnce, bridge.DecideOnce,
		bridge.DecideOnce, bridge.DecideOnce, bridge.DecideEdit, bridge.DecideEdit, bridge.DecideDeny}).Draw(m.rt, "decision")
	typed := ""
	if rapid.IntRange(0, 3).Draw(m.rt, "types") > 0 {
		typed = "yes"
	}
	if i := before.Interaction; !before.State.Final() && rapid.Bool().Draw(m.rt, "as intended") {
		who, d, typed = rapid.SampledFrom(i.Responders).Draw(m.rt, "responder").Person, bridge.DecideOnce, "yes"
		for n := range i.Destinations {
			if channel := i.Destinations[n].Channel; len(m.posted(a.id).Messages) > n {
				a.cards = append(a.cards[:0:0], card{channel, m.drawn(a.id, channel)})
			}
		}
	}
	edit := string(shell(rapid.SampledFrom(words).Draw(m.rt, "edit to") + " edited").Approval.Input)
	i := before.Interaction
	did := act{who: who, account: "api/" + who, typed: typed, risk: i.Risk, input: string(i.Approval.Input)}
	if rapid.IntRange(0, 3).Draw(m.rt, "by API") == 0 || len(a.cards) == 0 {
		reply := bridge.Reply{Decision: d, Confirm: typed}
		if d == bridge.DecideEdit {
			reply.Input, did.input = []byte(edit), edit
		}
		if err := m.answer(who, a.id, reply); err == nil && d.Approves() {
			a.acts = append(a.acts, did)
		}
		m.judge(a, before)
		return
	}
	c := rapid.SampledFrom(a.cards).Draw(m.rt, "card")
	text := typed
	shown := c.view.Record.Interaction
	did.account, did.risk, did.input = "chat/U-"+who, shown.Risk, string(shown.Approval.Input)
	if shown.Approval.Confirm == "" {
		did.typed = "" // one click, nothing typed
	}
	if d == bridge.DecideEdit {
		text, did.input, did.typed = edit, edit, ""
	}
	did.who, _ = directory.New(directory.Options{People: m.setup.people}).Identify(m.t.Context(),
		bridge.Actor{Platform: "chat", User: "U-" + who})
	if v := m.pressOn(who, c.view, c.channel, d, text); v.Kind == bridge.VerdictSettled && d.Approves() {
		a.acts = append(a.acts, did)
	}
	m.judge(a, before)
}

// judge compares what became of a request with the model.
func (m *play) judge(a *asking, before bridge.Record) {
	rec := m.get(a.id)
	switch {
	case before.State.Final() && rec.State != before.State:
		m.rt.Fatalf("%s became %s", before.State, rec.State)
	case before.State.Final():
		return
	case rec.State != bridge.StateApproved:
		m.refused++
		return
	}
	m.approved++
	if rec.Response.Grant != "" {
		if !covered(rec) {
			m.rt.Fatal("a grant approves it")
		}
		return
	}
	input := string(rec.Interaction.Approval.Input)
	if len(rec.Response.Input) > 0 {
		input = string(rec.Response.Input)
	}
	by := []bridge.Actor{*rec.Response.Actor}
	if len(rec.Votes) > 0 {
		by = nil
		for _, v := range rec.Votes {
			if v.State == bridge.StateApproved {
				by = append(by, v.Actor)
			}
		}
	}
	var acts []act
	for _, actor := range by {
		n := lastAct(a.acts, actor)
		if n < 0 {
			m.rt.Fatalf("%+v approved and never clicked; clicks: %+v", actor, a.acts)
		}
		acts = append(acts, a.acts[n])
	}
	if why := allowed(m.setup, m.rules, a.requester, input, acts); why != "" {
		m.rt.Fatalf("approved although %s\ninput %s\nby %+v\nrules %+v\nroutes %+v\nrecord %+v", why, input,
			acts, m.rules, m.setup.routes, rec.Interaction)
	}
}

// lastAct is the last approval of an actor, by the account and the person.
func lastAct(acts []act, actor bridge.Actor) int {
	for n := len(acts) - 1; n >= 0; n-- {
		if acts[n].who == actor.Person && acts[n].account == actor.Platform+"/"+actor.User {
			return n
		}
	}
	return -1
}
