package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms"
)

func onAPI(who string) bridge.Actor {
	return bridge.Actor{Platform: bridge.PlatformAPI, User: who, Name: who, Person: who}
}

// TestReaders checks that responders, owners and requesters read a request, and
// that the first two withdraw it; the card names who did.
func TestReaders(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.agents["ci"] = bridge.Agent{Name: "ci", Owners: []string{"di"}}
	w := newWorld(t, s)
	for who, may := range map[string]struct{ read, withdraw bool }{
		"ana": {true, true}, "bo": {true, true}, "cy": {}, "di": {true, true}, "eve": {true, false},
	} {
		req := shell("make x")
		req.Requester = "eve"
		rec := w.open(s.agents["ci"], req)
		id := rec.Interaction.ID
		if got := w.engine.People.MayRead(t.Context(), rec.Interaction, onAPI(who)); got != may.read {
			t.Errorf("%s reads: %v", who, got)
		}
		for _, words := range []string{"show " + string(id), "pending"} {
			said, err := w.engine.Command(t.Context(), bridge.Command{Actor: bridge.Actor{Platform: "chat",
				User: "U-" + who}, Channels: []string{"C1"}, Text: words})
			if err != nil || strings.Contains(said, "May I?") && !may.read {
				t.Errorf("%s says %s and is told %q, %v", who, words, said, err)
			}
		}
		if _, err := w.engine.Withdraw(t.Context(), id, onAPI(who), "enough"); (err == nil) != may.withdraw {
			t.Errorf("%s withdraws: %v", who, err)
		}
		if !may.withdraw {
			w.state(id, bridge.StatePending)
			continue
		}
		if rec := w.state(id, bridge.StateCancelled); rec.Response.WithdrawnBy == nil ||
			rec.Response.WithdrawnBy.Person != who {
			t.Errorf("withdrawn by %+v", rec.Response)
		}
		if v := w.click("ana", "C1", w.drawn(id, "C1").Token(bridge.ActionChoose, 0, 0), "",
			id); !strings.Contains(v.Note, " already cancelled this") {
			t.Errorf("a late click is told %q", v.Note)
		}
	}
}

// TestCancelCommand checks that the people who may withdraw a request cancel it
// in chat, that others change nothing, and that each is notified.
func TestCancelCommand(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.agents["ci"] = bridge.Agent{Name: "ci", Owners: []string{"di"}}
	w := newWorld(t, s)
	for who, want := range map[string]string{
		"ana": "Cancelled: Run make x?", "di": "Cancelled: Run make x?", "cy": "Request not found", "eve": "You may not cancel this request. Nothing was changed. Its responders and the owners of its agent can. Responders: ana",
	} {
		req := shell("make x")
		req.Requester = "eve"
		id := w.open(s.agents["ci"], req).Interaction.ID
		if said := w.say(who, "cancel "+string(id)); !strings.HasPrefix(said, want) {
			t.Errorf("%s is told %q", who, said)
		}
		if !strings.HasPrefix(want, "Cancelled") {
			w.state(id, bridge.StatePending)
			continue
		}
		if r := w.state(id, bridge.StateCancelled); r.Response.WithdrawnBy == nil || r.Response.WithdrawnBy.Person != who {
			t.Errorf("withdrawn by %+v", r.Response)
		}
		if said := w.say("ana", "cancel "+string(id)); !strings.Contains(said, " already cancelled this") || !strings.HasSuffix(said, "Your click changed nothing.") {
			t.Errorf("a second time: %q", said)
		}
	}
	for _, text := range []string{"cancel", "cancel x"} {
		if said := w.say("ana", text); !strings.HasPrefix(said, "Request not found") {
			t.Errorf("%q: %q", text, said)
		}
	}
}

// TestRepeat checks that a repeat with the same idempotency key finds the first
// request, whatever the config made of it since, and that the key does not
// reach Redis.
func TestRepeat(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.hide = masker("topsecret")
	w := inRedis(t, s)
	const key = "key-with-topsecret-inside"
	req := shell("curl -H topsecret x")
	first, err := w.engine.Open(t.Context(), agentCI, req, key)
	if err != nil {
		t.Fatal(err)
	}
	next := newSetup()
	next.policy = byWord(map[string]bridge.Ruling{"curl": {Routes: []string{"prod"}, Confirm: "yes", Quorum: 2,
		Risk: "high", Timeout: bridge.Duration(9e9), OnTimeout: bridge.OnTimeoutDeny}})
	w.reload(next)
	ctx := bridge.WithTrace(t.Context(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	again, err := w.engine.Open(ctx, bridge.Agent{Name: "ci", Scopes: []bridge.Scope{bridge.ScopeOnce}}, req, key)
	if err != nil || again.Interaction.ID != first.Interaction.ID {
		t.Fatalf("a repeat is %s, %v", again.Interaction.ID, err)
	}
	if _, err := w.engine.Open(ctx, agentCI, shell("curl y"), key); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("another request under the same key: %v", err)
	}
	if err := w.engine.Grants.Remember(t.Context(), "ci", "tool-key-topsecret", bridge.ScopeSession, "s"); err != nil {
		t.Fatal(err)
	}
	if scope, err := w.engine.Grants.Recall(t.Context(), "ci", "tool-key-topsecret", "s"); err != nil ||
		scope != bridge.ScopeSession {
		t.Errorf("recalled %q, %v", scope, err)
	}
	names, err := w.redis.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		dump := name + " " + w.redis.Get(t.Context(), name).Val()
		if strings.Contains(dump, "topsecret") {
			t.Errorf("a credential is in %s", dump)
		}
	}
}

// masker hides a word.
type masker string

func (m masker) Redact(s string) string  { return strings.ReplaceAll(s, string(m), "[hidden]") }
func (m masker) Secret(name string) bool { return false }

// TestHiddenFields checks that a request with hidden fields is approved under
// the policy that saw them, and under no other.
func TestHiddenFields(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.hide, s.version = masker("topsecret"), "1"
	s.policy = func(a bridge.Act) bridge.Ruling {
		if strings.Contains(string(a.Input), "[hidden]") {
			return bridge.Ruling{Effect: bridge.EffectDeny, Reason: "it saw the mask"}
		}
		return bridge.Ruling{Effect: bridge.EffectAsk, Routes: []string{"prod"}}
	}
	w := newWorld(t, s)
	a, b := w.open(agentCI, shell("curl topsecret")).Interaction.ID, w.open(agentCI,
		shell("curl topsecret")).Interaction.ID
	w.press("cy", a, "C2", bridge.DecideOnce, "hidden")
	w.state(a, bridge.StateApproved)
	s.version = "2"
	w.reload(s)
	w.said(w.press("cy", b, "C2", bridge.DecideOnce, "hidden"), bridge.VerdictForbidden, "redacted")
	w.state(b, bridge.StateDenied)
}

// TestTermsOfAPI checks that an approval by API counts for the requirements that
// its sender read.
func TestTermsOfAPI(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = ruledBy(bridge.Ruling{})
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	next := newSetup()
	next.policy = ruledBy(bridge.Ruling{Risk: "critical"})
	w.reload(next)
	w.press("bo", id, "C1", bridge.DecideOnce, "") // the card shows the risk from here on
	before, after := 0, 1
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce, Terms: &before}); err == nil {
		t.Error("approved under requirements that were not read")
	}
	w.state(id, bridge.StatePending)
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce, Terms: &after}); err != nil {
		t.Error(err)
	}
	w.state(id, bridge.StateApproved)
}

// meddler lets something happen right before a decision or an amendment is stored.
type meddler struct {
	core.Port
	first func()
}

func (m *meddler) Resolve(ctx context.Context, s life.Resolution, also ...core.Also) (bridge.Record, bool, error) {
	m.meddle()
	return m.Port.Resolve(ctx, s, also...)
}

func (m *meddler) Vote(ctx context.Context, b life.Ballot, also ...core.Also) (bridge.Record, core.BallotResult, error) {
	m.meddle()
	return m.Port.Vote(ctx, b, also...)
}

func (m *meddler) Mark(ctx context.Context, id bridge.ID, k life.Mark) (bridge.Record, error) {
	if _, is := k.(life.Amendment); is {
		m.meddle()
	}
	return m.Port.Mark(ctx, id, k)
}

func (m *meddler) meddle() {
	if f := m.first; f != nil {
		m.first = nil
		f()
	}
}

// TestAmendedDuringDecision checks that an approval does not count if another
// daemon makes the requirements stricter before it is stored, and that a denial
// does.
func TestAmendedDuringDecision(t *testing.T) {
	t.Parallel()
	for d, want := range map[bridge.Decision]bridge.State{
		bridge.DecideOnce: bridge.StatePending, bridge.DecideDeny: bridge.StateDenied,
	} {
		s := newSetup()
		s.policy = ruledBy(bridge.Ruling{})
		w := newWorld(t, s)
		id := w.open(agentCI, shell("make x")).Interaction.ID
		card := w.drawn(id, "C1")
		other := newSetup()
		other.policy = ruledBy(bridge.Ruling{Risk: "critical"})
		w.reload(other)
		there := w.engine
		w.answersBetween(there, id)
		w.reload(s)
		w.pressOn("ana", card, "C1", d, "")
		if rec := w.state(id, want); rec.Interaction.Terms != 1 {
			t.Errorf("terms %d", rec.Interaction.Terms)
		}
	}
}

// answersBetween lets another daemon refuse an approval because of a new risk, right
// before the next change of this one.
func (w *world) answersBetween(there *rooms.House, id bridge.ID) {
	w.between = &meddler{Port: w.store, first: func() {
		at := bridge.Actor{Platform: bridge.PlatformAPI, User: "bo", Person: "bo"}
		if _, err := there.Answer(w.t.Context(), id, at, bridge.Reply{Decision: bridge.DecideOnce}); err == nil {
			w.t.Error("approved before the risk was shown")
		}
	}}
}

// TestAmendedDuringRecount checks that an approval does not count if another daemon makes
// the requirements stricter while the approval of someone who may no longer approve is removed.
func TestAmendedDuringRecount(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy, s.config = ruledBy(bridge.Ruling{Quorum: 2}), "first"
	s.routes["default"] = routeTo("C1", "ana", "bo", "cy")
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	w.press("cy", id, "C1", bridge.DecideOnce, "")
	card := w.drawn(id, "C1")
	delete(s.people, "cy")
	other := s
	other.policy, other.config = ruledBy(bridge.Ruling{Quorum: 2, Risk: "critical"}), "second"
	w.reload(other)
	there := w.engine
	w.answersBetween(there, id)
	w.reload(s)
	w.said(w.pressOn("ana", card, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "changed")
	if rec := w.state(id, bridge.StatePending); rec.Interaction.Terms != 1 || len(rec.Votes) > 0 {
		t.Errorf("terms %d, votes %v", rec.Interaction.Terms, rec.Votes)
	}
}

// unshown is a store that a daemon reads before the content of a card is recorded.
type unshown struct {
	core.Port
	loads int
	amend func() // before the second read
}

func (u *unshown) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	u.loads++
	if u.loads == 2 {
		u.amend()
	}
	rec, err := u.Port.Load(ctx, id)
	if u.loads == 1 {
		rec.Shown = nil
	}
	return rec, err
}

// TestAmendedBeforeShown checks that an answer does not count if another daemon removes its
// person from the responders while the click waits until its card is recorded.
func TestAmendedBeforeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.asked(nil, note).Interaction.ID
	c := w.control("ana", id, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{0: {Text: "a fix"}})
	w.between = &unshown{Port: w.store, amend: func() {
		rec := w.get(id)
		i := rec.Interaction
		i.Responders = routeTo("C1", "bo").Responders
		if _, err := w.store.Mark(t.Context(), id, life.Amendment{Expect: rec.Amended, Interaction: i}); err != nil {
			t.Error(err)
		}
	}}
	w.reload(w.setup)
	v, err := w.engine.Click(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictForbidden, "")
	w.state(id, bridge.StatePending)
}
