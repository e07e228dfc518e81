package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
)

// TestForgedStanding checks that grants, linked accounts, what tools remember,
// idempotency keys, drafts and late answers that were written into Redis are
// not believed.
func TestForgedStanding(t *testing.T) {
	t.Parallel()
	x := intruded(t, func(c *config.Config) {
		c.Identity.Linking = true
		c.Agents["tester"] = config.Agent{Token: config.NewSecret(testAgentToken)}
	})
	t.Run("grant", func(t *testing.T) { x.forgedGrant(t) })
	t.Run("link", func(t *testing.T) { x.forgedLink(t) })
	t.Run("memory", func(t *testing.T) { x.forgedMemory(t) })
	t.Run("idempotency key", func(t *testing.T) { x.forgedKey(t) })
	t.Run("late answer", func(t *testing.T) { x.forgedLate(t) })
	t.Run("draft", func(t *testing.T) { x.forgedDraft(t) })
	t.Run("earlier round", func(t *testing.T) { x.earlierRound(t) })
	t.Run("batch", func(t *testing.T) { x.forgedBatch(t) })
}

func (x intruder) forgedGrant(t *testing.T) {
	req := approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
	given := x.decided(req, bridge.Reply{Decision: bridge.DecideAlways})
	key := "nod:{0}:g:tester/"
	grants, err := x.client.HGetAll(x.ctx, key).Result()
	if err != nil || len(grants) != 1 {
		t.Fatalf("%v, %v", grants, err)
	}
	if rec, err := x.agent.Open(x.ctx, req, ""); err != nil || rec.State != bridge.StateApproved || rec.Response.Grant != given.Interaction.ID {
		t.Fatalf("the grant covers nothing: %s, %v", rec.State, err)
	}
	other := approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
	other.Approval.Input = json.RawMessage(`{"command":"rm -rf /srv"}`)
	probe, err := x.agent.Open(x.ctx, other, "")
	if err != nil || probe.State != bridge.StatePending {
		t.Fatal(probe.State, err)
	}
	for was, g := range grants {
		now := strings.ReplaceAll(g, was, probe.Interaction.GrantKey)
		for what, text := range map[string]string{"copied": g, "renamed": now, "without its proof": now[:strings.LastIndex(now, `,"proof"`)] + "}"} {
			x.set(key, probe.Interaction.GrantKey, text)
			if rec, err := x.agent.Open(x.ctx, other, ""); err != nil || rec.State != bridge.StatePending {
				t.Errorf("a grant that was %s covers it: %s, %v", what, rec.State, err)
			}
		}
		x.set(key, was, strings.Replace(g, "bash", "bosh", 1))
		if rec, err := x.agent.Open(x.ctx, req, ""); err != nil || rec.State != bridge.StatePending {
			t.Errorf("an edited grant covers it: %s, %v", rec.State, err)
		}
	}
	if err := x.client.HDel(x.ctx, key, probe.Interaction.GrantKey).Err(); err != nil {
		t.Fatal(err)
	}
	if all, err := x.agent.Grants(x.ctx, ""); err != nil || len(all) > 0 {
		t.Errorf("forged grants are listed: %+v, %v", all, err)
	}
}

func (x intruder) forgedLink(t *testing.T) {
	mal := x.config.People["mal"].Slack
	x.set("nod:links", "slack/"+mal, `{"platform":"slack","user":"`+mal+`","person":"ana","by":{"platform":"api","user":"ana"},"at":"2026-01-01T00:00:00Z","proof":"x"}`)
	a := x.ask(approval(bridge.ScopeOnce))
	x.press("mal", a.on("slack"), "Allow once")
	a.stillPending()
	if links, err := x.person.Links(x.ctx); err != nil || len(links) > 0 {
		t.Errorf("%+v, %v", links, err)
	}
}

func (x intruder) forgedMemory(t *testing.T) {
	memory := x.agent.Approvals()
	if err := memory.Set(x.ctx, "mine", bridge.ScopeAlways, ""); err != nil {
		t.Fatal(err)
	}
	if s, err := memory.Get(x.ctx, "mine", ""); err != nil || s != bridge.ScopeAlways {
		t.Fatal(s, err)
	}
	const hash = "nod:{0}:t:tester/"
	mine, err := x.client.HGetAll(x.ctx, hash).Result()
	if err != nil || len(mine) != 1 {
		t.Fatalf("%v, %v", mine, err)
	}
	if err := memory.Set(x.ctx, "other", bridge.ScopeAlways, ""); err != nil {
		t.Fatal(err)
	}
	both, err := x.client.HGetAll(x.ctx, hash).Result()
	if err != nil || len(both) != 2 {
		t.Fatalf("%v, %v", both, err)
	}
	for field := range both {
		if _, first := mine[field]; first {
			continue
		}
		for _, own := range mine {
			for what, v := range map[string]string{"forged": "always", "copied": own} {
				x.set(hash, field, v)
				if s, err := memory.Get(x.ctx, "other", ""); err != nil || s != "" {
					t.Errorf("%s: a tool is told %q, %v", what, s, err)
				}
			}
		}
	}
}

func (x intruder) forgedKey(t *testing.T) {
	kept := func(key string) string { // where Redis has what was opened with it
		sum := sha256.Sum256([]byte(key))
		return "nod:{0}:kh:tester/" + hex.EncodeToString(sum[:])
	}
	req := approval(bridge.ScopeOnce)
	first := x.decided(req, answerOnce)
	other := req
	other.Prompt = "May I delete everything?"
	probe, err := x.agent.Open(x.ctx, other, "key-0") // what the stored digest looks like
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x.client.Get(x.ctx, kept("key-0")).Result()
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(raw, string(probe.Interaction.ID), string(first.Interaction.ID), 1)
	if err := x.client.Set(x.ctx, kept("key-0"), moved, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if rec, err := x.agent.Open(x.ctx, other, "key-0"); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("another request's decision is handed out: %s, %v", rec.State, err)
	}
	again, err := x.agent.Open(x.ctx, req, "key-1") // the same request, asked again
	if err != nil || again.State != bridge.StatePending {
		t.Fatal(again.State, err)
	}
	raw, err = x.client.Get(x.ctx, kept("key-1")).Result()
	if err != nil {
		t.Fatal(err)
	}
	moved = strings.Replace(raw, string(again.Interaction.ID), string(first.Interaction.ID), 1)
	if err := x.client.Set(x.ctx, kept("key-1"), moved, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if rec, err := x.agent.Open(x.ctx, req, "key-1"); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an earlier decision is handed out: %s, %v", rec.State, err)
	}
}

func (x intruder) forgedLate(t *testing.T) {
	req := approval(bridge.ScopeOnce)
	a := x.ask(req)
	if _, err := x.agent.Queue(x.ctx, a.Interaction.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	x.endByHand(a.Interaction, bridge.StateApproved, forged(a.Interaction, ""))
	elsewhere := x.decided(approval(bridge.ScopeOnce), answerOnce)
	for _, id := range []bridge.ID{a.Interaction.ID, elsewhere.Interaction.ID} {
		if err := x.client.XAdd(x.ctx, &redis.XAddArgs{Stream: "nod:{0}:late", Values: []any{"i", string(id), "a", "tester", "s", req.Session}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := x.agent.Messages(x.ctx, req.Session)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if m := all[0]; m.Record.State.Decided() || strings.Contains(m.Text, "approved") || !strings.Contains(m.Text, "outside nod") {
		t.Errorf("the session is told %q, %s", m.Text, m.Record.State)
	}
}

func (x intruder) forgedDraft(t *testing.T) {
	signer, err := proof.NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	store := engine.Proven(x.daemons[0].store, signer, false, nil)
	a, b := x.ask(one(bridge.WidgetSelect, options("eu", "us")...)), x.ask(one(bridge.WidgetSelect, options("eu", "us")...))
	ana := bridge.Actor{Platform: "slack", User: "U0ANA00001"}
	if err := store.Drafts.SaveDraft(x.ctx, a.Interaction.ID, 0, bridge.Draft{Actor: ana, Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("eu")}}); err != nil {
		t.Fatal(err)
	}
	if mine, shown, err := store.Drafts.Draft(x.ctx, a.Interaction.ID, 0, ana); err != nil || mine == nil || shown == nil || mine.Answers["q"].Text != "eu" {
		t.Fatalf("%+v, %+v, %v", mine, shown, err)
	}
	key := "nod:{0}:d:"
	own := x.field(key+string(a.Interaction.ID), "slack/"+ana.User)
	for what, text := range map[string]string{"changed": strings.Replace(own, `"eu"`, `"us"`, 1), "stripped": withoutProof(own)} {
		x.set(key+string(a.Interaction.ID), "slack/"+ana.User, text)
		if mine, shown, err := store.Drafts.Draft(x.ctx, a.Interaction.ID, 0, ana); err != nil || mine != nil || shown != nil {
			t.Errorf("a draft that was %s is submitted: %+v, %+v, %v", what, mine, shown, err)
		}
	}
	x.set(key+string(b.Interaction.ID), "slack/"+ana.User, own, "@0", "slack/"+ana.User)
	if mine, _, err := store.Drafts.Draft(x.ctx, b.Interaction.ID, 0, ana); err != nil || mine != nil {
		t.Errorf("another request's draft is submitted: %+v, %v", mine, err)
	}
	// A note that leads from a code to what was pressed.
	if err := store.Notes.DropNote(x.ctx, "link:code"); err != nil {
		t.Fatal(err)
	}
	if err := x.client.Set(x.ctx, "nod:n:link:code", `{"click":{}}`, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if v, err := store.Notes.Note(x.ctx, "link:code"); err != nil || v != "" {
		t.Errorf("a code that nobody was given leads to %q, %v", v, err)
	}
}

func (x intruder) earlierRound(t *testing.T) {
	first := x.decided(approval(bridge.ScopeOnce), answerOnce)
	next, err := x.agent.Reprompt(x.ctx, first.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "again"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	x.t = t
	x.endByHand(next.Interaction, bridge.StateApproved, x.field(record(first.Interaction.ID), "res"))
	x.refused(next.Interaction.ID)
}

// forgedBatch: what Redis says is shown in a message is decided by it only if
// its agent asked for that.
func (x intruder) forgedBatch(t *testing.T) {
	session := "s-" + randomToken()[:8]
	batched := func(command string) asked {
		req := approval(bridge.ScopeOnce)
		req.Session, req.Batch = session, bridge.Duration(time.Second)
		req.Approval.Input = json.RawMessage(`{"command":"` + command + `"}`)
		rec, err := x.agent.Open(x.ctx, req, "")
		if err != nil {
			t.Fatal(err)
		}
		return asked{rec, x.rig}
	}
	a, b := batched("make a"), batched("make b")
	unseen := x.ask(approval(bridge.ScopeOnce))
	x.eventually("the batch is posted", func() bool {
		rec, err := x.daemons[0].engine().Get(x.ctx, a.Interaction.ID)
		a.Record = rec
		return err == nil && len(rec.Messages) > 0
	})
	x.set(record(a.Interaction.ID), "bm", string(a.Interaction.ID)+","+string(b.Interaction.ID)+","+string(unseen.Interaction.ID))
	for _, c := range a.controls("slack") {
		if strings.Contains(c.Label, "Allow all") {
			x.press("ana", a.on("slack"), c.Label)
			break
		}
	}
	unseen.stillPending()
}
