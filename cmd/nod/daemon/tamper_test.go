package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	raw, err := json.Marshal(bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Digest: i.Digest, Annotations: map[string]bridge.Annotation{}, Proof: proof,
		Actor: &bridge.Actor{Platform: "slack", User: "U0ANA00001", Person: "ana"}, At: time.Now().UTC(),
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// end ends a pending record by hand, as a script would.
func endByHand(x rig.Intruder, i bridge.Interaction, state bridge.State, response string) {
	x.T.Helper()
	x.Set(rig.Record(i.ID), "st", string(state), "res", response, "at", time.Now().UnixMilli(), "n", "x", "rev", 7)
	event(x, i, map[string]any{"t": "interaction_response", "st": string(state)})
}

func event(x rig.Intruder, i bridge.Interaction, more map[string]any) {
	x.T.Helper()
	values := map[string]any{"i": string(i.ID), "a": i.Agent, "s": i.Session}
	maps.Copy(values, more)
	if err := x.Client.XAdd(x.Ctx, &redis.XAddArgs{Stream: "nod:{nod}:ev", Values: values}).Err(); err != nil {
		x.T.Fatal(err)
	}
}

// TestForgedDecision checks that a decision that was written into Redis has
// no effect: not on agents, cards, lists, events or receipts.
func TestForgedDecision(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t)
	good := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce)
	// A key of the attacker's, where a daemon without a key file keeps its own.
	if err := x.Client.MSet(x.Ctx, "nod:{nod}:sign", strings.Repeat("07", 32), "nod:{nod}:key", strings.Repeat("07", 32)).Err(); err != nil {
		t.Fatal(err)
	}
	for what, proof := range map[string]string{"no proof": "", "nonsense": "a.b.c", "another decision's": good.Receipt, "a digest": good.Interaction.Digest} {
		a := x.Ask(samples.Approval(bridge.ScopeOnce))
		endByHand(x, a.Interaction, bridge.StateApproved, forged(a.Interaction, proof))
		refused(x, a.Interaction.ID)
		if t.Failed() {
			t.Fatalf("with %s", what)
		}
	}
	// Replays: the response, or all, of another record.
	a := x.Ask(samples.Approval(bridge.ScopeOnce))
	endByHand(x, a.Interaction, bridge.StateApproved, x.Field(rig.Record(good.Interaction.ID), "res"))
	refused(x, a.Interaction.ID)
	b := x.Ask(samples.Approval(bridge.ScopeOnce))
	all, err := x.Client.HGetAll(x.Ctx, rig.Record(good.Interaction.ID)).Result()
	if err != nil {
		t.Fatal(err)
	}
	x.Set(rig.Record(b.Interaction.ID), all)
	if rec, err := x.Agent.Get(x.Ctx, b.Interaction.ID); err == nil {
		t.Errorf("another's record passes for this one: %s", rec.State)
	}
	// A card that is drawn again says that the record was changed.
	if err := x.Client.ZAdd(x.Ctx, "nod:{nod}:out", redis.Z{Score: 1, Member: "edit:" + string(a.Interaction.ID) + ":0"}).Err(); err != nil {
		t.Fatal(err)
	}
	a.Closed("changed outside nod")
	if text := a.Text("slack"); strings.Contains(text, "Approved") {
		t.Errorf("the card says %s", text)
	}
}

// TestEditedDecision checks that no leaf of a stored response can be changed.
func TestEditedDecision(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t)
	req := samples.Approval(bridge.ScopeOnce)
	req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit, bridge.DecideDenyReason}
	edited := x.Decided(req, bridge.Reply{Decision: bridge.DecideEdit, Input: json.RawMessage(`{"command":"make check"}`)})
	denied := x.Decided(req, bridge.Reply{Decision: bridge.DecideDenyReason, Reason: "no"})
	answered := x.Decided(samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...), bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("eu")}})
	for _, rec := range []bridge.Record{edited, denied, answered} {
		key := rig.Record(rec.Interaction.ID)
		was := x.Field(key, "res")
		tried := 0
		for path, now := range altered(t, []byte(was)) {
			tried++
			x.Set(key, "res", string(now))
			if got, err := x.Agent.Get(x.Ctx, rec.Interaction.ID); bridge.ErrorCode(err) != bridge.CodeForbidden {
				t.Errorf("%s: response%s was changed, and is read as %s: %v\n%s", rec.State, path, got.State, err, now)
			}
		}
		x.Set(key, "res", was)
		if _, err := x.Agent.Get(x.Ctx, rec.Interaction.ID); err != nil || tried < 6 {
			t.Errorf("unchanged it is not read either: %v (%d tried)", err, tried)
		}
		for _, state := range []bridge.State{bridge.StateApproved, bridge.StateDenied, bridge.StateAnswered} {
			if state == rec.State {
				continue
			}
			x.Set(key, "st", string(state))
			if _, err := x.Agent.Get(x.Ctx, rec.Interaction.ID); bridge.ErrorCode(err) != bridge.CodeForbidden {
				t.Errorf("%s made %s: %v", rec.State, state, err)
			}
		}
		x.Set(key, "st", string(rec.State))
	}
}

// TestEditedRequest checks that no leaf of a stored request can be changed,
// before or after it was decided: it is not decided then, and no decision of it
// counts.
func TestEditedRequest(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, route(func(r *config.Route) { r.Snooze = config.Duration(time.Hour); r.HandOver = config.Words{"cy"} }))
	rec := x.Decided(samples.Approval(bridge.ScopeOnce, bridge.ScopeSession), rig.AnswerOnce)
	pending := x.Ask(samples.Approval(bridge.ScopeOnce))
	for _, id := range []bridge.ID{rec.Interaction.ID, pending.Interaction.ID} {
		key := rig.Record(id)
		was := x.Field(key, "req")
		for path, now := range altered(t, []byte(was)) {
			for _, field := range []string{"req", "cur"} {
				if field == "cur" && path == ".id" {
					continue
				}
				x.Set(key, field, string(now))
				if got, err := x.Agent.Get(x.Ctx, id); err == nil {
					t.Errorf("%s%s was changed, and is read as %s", field, path, got.State)
				}
				if id == pending.Interaction.ID && field == "req" {
					if got, err := x.Person.Respond(x.Ctx, id, rig.AnswerOnce); err == nil && got.State == bridge.StateApproved {
						t.Fatalf("%s was changed, and it is approved", path)
					}
				}
				x.Set(key, "req", was)
				if err := x.Client.HDel(x.Ctx, key, "cur").Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := x.Person.Respond(x.Ctx, pending.Interaction.ID, rig.AnswerOnce); err != nil {
		t.Errorf("unchanged it cannot be answered: %v", err)
	}
}

// TestForgedVotes checks that a vote that was written into Redis, copied from
// another request or turned around has no effect.
func TestForgedVotes(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, route(func(r *config.Route) { r.Quorum = 2 }))
	bo := client.New(x.Daemons[0].URL, rig.BoToken, nil)
	other := x.Ask(samples.Approval(bridge.ScopeOnce))
	if _, err := bo.Respond(x.Ctx, other.Interaction.ID, rig.AnswerOnce); err != nil {
		t.Fatal(err)
	}
	copied := x.Field(rig.Record(other.Interaction.ID), "vs")
	vote := func(person, state, scope string) string {
		return person + "\x1f" + state + "\x1f1;\x1f" + `{"actor":{"platform":"api","user":"` + person + `","person":"` + person + `"},"state":"` + state + `","scope":"` + scope + `","at":"2026-01-01T00:00:00Z","proof":"x"}` + "\x1e"
	}
	ways := map[string]func(own string) string{
		"a forged vote before": func(string) string { return vote("bo", "approved", "once") },
		"another request's":    func(string) string { return copied },
		"the own vote again":   func(own string) string { return own + strings.Replace(own, "ana", "bo", 1) },
		"as another person":    func(own string) string { return strings.ReplaceAll(own, "ana", "bo") },
	}
	for what, forge := range ways {
		a := x.Ask(samples.Approval(bridge.ScopeOnce))
		key := rig.Record(a.Interaction.ID)
		own := ""
		if strings.Contains(what, "own") || strings.Contains(what, "person") {
			if _, err := x.Person.Respond(x.Ctx, a.Interaction.ID, rig.AnswerOnce); err != nil {
				t.Fatal(err)
			}
			own = x.Field(key, "vs")
		}
		x.Set(key, "vs", forge(own))
		if rec, err := x.Person.Respond(x.Ctx, a.Interaction.ID, rig.AnswerOnce); err == nil && rec.State == bridge.StateApproved {
			t.Errorf("%s counts", what)
		}
		if rec, err := x.Agent.Get(x.Ctx, a.Interaction.ID); err == nil && rec.State != bridge.StatePending {
			t.Errorf("%s: the agent reads %s", what, rec.State)
		}
	}
	// A vote against, turned into one for.
	a := x.Ask(samples.Approval(bridge.ScopeOnce))
	if _, err := x.Person.Respond(x.Ctx, a.Interaction.ID, rig.AnswerOnce); err != nil {
		t.Fatal(err)
	}
	if _, err := bo.Respond(x.Ctx, a.Interaction.ID, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
		t.Fatal(err)
	}
	key := rig.Record(a.Interaction.ID)
	x.Set(key, "vs", strings.ReplaceAll(x.Field(key, "vs"), "denied", "approved"), "st", "approved", "res", strings.Replace(x.Field(key, "res"), `"denied"`, `"approved","scope":"once"`, 1))
	refused(x, a.Interaction.ID)
	// Votes that are good decide.
	b := x.Ask(samples.Approval(bridge.ScopeOnce, bridge.ScopeSession))
	if _, err := x.Person.Respond(x.Ctx, b.Interaction.ID, bridge.Reply{Decision: bridge.DecideSession}); err != nil {
		t.Fatal(err)
	}
	if _, err := bo.Respond(x.Ctx, b.Interaction.ID, rig.AnswerOnce); err != nil {
		t.Fatal(err)
	}
	rec := b.End()
	keys, receipt := x.Receipt(rec)
	if _, err := keys.VerifyRecord(rec); err != nil || len(receipt.Votes) != 2 || receipt.Scope != bridge.ScopeOnce {
		t.Errorf("%v: %+v", err, receipt)
	}
	// One of them removed: what is left is not enough.
	vs := x.Field(rig.Record(rec.Interaction.ID), "vs")
	x.Set(rig.Record(rec.Interaction.ID), "vs", vs[strings.Index(vs, "\x1e")+1:])
	refused(x, rec.Interaction.ID)
}

// TestReceiptOfARecord changes every leaf of a record: the receipt that comes
// with it proves it no more. What a receipt does not cover is listed.
func TestReceiptOfARecord(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, route(func(r *config.Route) { r.Quorum = 2 }))
	req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
	a := x.Ask(req)
	x.Press("ana", a.On("slack"), "Run command")
	x.Press("bo", a.On("slack"), "Run command")
	rec := a.End()
	keys, err := x.Agent.Keys(x.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.VerifyRecord(rec); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	outside := []string{
		".revision", ".messages", ".failures", ".late", ".delivered", ".unawaited", ".audit", ".next", ".head", ".completion", ".joined", ".step",
		".interaction.created", ".interaction.deadline", ".interaction.destinations", ".interaction.responders", ".interaction.groups", ".interaction.called", ".interaction.steps", ".interaction.proof",
	}
	tried := 0
	for path, now := range altered(t, raw) {
		var changed bridge.Record
		if json.Unmarshal(now, &changed) != nil || slices.ContainsFunc(outside, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		tried++
		if _, err := keys.VerifyRecord(changed); err == nil {
			t.Errorf("%s was changed, and the receipt is good", path)
		}
	}
	if tried < 40 {
		t.Errorf("only %d leaves were tried", tried)
	}
}

// altered are copies of a JSON text with one leaf changed, by its path.
func altered(t *testing.T, raw []byte) map[string][]byte {
	t.Helper()
	read := func() any {
		var v any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	out := map[string][]byte{}
	var paths []string
	leavesOf("", read(), func(path string, v any) any { paths = append(paths, path); return v })
	for _, p := range paths {
		text, err := json.Marshal(leavesOf("", read(), func(path string, v any) any {
			if path != p {
				return v
			}
			return other(v)
		}))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, raw) {
			out[p] = text
		}
	}
	return out
}

// leaves is a value with every leaf as f makes it.
func leavesOf(path string, v any, f func(string, any) any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = leavesOf(path+"."+k, e, f)
		}
	case []any:
		for n, e := range x {
			x[n] = leavesOf(fmt.Sprintf("%s[%d]", path, n), e, f)
		}
	case nil:
	default:
		return f(path, v)
	}
	return v
}

// other is another leaf of the same type.
func other(v any) any {
	switch x := v.(type) {
	case json.Number:
		if x == "0" {
			return json.Number("1")
		}
		return json.Number(string(x) + "1")
	case bool:
		return !x
	case string:
		if at, err := time.Parse(time.RFC3339Nano, x); err == nil {
			return at.Add(time.Second).Format(time.RFC3339Nano)
		}
		if d, err := time.ParseDuration(x); err == nil {
			return (d + time.Second).String()
		}
		return x + "x"
	}
	return v
}
