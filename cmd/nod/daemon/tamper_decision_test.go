package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// refused fails the test unless no reader takes the record for a decision.
func refused(x rig.Intruder, id bridge.ID) {
	x.T.Helper()
	ctx, cancel := context.WithTimeout(x.Ctx, await.Limit)
	defer cancel()
	if rec, err := x.Agent.Get(ctx, id); bridge.ErrorCode(err) != bridge.CodeForbidden {
		x.T.Errorf("the agent reads %q: %v", rec.State, err)
	}
	if rec, err := x.Agent.Wait(ctx, id); bridge.ErrorCode(err) != bridge.CodeForbidden {
		x.T.Errorf("the agent that waits gets %q: %v", rec.State, err)
	}
	list, err := x.Agent.List(ctx, bridge.ListFilter{Limit: 200})
	if err != nil {
		x.T.Fatal(err)
	}
	for _, r := range list.Items {
		if r.Interaction.ID == id && (r.State.Decided() || r.Receipt != "" || r.Unverified == "") {
			x.T.Errorf("the agent lists it as %q, %q", r.State, r.Unverified)
		}
	}
	shown, err := x.Person.Get(ctx, id)
	if err != nil || shown.Unverified == "" {
		x.T.Errorf("nobody who looks at it is told: %q, %v", shown.Unverified, err)
	}
	keys, err := x.Agent.Keys(ctx)
	if err != nil {
		x.T.Fatal(err)
	}
	if _, err := keys.VerifyRecord(shown); err == nil && shown.State.Decided() && len(shown.Votes) == 0 && shown.Interaction.Quorum < 2 {
		x.T.Errorf("its receipt is good for %q", shown.State)
	}
	var said []bridge.Event
	if err := x.Agent.History(ctx, "0", "", func(e bridge.Event) error {
		if e.InteractionID == id && e.Type == bridge.EventResponse && e.State.Decided() {
			said = append(said, e)
		}
		return nil
	}); err != nil || len(said) > 0 {
		x.T.Errorf("its events say %+v, %v", said, err)
	}
}

// forged is a response that says that ana approved, with what a proof looks
// like.
func forged(i bridge.Interaction, proof string) string {
	raw, err := json.Marshal(bridge.DecisionEntry{Receipt: proof, Response: bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Digest: i.Digest, Annotations: map[string]bridge.Annotation{},
		Actor: &bridge.Actor{Platform: "slack", User: "U0ANA00001", Person: "ana"}, At: time.Now().UTC(),
	}})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// endByHand ends a pending request by hand.
func endByHand(x rig.Intruder, i bridge.Interaction, response string) {
	x.T.Helper()
	x.Rewrite("life", string(i.ID), func(v string) string {
		return strings.Replace(v, `"revision":`, fmt.Sprintf(`"state":"approved","response":%s,"at":%q,"nonce":"x","revision":`, response, time.Now().UTC().Format(time.RFC3339Nano)), 1)
	})
	appendEntry(x, map[string]any{"t": "interaction_response", "i": string(i.ID), "a": i.Agent, "s": i.Session, "st": "approved"})
}

// TestForgedDecision checks that a decision that was written into Redis has
// no effect: not on agents, cards, lists, events, receipts or late answers.
func TestForgedDecision(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t)
	good := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce)
	response := string(mustJSON(t, readLife(x, good)["response"]))
	// A key of the attacker's, where a daemon without a key file keeps its own.
	must(x, x.Client.MSet(x.Ctx, "nod:{nod}:sign", strings.Repeat("07", 32), "nod:{nod}:key", strings.Repeat("07", 32)).Err())
	for what, of := range map[string]func(bridge.Interaction) string{
		"no proof":           func(i bridge.Interaction) string { return forged(i, "") },
		"nonsense":           func(i bridge.Interaction) string { return forged(i, "a.b.c") },
		"another's receipt":  func(i bridge.Interaction) string { return forged(i, good.Receipt) },
		"a digest":           func(i bridge.Interaction) string { return forged(i, i.Digest) },
		"another's response": func(bridge.Interaction) string { return response },
	} {
		a := x.Ask(samples.Approval(bridge.ScopeOnce))
		endByHand(x, a.Interaction, of(a.Interaction))
		refused(x, a.Interaction.ID)
		if t.Failed() {
			t.Fatalf("with %s", what)
		}
	}
	next, err := x.Agent.Reprompt(x.Ctx, good.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "again"}}, "")
	must(x, err)
	endByHand(x, next.Interaction, response)
	refused(x, next.Interaction.ID) // by the response of the round before

	// A card that is drawn again says that the record was changed.
	req := samples.Approval(bridge.ScopeOnce)
	a := x.Ask(req)
	_, err = x.Agent.Queue(x.Ctx, a.Interaction.ID, 0, "")
	must(x, err)
	edit := "edit:" + string(a.Interaction.ID) + ":0"
	x.Eventually("the card is drawn as deferred", func() bool {
		return errors.Is(x.Client.ZScore(x.Ctx, "nod:{nod}:jobs", edit).Err(), redis.Nil)
	})
	endByHand(x, a.Interaction, forged(a.Interaction, ""))
	must(x, x.Client.ZAdd(x.Ctx, "nod:{nod}:jobs", redis.Z{Score: 1, Member: edit}).Err())
	a.Closed("changed outside nod")
	if text := a.Text("slack"); strings.Contains(text, "Approved") {
		t.Errorf("the card says %s", text)
	}
	// So does the late answer of its session, which has no one else's.
	for _, id := range []bridge.ID{a.Interaction.ID, good.Interaction.ID} {
		late := "nod:{nod}:x:inbox:tester\x00" + req.Session
		must(x, x.Client.ZAdd(x.Ctx, late, redis.Z{Score: float64(time.Now().UnixMilli()), Member: string(id)}).Err())
	}
	all, err := x.Agent.Messages(x.Ctx, req.Session)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if m := all[0]; m.Record.State.Decided() || strings.Contains(m.Text, "approved") || !strings.Contains(m.Text, "outside nod") {
		t.Errorf("the session is told %q, %s", m.Text, m.Record.State)
	}
}

// readLife returns the life document of a record.
func readLife(x rig.Intruder, rec bridge.Record) map[string]any {
	x.T.Helper()
	_, value, _ := x.Value("life", string(rec.Interaction.ID))
	out := map[string]any{}
	must(x, json.Unmarshal([]byte(value), &out))
	return out
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestEveryLeaf checks that no leaf of a stored request or of its decision can be
// changed or written in another way, before or after it was decided: it is not
// decided then, no decision of it counts, and no event tells what was changed.
func TestEveryLeaf(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t)
	req := samples.Approval(bridge.ScopeOnce)
	req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit, bridge.DecideDenyReason}
	pending := x.Ask(req).Record
	for _, rec := range []bridge.Record{
		pending,
		x.Decided(req, bridge.Reply{Decision: bridge.DecideEdit, Input: json.RawMessage(`{"command":"make check"}`)}),
		x.Decided(req, bridge.Reply{Decision: bridge.DecideDenyReason, Reason: "no"}),
		x.Decided(samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...), bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("eu")}}),
	} {
		id, tried := rec.Interaction.ID, 0
		for _, kind := range []string{"life", "body"} {
			was := x.Stored(kind, string(id))
			_, value, _ := x.Value(kind, string(id))
			changed := altered(t, []byte(value))
			for _, name := range []string{"prompt", "answers", "state"} { // another reader may take the first of two names
				changed["twice "+name] = []byte(strings.Replace(value, `"`+name+`":`, `"`+name+`":"forged","`+strings.ToUpper(name)+`":`, 1))
			}
			for path, now := range changed {
				if string(now) == value {
					continue
				}
				tried++
				x.Rewrite(kind, string(id), func(string) string { return string(now) })
				if got, err := x.Agent.Get(x.Ctx, id); err == nil {
					t.Errorf("%s: %s%s was changed, and is read as %s", rec.State, kind, path, got.State)
				}
				if got, err := x.Person.Respond(x.Ctx, id, rig.AnswerOnce); rec.State == bridge.StatePending && err == nil && got.State == bridge.StateApproved {
					t.Fatalf("%s%s was changed, and it is approved", kind, path)
				}
				x.Store(kind, string(id), was)
			}
		}
		if _, err := x.Agent.Get(x.Ctx, id); err != nil || tried < 40 {
			t.Errorf("unchanged it is not read either: %v (%d tried)", err, tried)
		}
	}
	answers(x, pending, rig.AnswerOnce)
	must(x, x.Agent.History(x.Ctx, "0", "", func(e bridge.Event) error {
		if strings.Contains(string(e.Data), "forged") {
			t.Errorf("%s says %s", e.Type, e.Data)
		}
		return nil
	}))
}

// TestForgedVotes checks that a vote that was written into Redis, copied from
// another request or turned around has no effect.
func TestForgedVotes(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, route(func(r *config.Route) { r.Quorum = 2 }))
	bo := client.New(x.Daemons[0].URL, rig.BoToken, nil)
	other := x.Ask(samples.Approval(bridge.ScopeOnce))
	_, err := bo.Respond(x.Ctx, other.Interaction.ID, rig.AnswerOnce)
	must(x, err)
	copied := votes(x, other.Record)
	for what, forge := range map[string]func(own string) string{
		"a forged vote": func(own string) string {
			return own + `,{"actor":{"platform":"api","user":"bo","person":"bo"},"state":"approved","scope":"once","at":"2026-01-01T00:00:00Z"}`
		},
		"another request's":  func(own string) string { return own + `,` + copied },
		"the own vote again": func(own string) string { return own + `,` + strings.Replace(own, "ana", "bo", 1) },
		"as another person":  func(own string) string { return strings.ReplaceAll(own, "ana", "bo") },
	} {
		a := x.Ask(samples.Approval(bridge.ScopeOnce))
		answers(x, a.Record, rig.AnswerOnce)
		own := votes(x, a.Record)
		x.Rewrite("life", string(a.Interaction.ID), func(v string) string { return strings.Replace(v, own, forge(own), 1) })
		if rec, err := x.Person.Respond(x.Ctx, a.Interaction.ID, rig.AnswerOnce); err == nil && rec.State == bridge.StateApproved {
			t.Errorf("%s counts", what)
		}
		if rec, err := x.Agent.Get(x.Ctx, a.Interaction.ID); err == nil {
			t.Errorf("%s: the agent reads %s", what, rec.State)
		}
	}
	// A vote against, turned into one for.
	a := x.Ask(samples.Approval(bridge.ScopeOnce))
	answers(x, a.Record, rig.AnswerOnce)
	_, err = bo.Respond(x.Ctx, a.Interaction.ID, bridge.Reply{Decision: bridge.DecideDeny})
	must(x, err)
	x.Rewrite("life", string(a.Interaction.ID), func(v string) string { return strings.ReplaceAll(v, `"denied"`, `"approved","scope":"once"`) })
	refused(x, a.Interaction.ID)
	// Votes that are good decide.
	b := x.Ask(samples.Approval(bridge.ScopeOnce, bridge.ScopeSession))
	answers(x, b.Record, bridge.Reply{Decision: bridge.DecideSession})
	_, err = bo.Respond(x.Ctx, b.Interaction.ID, rig.AnswerOnce)
	must(x, err)
	rec := b.End()
	keys, receipt := x.Receipt(rec)
	if _, err := keys.VerifyRecord(rec); err != nil || len(receipt.Votes) != 2 || receipt.Scope != bridge.ScopeOnce {
		t.Errorf("%v: %+v", err, receipt)
	}
	// Without one of them, the votes are not enough.
	both := votes(x, rec)
	x.Rewrite("life", string(rec.Interaction.ID), func(v string) string { return strings.Replace(v, both, both[strings.Index(both, `},{"actor"`)+2:], 1) })
	refused(x, rec.Interaction.ID)
}

// votes returns the votes on a record as they are stored, without brackets.
func votes(x rig.Intruder, rec bridge.Record) string {
	x.T.Helper()
	_, value, _ := x.Value("life", string(rec.Interaction.ID))
	_, rest, ok := strings.Cut(value, `"votes":[`)
	if !ok {
		x.T.Fatalf("no votes in %s", value)
	}
	depth := 0
	for n, c := range rest { // no text in a vote has a bracket
		switch {
		case c == '[':
			depth++
		case c == ']' && depth == 0:
			return rest[:n]
		case c == ']':
			depth--
		}
	}
	return ""
}
