package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/bridge/rooms/audit"
)

// newGoverned returns a world with redaction, four routes in one channel, and a
// policy that a test changes in rule.
func newGoverned(t testing.TB) *world {
	t.Helper()
	w := newWorld(t, governed(t))
	w.govern()
	return w
}

func newGovernedOn(t testing.TB, c *redis.Client) *world {
	t.Helper()
	w := newWorldOn(t, governed(t), c)
	w.govern()
	return w
}

func governed(t testing.TB) setup {
	t.Helper()
	masks, err := redact.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newSetup()
	s.hide, s.agents["ci"] = masks, agentCI
	s.routes["prod"], s.routes["both"], s.routes["must"] = routeTo("C1", "bo", "cy"), s.routes["default"], s.routes["default"]
	both, must := s.routes["both"], s.routes["must"]
	both.Quorum, must.Must = 2, []string{"bo"}
	s.routes["both"], s.routes["must"] = both, must
	return s
}

// govern replaces the policy with the rule of the world. If it is nil, every
// request is asked about.
func (w *world) govern() {
	w.setup.policy = func(a bridge.Act) bridge.Ruling {
		if w.rule == nil {
			return bridge.Ruling{Effect: bridge.EffectAsk}
		}
		return w.rule(a)
	}
	w.reload(w.setup)
}

// ask is a request for an approval in session s with every scope on offer.
func ask(prompt, tool, input string) bridge.Request {
	r := bridge.Request{Ask: bridge.Ask{Prompt: prompt, Session: "s", Approval: &bridge.Approval{Tool: tool, Scopes: allScopes}}}
	if input != "" {
		r.Approval.Input = json.RawMessage(input)
	}
	return r
}

func run(command string) bridge.Request { return ask("May I?", "bash", line(command)) }

func line(command string) string { return string(shell(command).Approval.Input) }

// decided opens a request and has people answer it.
func (w *world) decided(r bridge.Request, d bridge.Decision, who ...string) bridge.Record {
	w.t.Helper()
	rec := w.open(agentCI, r)
	if rec.State != bridge.StatePending {
		w.t.Fatalf("was not asked: %+v", rec.Response)
	}
	return w.settle(rec, d, who...)
}

// settle has people answer a request by API. They type what it requires.
func (w *world) settle(rec bridge.Record, d bridge.Decision, who ...string) bridge.Record {
	w.t.Helper()
	for _, name := range who {
		reply := bridge.Reply{Decision: d}
		if rec.Interaction.Approval != nil {
			reply.Confirm = rec.Interaction.Approval.Confirm
		}
		if err := w.answer(name, rec.Interaction.ID, reply); err != nil {
			w.t.Fatal(err)
		}
	}
	return w.get(rec.Interaction.ID)
}

// passes reports whether a request is approved without a person, and withdraws
// it if it is not.
func (w *world) passes(r bridge.Request) bool {
	w.t.Helper()
	rec := w.open(agentCI, r)
	if rec.State == bridge.StatePending {
		if _, err := w.engine.Cancel(w.t.Context(), rec.Interaction.ID, "test"); err != nil {
			w.t.Fatal(err)
		}
	}
	return rec.State == bridge.StateApproved
}

func (w *world) mustAsk(what string, r bridge.Request) {
	w.t.Helper()
	if w.passes(r) {
		w.t.Errorf("approved without a person: %s", what)
	}
}

func (w *world) mustPass(what string, r bridge.Request) {
	w.t.Helper()
	if !w.passes(r) {
		w.t.Errorf("asked again: %s", what)
	}
}

func (w *world) grants() []bridge.Grant {
	w.t.Helper()
	all, err := w.engine.Grants.List(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return all.Items
}

// audited returns the entries of some types in the audit log, in order.
func (w *world) audited(types ...bridge.AuditType) []bridge.AuditEntry {
	w.t.Helper()
	entries, err := audit.NewEntries(w.store.Documents(), 0).AuditEntries(w.t.Context(), "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(e bridge.AuditEntry) bool { return !slices.Contains(types, e.Type) })
}

// byRule grants by rule for lines whose parts all begin with "git push" or
// "make", and asks about the exact request otherwise.
func byRule(a bridge.Act) bridge.Ruling {
	r := bridge.Ruling{Effect: bridge.EffectAsk}
	for part := range strings.SplitSeq(commandOf(a), "; ") {
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
