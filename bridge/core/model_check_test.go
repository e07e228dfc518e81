package core_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// opensApproval is the opening of an approval with a quorum, which may follow another
// one, or rely on a grant.
func opensApproval(t *testing.T, id, previous, under bridge.ID, quorum int) callInput {
	o := opening(t, "", func(i *bridge.Interaction) {
		i.Quorum, i.DenyCounts = quorum, true
		i.Previous, i.Root = previous, previous
	})
	o.Interaction.ID = id
	o.Superseded = bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}}
	if under != "" {
		o.Response = &bridge.Response{State: bridge.StateApproved, Annotations: map[string]bridge.Annotation{}}
	}
	return callInput{open: &opens{o, under}, id: id, family: "x"}
}

// randomCall returns a random call on one of two interactions.
func randomCall(t *testing.T, r *rand.Rand, n int) callInput {
	in := callInput{id: []bridge.ID{"x", "x", "y"}[r.IntN(3)], family: "x", who: fmt.Sprint("U", n)}
	expect := r.IntN(2)
	switch r.IntN(8) {
	case 0:
		s := yes(in.id, in.who)
		in.settle = &s
	case 1:
		s := yes(in.id, in.who)
		s.Response.Scope, s.Expect = bridge.ScopeSession, &expect
		in.settle = &s
	case 2, 3:
		v := ballot(in.id, in.who, bridge.StateApproved)
		v.Vote.Actor.User, v.Response.Actor.User = in.who, in.who
		in.vote = &v
	case 4:
		in.amend = &life.Amendment{Expect: expect}
	case 5:
		in.revoke = true
	case 6:
		in.await = true
	default:
		in.read = true
	}
	if k := r.IntN(12); k == 0 {
		return opensApproval(t, "y", "x", "", 1)
	} else if k == 1 {
		return opensApproval(t, bridge.ID(fmt.Sprint("z", n)), "", "x", 1)
	}
	return in
}

// randomHistory returns calls with the results that they have in some order, and
// sometimes a result or a time that none explains. As in a storm, the last calls read
// the final states.
func randomHistory(t *testing.T, r *rand.Rand) []porcupine.Operation {
	var ops []porcupine.Operation
	f := family{}
	for n := range 2 + r.IntN(8) {
		in := randomCall(t, r, n)
		if n == 0 {
			in = opensApproval(t, "x", "", "", 1+r.IntN(2))
		}
		out := callOutput{known: true}
		op := porcupine.Operation{ClientId: n, Input: in, Call: int64(10*n - r.IntN(25)), Return: int64(10*n + r.IntN(25))}
		if in.open == nil && f.docs[in.id] == nil {
			continue
		}
		next, result := f.step(in)
		if d := next.docs[in.id]; d != nil {
			out = sees(*d.Record(d.Life.Created), nil)
			out.result = result
		}
		if !in.read {
			out.seen = seen{}
		}
		switch k := r.IntN(8); {
		case in.await && out.outcome == outPending:
			continue
		case in.open != nil && next.docs[in.id] == nil:
			out.result = result
		case k == 0 && n > 0 && !in.read && !in.await:
			out, op.Return = callOutput{}, math.MaxInt64
			if r.IntN(2) == 0 {
				next = f
			}
		}
		op.Output = out
		ops, f = append(ops, op), next
	}
	for _, id := range []bridge.ID{"x", "y"} {
		if d := f.docs[id]; d != nil {
			ops = append(ops, porcupine.Operation{
				ClientId: len(ops), Input: callInput{id: id, family: "x", read: true}, Call: 1000, Return: 1001,
				Output: sees(*d.Record(d.Life.Created), nil),
			})
		}
	}
	bend(r, &ops[r.IntN(len(ops))], ops[r.IntN(len(ops))].Output.(callOutput))
	return ops
}

// bend changes the time of a call, or its result to that of another call.
func bend(r *rand.Rand, op *porcupine.Operation, other callOutput) {
	in, out := op.Input.(callInput), op.Output.(callOutput)
	switch k := r.IntN(4); {
	case !out.known, k == 0: // unchanged
	case k == 1:
		op.Call, op.Return = op.Call+50, op.Return+50
	case other.known && in.open == nil && !(in.await && other.outcome == outPending):
		if out.outcome = other.outcome; k == 2 && !in.read && !in.await {
			out.result = other.result
		}
		op.Output = out
	}
}

// TestEssential checks that the essential calls have an order that explains them
// exactly if all calls have one.
func TestEssential(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	explained := 0
	const histories = 1500
	for range histories {
		ops := randomHistory(t, r)
		all := porcupine.CheckOperations(model, ops)
		if all {
			explained++
		}
		if some := porcupine.CheckOperations(model, essential(ops)); some != all {
			for _, op := range ops {
				t.Logf("%d %12d %20d %s", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
			}
			t.Fatalf("all: %t, the essential: %t", all, some)
		}
	}
	t.Logf("%d of %d histories have an order", explained, histories)
	if explained < histories/10 || explained > histories*9/10 {
		t.Error("too few histories of one kind")
	}
}

// TestModelRefuses checks that the model rejects impossible histories.
func TestModelRefuses(t *testing.T) {
	t.Parallel()
	type op func(in *callInput) callOutput
	open := func(quorum int) op {
		return func(in *callInput) callOutput {
			*in = opensApproval(t, "x", "", "", quorum)
			return callOutput{known: true, result: resultDone}
		}
	}
	known := func(result, outcome string) callOutput {
		return callOutput{known: true, result: result, outcome: outcome}
	}
	settle := func(who string, scope bridge.Scope, result, outcome string) op {
		return func(in *callInput) callOutput {
			s := yes("x", who)
			s.Response.Scope, in.settle = scope, &s
			return known(result, outcome)
		}
	}
	won := func(who string) op { return settle(who, bridge.ScopeOnce, string(life.Won), who) }
	vote := func(who string, v life.Verdict, outcome string) op {
		return func(in *callInput) callOutput {
			b := ballot("x", who, bridge.StateApproved)
			b.Vote.Actor.User, b.Response.Actor.User, in.vote = who, who, &b
			return known(string(v), outcome)
		}
	}
	amend := func(expect int, result string) op {
		return func(in *callInput) callOutput {
			in.amend = &life.Amendment{Expect: expect, Interaction: opensApproval(t, "x", "", "", 2).open.Interaction, Void: []string{"ana"}}
			return known(result, outPending)
		}
	}
	follow := func(id bridge.ID, result string) op {
		return func(in *callInput) callOutput {
			*in = opensApproval(t, id, "x", "", 1)
			return known(result, outPending)
		}
	}
	under := func(result string) op {
		return func(in *callInput) callOutput {
			*in = opensApproval(t, "z", "", "x", 1)
			return known(result, "")
		}
	}
	revoke := func(result string) op {
		return func(in *callInput) callOutput { in.revoke = true; return known(result, "") }
	}
	told := func(outcome string) op {
		return func(in *callInput) callOutput { in.await = true; return known("", outcome) }
	}
	gives := settle("ana", bridge.ScopeSession, string(life.Won), "ana")
	for name, v := range map[string]struct {
		ops []op
		ok  bool
	}{
		"one winner":                 {[]op{open(1), told(outPending), won("ana"), told("ana")}, true},
		"two winners":                {[]op{open(1), won("ana"), won("bo")}, false},
		"changed":                    {[]op{open(1), won("ana"), told("bo")}, false},
		"forgotten":                  {[]op{open(1), won("ana"), told(outPending)}, false},
		"answered after its end":     {[]op{open(1), told(outExpired), won("ana")}, false},
		"expired":                    {[]op{open(1), told(outPending), told(outExpired), told(outExpired)}, true},
		"pending again":              {[]op{open(1), told(outExpired), told(outPending)}, false},
		"ended before it was open":   {[]op{told("ana")}, false},
		"two votes":                  {[]op{open(2), vote("ana", life.Done, outPending), vote("bo", life.Won, "bo")}, true},
		"one vote decides":           {[]op{open(2), vote("ana", life.Won, "ana")}, false},
		"a vote that does not count": {[]op{open(2), vote("ana", life.Done, outPending), vote("bo", life.Done, outPending)}, false},
		"a vote twice":               {[]op{open(2), vote("ana", life.Done, outPending), vote("ana", life.Done, outPending)}, false},
		"a vote after an amendment":  {[]op{open(2), vote("ana", life.Done, outPending), amend(0, resultDone), vote("bo", life.Done, outPending)}, true},
		"a void vote":                {[]op{open(2), vote("ana", life.Done, outPending), amend(0, resultDone), vote("bo", life.Won, "bo")}, false},
		"amended twice":              {[]op{open(2), amend(0, resultDone), amend(0, resultDone)}, false},
		"an older amendment":         {[]op{open(2), amend(0, resultDone), amend(0, refused), amend(1, resultDone)}, true},
		"superseded":                 {[]op{open(1), follow("y", resultDone), told("superseded")}, true},
		"pending after a follow-up":  {[]op{open(1), follow("y", resultDone), won("ana")}, false},
		"two follow-ups":             {[]op{open(1), follow("y", resultDone), follow("w", resultDone)}, false},
		"one of two follow-ups":      {[]op{open(1), follow("y", resultDone), follow("w", string(bridge.CodeConflict))}, true},
		"under a grant":              {[]op{open(1), under(grantNone), gives, under(resultDone)}, true},
		"under no grant":             {[]op{open(1), won("ana"), under(resultDone)}, false},
		"under a revoked grant":      {[]op{open(1), gives, revoke(resultDone), under(resultDone)}, false},
		"revoked twice":              {[]op{open(1), gives, revoke(resultDone), revoke(grantRevoked), under(grantRevoked)}, true},
	} {
		var ops []porcupine.Operation
		for n, f := range v.ops {
			in := callInput{id: "x", family: "x"}
			out := f(&in)
			ops = append(ops, porcupine.Operation{Input: in, Output: out, Call: int64(2 * n), Return: int64(2*n + 1)})
		}
		if ok := porcupine.CheckOperations(model, slices.Clone(ops)); ok != v.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
