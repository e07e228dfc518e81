package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// asking is a request of the model with the approvals that people gave.
type asking struct {
	wish
	id       bridge.ID
	acts     []act
	cards    []card          // as they were drawn at some time
	seen     map[string]bool // decisions that were compared with the model
	tampered bool
	// rules and setup are those that the card states.
	rules rules
	setup setup
	terms int
	as    int // the number of reloads until then
}

type card struct {
	channel string
	view    bridge.View
}

// play is one run of the model.
type play struct {
	*world
	rt     *rapid.T
	rules  rules
	agents []string
	all    []*asking
	grants []given
	began  time.Time // of the current step
	stored []held
	counts map[string]int // over all runs
}

// TestNothingElseIsApproved checks random requests, rules, grants, edits,
// follow-ups, reloads and votes against a model, while someone without the keys
// changes what Redis holds: whatever is approved, the model approves too.
func TestNothingElseIsApproved(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w := inRedis(t, s)
	counts, runs := map[string]int{}, 0
	// Some steps are rare, so the model runs until each was seen.
	for rounds := 0; !t.Failed() && lacks(counts) != ""; rounds++ {
		if rounds == 10 {
			t.Fatalf("no %s: the test shows little", lacks(counts))
		}
		rapid.Check(t, func(rt *rapid.T) {
			runs++
			m := &play{world: w, rt: rt, counts: counts, agents: []string{fmt.Sprint("ci", runs), fmt.Sprint("bot", runs)}}
			defer m.end()
			intruded := rapid.IntRange(0, 2).Draw(rt, "intruded") == 0
			m.reload()
			m.open()
			for range rapid.IntRange(2, 25).Draw(rt, "steps") {
				m.began = time.Now()
				m.step(intruded)
				m.look()
			}
		})
	}
	t.Log(counts)
}

// lacks returns something that the model must show and has not shown yet, or "".
func lacks(counts map[string]int) string {
	for _, what := range []string{"by people", "by policy", "by an exact grant", "not asked again", "changes in Redis", "refusals"} {
		if counts[what] == 0 {
			return what
		}
	}
	return ""
}

func (m *play) step(intruded bool) {
	switch rapid.IntRange(0, 23).Draw(m.rt, "step") {
	case 0, 1:
		m.reload()
	case 2:
		m.followUp()
	case 3, 4, 5, 6:
		m.open()
	case 7, 8:
		m.revoke()
	case 9:
		m.await()
	case 10:
		m.age()
	case 11, 12, 13:
		if intruded {
			m.tamper()
			break
		}
		m.decide()
	case 14, 15, 16, 17:
		m.decide()
	default:
		m.agree()
	}
}

// reload changes everything, or a little.
func (m *play) reload() {
	s, r := drawSetup(m.rt, m.agents)
	if m.rules != nil && rapid.IntRange(0, 2).Draw(m.rt, "a little") > 0 {
		word, route := rapid.SampledFrom(words).Draw(m.rt, "rule"), rapid.SampledFrom([]string{"default",
			"prod", "sec", "", ""}).Draw(m.rt, "route")
		changed := maps.Clone(m.rules)
		if delete(changed, word); r[word].Then != "" {
			changed[word] = r[word]
		}
		routes := maps.Clone(m.setup.routes)
		if route != "" {
			routes[route] = s.routes[route]
		}
		r, s.routes, s.agents, s.policy = changed, routes, m.setup.agents, changed.judge()
	}
	s.signer = m.setup.signer
	m.rules = r
	m.world.reload(s)
}

// wish is a request that was made before with one thing changed, or a new one.
func (m *play) wish() wish {
	one := func(name string, s ...string) string { return rapid.SampledFrom(s).Draw(m.rt, name) }
	command := func() string { return one("word", words...) + " " + one("argument", "0", "1") }
	q := wish{agent: m.agents[0], session: one("session", "s", "s", "u", ""), prompt: one("prompt", "May I?", "Really?"),
		tool: one("tool", "Bash", "Run"), place: one("place", "/r", "/o"), requester: one("requester", "", "", "", "cy"),
		lasting: rapid.IntRange(0, 5).Draw(m.rt, "lasting") > 0, remembers: rapid.IntRange(0, 15).Draw(m.rt, "remembers") == 0}
	if rapid.IntRange(0, 5).Draw(m.rt, "bot") == 0 {
		q.agent = m.agents[1]
	}
	switch q.line = command(); rapid.IntRange(0, 5).Draw(m.rt, "form") {
	case 0, 1:
		q.line += one("and", "; ", " && ") + command()
	case 2:
		q.line += " $(" + command() + ")"
	}
	if len(m.all) == 0 || rapid.IntRange(0, 3).Draw(m.rt, "new") == 0 {
		return q
	}
	was := rapid.SampledFrom(m.all).Draw(m.rt, "like").wish
	if len(m.grants) > 0 && rapid.IntRange(0, 2).Draw(m.rt, "like a grant") > 0 {
		was = rapid.SampledFrom(m.grants).Draw(m.rt, "granted").wish
	}
	switch rapid.IntRange(0, 12).Draw(m.rt, "but") {
	case 0:
		was.agent = q.agent
	case 1:
		was.session = q.session
	case 2:
		was.prompt = q.prompt
	case 3:
		was.tool = q.tool
	case 4:
		was.place = q.place
	case 5, 6, 7:
		was.line = q.line
	case 8:
		was.requester = q.requester
	case 9:
		was.lasting, was.remembers = q.lasting, q.remembers
	}
	return was
}

func (m *play) open() {
	q := m.wish()
	rec, err := m.engine.Open(m.t.Context(), m.setup.agents[q.agent], q.request(), "")
	if err != nil {
		m.rt.Fatal(err)
	}
	m.opened(rec, q)
}

func (m *play) followUp() {
	a := m.pick()
	if a == nil {
		return
	}
	q := m.wish()
	q.agent, q.session, q.requester = a.agent, a.session, a.requester
	rec, err := m.engine.Reprompt(m.t.Context(), m.setup.agents[q.agent], a.id, q.request(), "")
	switch bridge.ErrorCode(err) {
	case bridge.CodeForbidden, bridge.CodeConflict:
		return
	}
	if err != nil && a.tampered {
		return
	}
	if err != nil {
		m.rt.Fatal(err)
	}
	m.opened(rec, q)
}

// opened checks a request right after its opening: no one saw it yet.
func (m *play) opened(rec bridge.Record, q wish) {
	a := &asking{wish: q, id: rec.Interaction.ID, rules: m.rules, setup: m.setup, as: m.reloads, seen: map[string]bool{}}
	m.all = append(m.all, a)
	if rec.State.Final() {
		m.judge(a, rec.Response.Grant != "")
		return
	}
	m.posted(a.id)
}

// read returns a record. A record that does not verify counts as undeliverable.
func (m *play) read(a *asking) bridge.Record {
	rec, err := m.engine.Get(m.t.Context(), a.id)
	if err != nil && !a.tampered {
		m.rt.Fatal(err)
	}
	if err != nil {
		rec.State = bridge.StateUndeliverable
	}
	return rec
}

func (m *play) pick() *asking {
	pending := slices.DeleteFunc(slices.Clone(m.all), func(a *asking) bool { return m.read(a).State.Final() })
	if len(pending) > 0 && rapid.IntRange(0, 9).Draw(m.rt, "pending") > 0 {
		return rapid.SampledFrom(pending).Draw(m.rt, "request")
	}
	if len(m.all) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.all).Draw(m.rt, "request")
}

// look compares all that is approved with the model, and remembers the cards
// that are shown now.
func (m *play) look() {
	for _, byGrant := range []bool{false, true} { // people give first what releases others
		for _, a := range m.all {
			m.judge(a, byGrant)
		}
	}
	for _, a := range m.all {
		for _, channel := range []string{"C0", "C1", "C2"} {
			if v, ok := m.chat.card(channel, a.id); ok && len(a.cards) < 12 {
				a.cards = append(a.cards, card{channel, v})
			}
		}
	}
}

// await reads a request as its agent does.
func (m *play) await() {
	a := m.pick()
	if a == nil || !m.read(a).State.Final() {
		return
	}
	limit := await.Limit
	if a.tampered { // which may wait for a decision that no longer counts
		limit = 50 * time.Millisecond
	}
	ctx, stop := context.WithTimeout(m.t.Context(), limit)
	defer stop()
	if _, err := m.engine.Await(ctx, a.id); err != nil && !a.tampered {
		m.rt.Fatal(err)
	}
}

// decide lets a person decide on a card, maybe an old one, or by API.
func (m *play) decide() {
	a := m.pick()
	if a == nil {
		return
	}
	did := act{who: rapid.SampledFrom(team).Draw(m.rt, "who"), typed: rapid.SampledFrom([]string{"", "yes", "sure"}).Draw(m.rt, "types")}
	d := rapid.SampledFrom([]bridge.Decision{bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways, bridge.DecideEdit,
		bridge.DecideDeny}).Draw(m.rt, "decision")
	if rapid.IntRange(0, 3).Draw(m.rt, "by API") == 0 || len(a.cards) == 0 {
		m.respond(a, did, d)
		return
	}
	m.press(a, rapid.SampledFrom(a.cards).Draw(m.rt, "card"), did, d)
}

// agree lets responders approve a request on its current card, one after the
// other, until it ends.
func (m *play) agree() {
	a := m.pick()
	if a == nil || a.tampered && len(a.cards) == 0 {
		return
	}
	i := m.read(a).Interaction
	most := rapid.IntRange(1, 5).Draw(m.rt, "responders")
	ways := slices.DeleteFunc(slices.Clone(i.Decisions()), func(d bridge.Decision) bool { return !d.Approves() })
	if slices.Contains(ways, bridge.DecideAlways) {
		ways = append(ways, bridge.DecideAlways, bridge.DecideSession, bridge.DecideAlways)
	}
	d := rapid.SampledFrom(ways).Draw(m.rt, "decision")
	for _, r := range rapid.Permutation(i.Responders).Draw(m.rt, "order")[:min(most, len(i.Responders))] {
		rec := m.read(a)
		if rec.State.Final() {
			return
		}
		did := act{who: r.Person, typed: rec.Interaction.Approval.Confirm}
		if a.tampered || rapid.IntRange(0, 3).Draw(m.rt, "by API") == 0 {
			m.respond(a, did, d)
		} else {
			channel := rapid.SampledFrom(rec.Interaction.Destinations).Draw(m.rt, "place").Channel
			m.press(a, card{channel, m.drawn(a.id, channel)}, did, d)
		}
		m.look()
	}
}

func (m *play) edit() string {
	return string(shell(rapid.SampledFrom(words).Draw(m.rt, "edit to") + " edited").Approval.Input)
}

// respond decides by API.
func (m *play) respond(a *asking, did act, d bridge.Decision) {
	did.account, did.risk, did.input, did.scope = "api/"+did.who, m.read(a).Interaction.Risk, a.input(), bridge.Scope(d)
	reply := bridge.Reply{Decision: d, Confirm: did.typed}
	if d == bridge.DecideEdit {
		did.input, did.scope = m.edit(), bridge.ScopeOnce
		reply.Input = []byte(did.input)
	}
	if err := m.answer(did.who, a.id, reply); err == nil && d.Approves() {
		a.acts = append(a.acts, did)
	}
}

// press decides on a card.
func (m *play) press(a *asking, c card, did act, d bridge.Decision) {
	shown, user := c.view.Record.Interaction, did.who
	did.account, did.risk, did.input, did.scope = "chat/U-"+user, shown.Risk, string(shown.Approval.Input), bridge.Scope(d)
	text := did.typed
	if shown.Approval.Confirm == "" {
		did.typed = "" // one click, nothing typed
	}
	if d == bridge.DecideEdit {
		text = m.edit()
		did.input, did.typed, did.scope = text, "", bridge.ScopeOnce
	}
	did.who = m.setup.account(did.account)
	if v := m.pressOn(user, c.view, c.channel, d, text); v.Kind == bridge.VerdictSettled && d.Approves() {
		a.acts = append(a.acts, did)
	}
}
