package core_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// callInput is one call. Exactly one field other than id, family and who is set.
type callInput struct {
	id     bridge.ID // the interaction
	family bridge.ID // the first of the interactions that depend on one another
	who    string    // the caller, unless it reads

	open   *opens
	settle *life.Resolution // by a responder, or a cancellation; session scope creates a grant
	vote   *life.Ballot
	amend  *life.Amendment
	revoke bool // the grant that the interaction created
	read   bool // returns the state, final or not
	await  bool // returns the final state
}

// opens is the opening of an interaction.
type opens struct {
	life.Opening
	// under is the interaction whose grant approves the new one. Empty means that
	// people decide.
	under bridge.ID
}

// callOutput holds the result of a call.
type callOutput struct {
	known   bool // false if the call failed; it may have taken effect
	result  string
	outcome string // the cause of the resolution of the interaction, or pending
	// seen is empty unless the call reads.
	seen seen
}

// seen holds the values that a reader sees of an interaction in addition to its outcome.
type seen struct {
	amended int
	next    bridge.ID
	voters  string
}

// sees returns the output of a call that read a record.
func sees(r bridge.Record, err error) callOutput {
	out := callOutput{known: err == nil, outcome: outcome(r), seen: seen{amended: r.Amended, next: r.Next}}
	for _, v := range r.Votes {
		out.seen.voters += " " + v.Actor.User
	}
	return out
}

// Results of calls other than the verdicts of the rules.
const (
	outPending = "pending"
	outExpired = "expired"
	resultDone = "done"
	refused    = "refused"

	grantNone    = "" // none was created yet
	grantGiven   = "given"
	grantRevoked = "revoked"
)

// family is the state of interactions that depend on one another: the first, its
// follow-ups, and those that its grants approve. It never changes: each call makes a new
// one.
type family struct {
	docs   map[bridge.ID]*life.Docs
	grants map[bridge.ID]string
	key    string // identifies the state
}

// model describes a family by the rules of package life: each call has exactly the result
// that the rule gives for the documents that the calls before it left. The clock may
// resolve an interaction at any time, because only the store knows when that happens;
// later results must be consistent with it.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[bridge.ID][]porcupine.Operation{}
		for _, op := range history {
			of := op.Input.(callInput).family
			by[of] = append(by[of], op)
		}
		return slices.Collect(maps.Values(by))
	},
	Init: func() any { return family{} },
	Step: func(state, input, output any) (bool, any) {
		f, in, out := state.(family), input.(callInput), output.(callOutput)
		if in.open == nil && f.docs[in.id] == nil {
			return false, f
		}
		if d := f.docs[in.id]; d != nil && d.Life.State == "" && out.known && out.outcome == outExpired {
			t := d.Begin(d.Life.Deadline, time.Hour)
			t.Expire()
			f = f.with(t)
		}
		next, result := f.step(in)
		if !out.known {
			return true, next
		}
		d := next.docs[in.id]
		if d == nil {
			return result == out.result, next
		}
		is := sees(*d.Record(d.Life.Created), nil)
		return result == out.result && (in.open != nil || in.revoke || is.outcome == out.outcome) && (!in.read || is.seen == out.seen), next
	},
	Equal:             func(a, b any) bool { return a.(family).key == b.(family).key },
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%s → %+v", input, output) },
}

// step applies a call before the deadline, and returns the new state and the result.
func (f family) step(in callInput) (family, string) {
	if in.open != nil {
		return f.open(in.open)
	}
	d := f.docs[in.id]
	t := d.Begin(d.Life.Created, time.Hour)
	switch {
	case in.settle != nil:
		v := t.Resolve(*in.settle)
		if next := f.with(t); v == life.Won && in.settle.Response.Scope == bridge.ScopeSession {
			return next.grant(in.id, grantGiven), string(v)
		}
		return f.with(t), string(v)
	case in.vote != nil:
		v := t.Vote(*in.vote)
		return f.with(t), string(v)
	case in.amend != nil:
		if t.Mark(*in.amend) == life.Done {
			return f.with(t), resultDone
		}
		return f, refused
	case in.revoke:
		if f.grants[in.id] == grantGiven {
			return f.grant(in.id, grantRevoked), resultDone
		}
		return f, f.grants[in.id]
	default:
		return f, ""
	}
}

// open opens an interaction, which may follow another one, or rely on a grant.
func (f family) open(o *opens) (family, string) {
	if o.under != "" && f.grants[o.under] != grantGiven {
		return f, f.grants[o.under]
	}
	i := o.Interaction
	op := o.Opening
	op.Previous, op.Root = f.docs[i.Previous], f.docs[i.Root]
	out, err := life.Open(&op, i.Created, time.Hour)
	if err != nil {
		return f, string(bridge.ErrorCode(err))
	}
	for _, t := range append(out.Others, out.Turn) {
		f = f.with(t)
	}
	return f, resultDone
}

// with returns the state after a turn.
func (f family) with(t *life.Turn) family {
	docs := maps.Clone(f.docs)
	if docs == nil {
		docs = map[bridge.ID]*life.Docs{}
	}
	docs[t.ID] = &t.Docs
	return family{docs: docs, grants: f.grants}.keyed()
}

func (f family) grant(id bridge.ID, state string) family {
	grants := maps.Clone(f.grants)
	if grants == nil {
		grants = map[bridge.ID]string{}
	}
	grants[id] = state
	return family{docs: f.docs, grants: grants}.keyed()
}

func (f family) keyed() family {
	var all []string
	for id, d := range f.docs {
		all = append(all, fmt.Sprint(id, sees(*d.Record(d.Life.Created), nil), f.grants[id]))
	}
	slices.Sort(all)
	f.key = strings.Join(all, "\n")
	return f
}

// String describes a call.
func (in callInput) String() string {
	text := fmt.Sprintf("%s%s of %s by %q", in.kind(), in.expects(), in.id, in.who)
	if in.open != nil {
		text += fmt.Sprintf(" after %q, under %q", in.open.Interaction.Previous, in.open.under)
	}
	return text
}

// expects returns the number of amendments that a call expects.
func (in callInput) expects() string {
	switch {
	case in.settle != nil && in.settle.Expect != nil:
		return fmt.Sprint(" expecting ", *in.settle.Expect)
	case in.vote != nil && in.vote.Expect != nil:
		return fmt.Sprint(" expecting ", *in.vote.Expect)
	case in.amend != nil:
		return fmt.Sprint(" expecting ", in.amend.Expect)
	}
	return ""
}

// kind returns the kind of a call.
func (in callInput) kind() string {
	switch {
	case in.open != nil:
		return "open"
	case in.settle != nil:
		return "settle"
	case in.vote != nil:
		return "vote"
	case in.amend != nil:
		return "amend"
	case in.revoke:
		return "revoke"
	case in.read:
		return "read"
	default:
		return "await"
	}
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
		if in.read || in.await {
			return out // the result is unknown
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
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, op := range part {
			t.Logf("%d %12d %20d %s", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
		}
		return
	}
}

// changed reports whether a call with a known result took effect.
func changed(in callInput, out callOutput) bool {
	return !in.read && !in.await && (out.result == resultDone || out.result == string(life.Won))
}

// essential returns the calls on a family that decide whether there is such an order. To
// look for one among many calls at the same time can take forever. Calls of a kind that
// changed nothing and returned the same saw states without another one between them. So
// an order only has to suit two of them: the one that ended first, which is early enough
// for what they saw, and the one that began last. A failed call suits every order if no
// one saw it take effect, not even those who read the final states.
func essential(ops []porcupine.Operation) []porcupine.Operation {
	type sort struct {
		id           bridge.ID
		kind, expect string
		callOutput
	}
	var out []porcupine.Operation
	first, last := map[sort]porcupine.Operation{}, map[sort]porcupine.Operation{}
	effects := newEffects(ops)
	for _, op := range ops {
		in, result := op.Input.(callInput), op.Output.(callOutput)
		if !result.known {
			if effects.of(in) {
				out = append(out, op)
			}
			continue
		}
		if changed(in, result) {
			out = append(out, op)
			continue
		}
		of := sort{in.id, in.kind(), in.expects(), result}
		if was, ok := first[of]; !ok || op.Return < was.Return {
			first[of] = op
		}
		if was, ok := last[of]; !ok || op.Call > was.Call {
			last[of] = op
		}
	}
	for of, op := range first {
		if out = append(out, op); last[of] != op {
			out = append(out, last[of])
		}
	}
	return out
}

// effects are the effects of calls that someone saw.
type effects struct {
	who     map[string]bool // answered or voted
	amended map[bridge.ID]int
	next    map[bridge.ID]bridge.ID
	taken   map[string]bool // amendments whose callers know that they took effect
	revoked map[bridge.ID]bool
}

func newEffects(ops []porcupine.Operation) *effects {
	e := &effects{map[string]bool{}, map[bridge.ID]int{}, map[bridge.ID]bridge.ID{}, map[string]bool{}, map[bridge.ID]bool{}}
	known := map[bridge.ID]bool{}
	for _, op := range ops {
		in, out := op.Input.(callInput), op.Output.(callOutput)
		if !out.known {
			continue
		}
		for _, who := range append(strings.Fields(out.seen.voters), out.outcome) {
			e.who[who] = true
		}
		if e.amended[in.id] = max(e.amended[in.id], out.seen.amended); out.seen.next != "" {
			e.next[in.id] = out.seen.next
		}
		switch {
		case in.amend != nil && out.result == resultDone:
			e.taken[string(in.id)+in.expects()] = true
		case in.revoke && out.result == resultDone:
			known[in.id] = true
		case in.revoke && out.result == grantRevoked:
			e.revoked[in.id] = true
		case in.open != nil && out.result == grantRevoked:
			e.revoked[in.open.under] = true
		}
	}
	for id := range known {
		delete(e.revoked, id) // no other call revoked it
	}
	return e
}

// of reports whether someone may have seen the effect of a failed call.
func (e *effects) of(in callInput) bool {
	switch {
	case in.amend != nil:
		return e.amended[in.id] > in.amend.Expect && !e.taken[string(in.id)+in.expects()]
	case in.open != nil && in.open.Interaction.Previous != "":
		return e.next[in.open.Interaction.Previous] == in.id
	case in.open != nil:
		return true // the first of its family, or one that no one knows
	case in.revoke:
		return e.revoked[in.id]
	default:
		return e.who[in.who]
	}
}
