package engine_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestOpeningEvaluatesOnce checks that opening a request evaluates the policy
// once, so that the card, the requirements and the grants that an approval
// creates come from the same ruling.
func TestOpeningEvaluatesOnce(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	var n atomic.Int64
	w.rule = func(bridge.Act) bridge.Ruling {
		n.Add(1)
		return bridge.Ruling{Effect: bridge.EffectAsk}
	}
	rec := w.open(agentCI, run("make deploy"))
	if got := n.Load(); got != 1 {
		t.Errorf("opening evaluated the policy %d times", got)
	}
	w.settle(rec, bridge.DecideDeny, "ana")
	n.Store(0)
	follow := run("make test")
	if _, err := w.engine.Reprompt(t.Context(), agentCI, rec.Interaction.ID, follow, ""); err != nil {
		t.Fatal(err)
	}
	if got := n.Load(); got != 1 {
		t.Errorf("a follow-up evaluated the policy %d times", got)
	}
}

// TestLaterRulingWidensNothing checks that an approval covers what its card
// stated, even if the policy is more generous when nod evaluates it again at
// the approval.
func TestLaterRulingWidensNothing(t *testing.T) {
	t.Parallel()
	narrow := bridge.Ruling{Effect: bridge.EffectAsk, Rule: "make", GrantFor: bridge.Duration(time.Hour),
		Grants: []bridge.RuleGrant{{Key: "narrow", Rule: "make", Covers: "`make test`"}}}
	wide := bridge.Ruling{Effect: bridge.EffectAsk, Rule: "make", GrantFor: bridge.Duration(1000 * time.Hour),
		Grants: []bridge.RuleGrant{{Key: "wide", Rule: "make", Covers: "any command"}}}
	for name, later := range map[string]bridge.Ruling{
		"more": wide, "everything": {Effect: bridge.EffectAllow, Rule: "all"}, "no limit": {Effect: bridge.EffectAsk, Rule: "make", Grants: wide.Grants},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			var opened atomic.Bool
			w.rule = func(bridge.Act) bridge.Ruling {
				if opened.Load() {
					return later
				}
				return narrow
			}
			rec := w.open(agentCI, run("make test"))
			shown := strings.Join(rec.Interaction.Coverage(bridge.ScopeAlways), "\n")
			opened.Store(true)
			got := w.settle(rec, bridge.DecideAlways, "ana")
			if covers := strings.Join(got.Response.Covers, "\n"); covers != shown || !strings.Contains(covers, "make test") {
				t.Errorf("the card stated %q and the approval covers %q", shown, covers)
			}
			all := w.grants()
			if len(all) != 1 || !strings.Contains(all[0].Covers, "make test") || all[0].Expires.After(time.Now().Add(2*time.Hour)) {
				t.Errorf("the grants are %+v", all)
			}
		})
	}
}
