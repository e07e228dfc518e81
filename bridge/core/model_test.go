package core_test

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// Calls on one interaction.
const (
	callOpen   = "open"
	callSettle = "settle" // by a responder, or a cancellation
	callRead   = "read"   // returns the outcome, or pending
	callAwait  = "await"  // returns the outcome
)

type callInput struct {
	kind string
	id   bridge.ID
	who  string
}

type callOutput struct {
	known   bool   // false if the call failed; it may have taken effect
	won     bool   // of settle
	outcome string // the cause of the resolution, or pending
}

const (
	outPending = "pending"
	outExpired = "expired"
)

// model describes one interaction: it is opened once and resolved once, by a
// caller that got that result, and never changes afterward. The clock may
// resolve it at any time, because only the store knows when that happens; later
// results must be consistent with it.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[bridge.ID][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(callInput).id
			by[id] = append(by[id], op)
		}
		var out [][]porcupine.Operation
		for _, ops := range by {
			out = append(out, ops)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(string), input.(callInput), output.(callOutput)
		if in.kind == callOpen {
			if s == "" {
				s = outPending
			}
			return true, s
		}
		if !out.known { // it either resolved the interaction or had no effect
			if in.kind == callSettle && s == outPending {
				s = in.who
			}
			return true, s
		}
		if s == outPending && out.outcome == outExpired {
			s = outExpired
		}
		switch {
		case in.kind == callSettle && out.won:
			return s == outPending, in.who
		case in.kind == callSettle, in.kind == callAwait:
			return s != "" && s != outPending && s == out.outcome, s
		default:
			return s == out.outcome, s
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

// history holds the calls and their results.
type history struct {
	mu    sync.Mutex
	ops   []porcupine.Operation
	start time.Time
}

// record runs a call and records it. A failed call has no end, because it may
// take effect at any later time.
func (h *history) record(client int, in callInput, f func() callOutput) callOutput {
	began := time.Since(h.start).Nanoseconds()
	out := f()
	ended := time.Since(h.start).Nanoseconds()
	if !out.known {
		ended = math.MaxInt64
		if in.kind == callRead || in.kind == callAwait {
			return out // its result is unknown
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: began, Return: ended})
	return out
}

// check fails the test unless some order of the calls explains every result.
func (h *history) check(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range model.Partition(h.ops) {
		if porcupine.CheckOperations(model, essential(part)) {
			continue
		}
		t.Errorf("no order of the calls explains their results")
		for _, op := range part {
			t.Logf("%d %12d %20d %s", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
		}
		return
	}
}

// essential returns the calls on an interaction that decide whether there is such an
// order. To look for one among many calls at the same time can take forever. Of the
// calls of a kind that changed nothing and returned the same, an order only has to
// suit two: the one that ended first, which is early enough for what they saw, and the
// one that began last. A failed call that no one saw take effect suits every order.
func essential(ops []porcupine.Operation) []porcupine.Operation {
	type sort struct{ kind, outcome string }
	var out []porcupine.Operation
	first, last, seen := map[sort]porcupine.Operation{}, map[sort]porcupine.Operation{}, map[string]bool{}
	for _, op := range ops {
		in, result := op.Input.(callInput), op.Output.(callOutput)
		of := sort{in.kind, result.outcome}
		switch {
		case !result.known: // below
		case in.kind == callOpen, result.won:
			out = append(out, op)
		default:
			if was, ok := first[of]; !ok || op.Return < was.Return {
				first[of] = op
			}
			if was, ok := last[of]; !ok || op.Call > was.Call {
				last[of] = op
			}
			seen[result.outcome] = true
		}
	}
	for _, op := range ops {
		if in := op.Input.(callInput); !op.Output.(callOutput).known && (in.kind != callSettle || seen[in.who]) {
			out = append(out, op)
		}
	}
	for of, op := range first {
		if out = append(out, op); last[of] != op {
			out = append(out, last[of])
		}
	}
	return out
}

// TestEssential checks that the essential calls have an order that explains them
// exactly if all calls have one.
func TestEssential(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	explained := 0
	for range 20_000 {
		ops := []porcupine.Operation{{Input: callInput{kind: callOpen}, Output: callOutput{known: true}, Call: 0, Return: int64(r.IntN(4))}}
		for n := range 1 + r.IntN(7) {
			in := callInput{kind: []string{callSettle, callRead, callAwait}[r.IntN(3)], who: fmt.Sprint(n)}
			out := callOutput{known: true, outcome: []string{outPending, outExpired, "0", "1", "2"}[r.IntN(5)]}
			op := porcupine.Operation{ClientId: n + 1, Call: int64(r.IntN(12))}
			op.Return = op.Call + int64(r.IntN(8))
			if in.kind == callSettle {
				switch r.IntN(3) {
				case 0:
					out.won, out.outcome = true, in.who
				case 1:
					out, op.Return = callOutput{}, math.MaxInt64
				}
			}
			op.Input, op.Output = in, out
			ops = append(ops, op)
		}
		all := porcupine.CheckOperations(model, ops)
		if all {
			explained++
		}
		if some := porcupine.CheckOperations(model, essential(ops)); some != all {
			t.Fatalf("all: %t, the essential: %t: %+v", all, some, ops)
		}
	}
	t.Logf("%d histories have an order", explained)
	if explained < 500 {
		t.Error("these are too few")
	}
}

// TestModelRefuses checks that the model rejects impossible histories.
func TestModelRefuses(t *testing.T) {
	t.Parallel()
	op := func(at int64, in callInput, out callOutput) porcupine.Operation {
		in.id = "x"
		return porcupine.Operation{Input: in, Output: out, Call: at, Return: at + 1}
	}
	open := op(0, callInput{kind: callOpen}, callOutput{known: true})
	won := func(at int64, who string) porcupine.Operation {
		return op(at, callInput{kind: callSettle, who: who}, callOutput{known: true, won: true, outcome: who})
	}
	read := func(at int64, outcome string) porcupine.Operation {
		return op(at, callInput{kind: callRead}, callOutput{known: true, outcome: outcome})
	}
	for name, v := range map[string]struct {
		ops []porcupine.Operation
		ok  bool
	}{
		"one winner":               {[]porcupine.Operation{open, read(2, outPending), won(4, "ana"), read(6, "ana")}, true},
		"two winners":              {[]porcupine.Operation{open, won(2, "ana"), won(4, "bo")}, false},
		"changed":                  {[]porcupine.Operation{open, won(2, "ana"), read(4, "bo")}, false},
		"forgotten":                {[]porcupine.Operation{open, won(2, "ana"), read(4, outPending)}, false},
		"answered after its end":   {[]porcupine.Operation{open, read(2, outExpired), won(4, "ana")}, false},
		"expired":                  {[]porcupine.Operation{open, read(2, outPending), read(4, outExpired), read(6, outExpired)}, true},
		"pending again":            {[]porcupine.Operation{open, read(2, outExpired), read(4, outPending)}, false},
		"ended before it was open": {[]porcupine.Operation{read(0, "ana")}, false},
	} {
		if ok := porcupine.CheckOperations(model, v.ops); ok != v.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
