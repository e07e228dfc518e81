package daemon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestForgedStanding checks that grants, linked accounts, what tools remember,
// idempotency keys, drafts and late answers that were written into Redis are
// not believed.
func TestForgedStanding(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t, func(c *config.Config) {
		c.Identity.Linking = true
		c.Agents["tester"] = config.Agent{Token: config.NewSecret(rig.TestAgentToken)}
	})
	t.Run("grant", func(t *testing.T) { forgedGrant(x, t) })
	t.Run("link", func(t *testing.T) { forgedLink(x, t) })
	t.Run("memory", func(t *testing.T) { forgedMemory(x, t) })
	t.Run("idempotency key", func(t *testing.T) { forgedKey(x, t) })
	t.Run("late answer", func(t *testing.T) { forgedLate(x, t) })
	t.Run("draft", func(t *testing.T) { forgedDraft(x, t) })
	t.Run("earlier round", func(t *testing.T) { earlierRound(x, t) })
}

func forgedGrant(x rig.Intruder, t *testing.T) {
	req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
	given := x.Decided(req, bridge.Reply{Decision: bridge.DecideAlways})
	key := "nod:{nod}:g:tester/"
	grants, err := x.Client.HGetAll(x.Ctx, key).Result()
	if err != nil || len(grants) != 1 {
		t.Fatalf("%v, %v", grants, err)
	}
	if rec, err := x.Agent.Open(x.Ctx, req, ""); err != nil || rec.State != bridge.StateApproved || rec.Response.Grant != given.Interaction.ID {
		t.Fatalf("the grant covers nothing: %s, %v", rec.State, err)
	}
	other := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
	other.Approval.Input = json.RawMessage(`{"command":"rm -rf /srv"}`)
	probe, err := x.Agent.Open(x.Ctx, other, "")
	if err != nil || probe.State != bridge.StatePending {
		t.Fatal(probe.State, err)
	}
	for was, g := range grants {
		now := strings.ReplaceAll(g, was, probe.Interaction.GrantKey)
		for what, text := range map[string]string{"copied": g, "renamed": now, "without its proof": now[:strings.LastIndex(now, `,"proof"`)] + "}"} {
			x.Set(key, probe.Interaction.GrantKey, text)
			if rec, err := x.Agent.Open(x.Ctx, other, ""); err != nil || rec.State != bridge.StatePending {
				t.Errorf("a grant that was %s covers it: %s, %v", what, rec.State, err)
			}
		}
		x.Set(key, was, strings.Replace(g, "bash", "bosh", 1))
		if rec, err := x.Agent.Open(x.Ctx, req, ""); err != nil || rec.State != bridge.StatePending {
			t.Errorf("an edited grant covers it: %s, %v", rec.State, err)
		}
	}
	if err := x.Client.HDel(x.Ctx, key, probe.Interaction.GrantKey).Err(); err != nil {
		t.Fatal(err)
	}
	if all, err := x.Agent.Grants(x.Ctx, ""); err != nil || len(all) > 0 {
		t.Errorf("forged grants are listed: %+v, %v", all, err)
	}
}

func forgedLink(x rig.Intruder, t *testing.T) {
	mal := x.Config.People["mal"].Slack
	x.Set("nod:{nod}:links", "slack/"+mal, `{"platform":"slack","user":"`+mal+`","person":"ana","by":{"platform":"api","user":"ana"},"at":"2026-01-01T00:00:00Z","proof":"x"}`)
	a := x.Ask(samples.Approval(bridge.ScopeOnce))
	x.Press("mal", a.On("slack"), "Run command")
	a.StillPending()
	if links, err := x.Person.Links(x.Ctx); err != nil || len(links) > 0 {
		t.Errorf("%+v, %v", links, err)
	}
}

func forgedMemory(x rig.Intruder, t *testing.T) {
	memory := x.Agent.Approvals()
	if err := memory.Set(x.Ctx, "mine", bridge.ScopeAlways, ""); err != nil {
		t.Fatal(err)
	}
	if s, err := memory.Get(x.Ctx, "mine", ""); err != nil || s != bridge.ScopeAlways {
		t.Fatal(s, err)
	}
	const hash = "nod:{nod}:t:tester/"
	mine, err := x.Client.HGetAll(x.Ctx, hash).Result()
	if err != nil || len(mine) != 1 {
		t.Fatalf("%v, %v", mine, err)
	}
	if err := memory.Set(x.Ctx, "other", bridge.ScopeAlways, ""); err != nil {
		t.Fatal(err)
	}
	both, err := x.Client.HGetAll(x.Ctx, hash).Result()
	if err != nil || len(both) != 2 {
		t.Fatalf("%v, %v", both, err)
	}
	for field := range both {
		if _, first := mine[field]; first {
			continue
		}
		for _, own := range mine {
			for what, v := range map[string]string{"forged": "always", "copied": own} {
				x.Set(hash, field, v)
				if s, err := memory.Get(x.Ctx, "other", ""); err != nil || s != "" {
					t.Errorf("%s: a tool is told %q, %v", what, s, err)
				}
			}
		}
	}
}

func forgedKey(x rig.Intruder, t *testing.T) {
	kept := func(key string) string { // where Redis has what was opened with it
		return "nod:{nod}:kc:" + bridge.CallID{Key: key}.Identity("tester", "", "").Name
	}
	req := samples.Approval(bridge.ScopeOnce)
	first := x.Decided(req, rig.AnswerOnce)
	other := req
	other.Prompt = "May I delete everything?"
	probe, err := x.Agent.Open(x.Ctx, other, "key-0") // what the stored digest looks like
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x.Client.Get(x.Ctx, kept("key-0")).Result()
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(raw, string(probe.Interaction.ID), string(first.Interaction.ID), 1)
	if err := x.Client.Set(x.Ctx, kept("key-0"), moved, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if rec, err := x.Agent.Open(x.Ctx, other, "key-0"); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("another request's decision is handed out: %s, %v", rec.State, err)
	}
	again, err := x.Agent.Open(x.Ctx, req, "key-1") // the same request, asked again
	if err != nil || again.State != bridge.StatePending {
		t.Fatal(again.State, err)
	}
	raw, err = x.Client.Get(x.Ctx, kept("key-1")).Result()
	if err != nil {
		t.Fatal(err)
	}
	moved = strings.Replace(raw, string(again.Interaction.ID), string(first.Interaction.ID), 1)
	if err := x.Client.Set(x.Ctx, kept("key-1"), moved, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if rec, err := x.Agent.Open(x.Ctx, req, "key-1"); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an earlier decision is handed out: %s, %v", rec.State, err)
	}
}

func forgedLate(x rig.Intruder, t *testing.T) {
	req := samples.Approval(bridge.ScopeOnce)
	a := x.Ask(req)
	if _, err := x.Agent.Queue(x.Ctx, a.Interaction.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	endByHand(x, a.Interaction, bridge.StateApproved, forged(a.Interaction, ""))
	elsewhere := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce)
	for _, id := range []bridge.ID{a.Interaction.ID, elsewhere.Interaction.ID} {
		if err := x.Client.XAdd(x.Ctx, &redis.XAddArgs{Stream: "nod:{nod}:late", Values: []any{"i", string(id), "a", "tester", "s", req.Session}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := x.Agent.Messages(x.Ctx, req.Session)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if m := all[0]; m.Record.State.Decided() || strings.Contains(m.Text, "approved") || !strings.Contains(m.Text, "outside nod") {
		t.Errorf("the session is told %q, %s", m.Text, m.Record.State)
	}
}

func forgedDraft(x rig.Intruder, t *testing.T) {
	signer, err := proof.NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	store := engine.Proven(x.Daemons[0].Store(), signer, nil)
	a, b := x.Ask(samples.One(bridge.WidgetSelect, samples.Choices("eu", "us")...)), x.Ask(samples.One(bridge.WidgetSelect, samples.Choices("eu", "us")...))
	ana := bridge.Actor{Platform: "slack", User: "U0ANA00001"}
	if err := store.Drafts.SaveDraft(x.Ctx, a.Interaction.ID, 0, bridge.Draft{Actor: ana, Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("eu")}}); err != nil {
		t.Fatal(err)
	}
	if mine, shown, err := store.Drafts.Draft(x.Ctx, a.Interaction.ID, 0, ana); err != nil || mine == nil || shown == nil || mine.Answers["q"].Text != "eu" {
		t.Fatalf("%+v, %+v, %v", mine, shown, err)
	}
	key := "nod:{nod}:d:"
	own := x.Field(key+string(a.Interaction.ID), "slack/"+ana.User)
	for what, text := range map[string]string{"changed": strings.Replace(own, `"eu"`, `"us"`, 1), "stripped": withoutProof(own)} {
		x.Set(key+string(a.Interaction.ID), "slack/"+ana.User, text)
		if mine, shown, err := store.Drafts.Draft(x.Ctx, a.Interaction.ID, 0, ana); err != nil || mine != nil || shown != nil {
			t.Errorf("a draft that was %s is submitted: %+v, %+v, %v", what, mine, shown, err)
		}
	}
	x.Set(key+string(b.Interaction.ID), "slack/"+ana.User, own, "@0", "slack/"+ana.User)
	if mine, _, err := store.Drafts.Draft(x.Ctx, b.Interaction.ID, 0, ana); err != nil || mine != nil {
		t.Errorf("another request's draft is submitted: %+v, %v", mine, err)
	}
	// A note that leads from a code to the clicked control.
	if err := store.Notes.DropNote(x.Ctx, "link:code"); err != nil {
		t.Fatal(err)
	}
	if err := x.Client.Set(x.Ctx, "nod:{nod}:n:link:code", `{"click":{}}`, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if v, err := store.Notes.Note(x.Ctx, "link:code"); err != nil || v != "" {
		t.Errorf("a code that nobody was given leads to %q, %v", v, err)
	}
}

func earlierRound(x rig.Intruder, t *testing.T) {
	first := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce)
	next, err := x.Agent.Reprompt(x.Ctx, first.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "again"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	x.T = t
	endByHand(x, next.Interaction, bridge.StateApproved, x.Field(rig.Record(first.Interaction.ID), "res"))
	refused(x, next.Interaction.ID)
}
