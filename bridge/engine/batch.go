package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// members loads what the messages of a record show: nil for one that is alone.
func (e *Engine) members(ctx context.Context, r bridge.Record) ([]bridge.Record, error) {
	if r.Batch != "" {
		first, err := e.store.Load(ctx, r.Batch)
		if err != nil {
			return nil, err
		}
		return e.members(ctx, first)
	}
	if len(r.Members) == 0 {
		return nil, nil
	}
	out := make([]bridge.Record, len(r.Members))
	for n, id := range r.Members {
		if id == r.Interaction.ID {
			out[n] = r
			continue
		}
		var err error
		if out[n], err = e.store.Load(ctx, id); err != nil {
			return nil, err
		}
		out[n] = r.MemberOf(out[n])
	}
	return out, nil
}

// pendingOf reports whether something of it is pending.
func pendingOf(batch []bridge.Record) bool {
	return slices.ContainsFunc(batch, func(r bridge.Record) bool { return !r.State.Final() })
}

// revisions tells states of a batch apart.
func revisions(batch []bridge.Record) string {
	s := ""
	for _, r := range batch {
		s += strconv.FormatInt(r.Revision, 10) + " "
	}
	return s
}

// shown is what the pressed message has to show now; nil where that cannot be
// read right now: its edit follows.
func (e *Engine) shown(ctx context.Context, a admitted, d *bridge.Draft) *bridge.View {
	v := a.view(e, d)
	if a.record.Batch == "" && len(a.record.Members) == 0 {
		return &v
	}
	batch, err := e.members(ctx, a.record)
	if err != nil {
		e.log.Warn("batch not read, its message is drawn by its edit", "id", a.record.Interaction.ID, "error", err)
		return nil
	}
	for n := range batch {
		batch[n] = e.forPeople(batch[n])
	}
	v.Record, v.Batch = batch[0], batch
	return &v
}

// decideAll decides everything that is pending in a batch and offers the
// decision; each one keeps its own outcome.
func (e *Engine) decideAll(ctx context.Context, a admitted) (bridge.Verdict, error) {
	if a.control.Option >= len(bridge.BatchDecisions) {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	d := bridge.BatchDecisions[a.control.Option]
	batch, err := e.members(ctx, a.record)
	if err != nil {
		return bridge.Verdict{}, err
	}
	// Only what the clicked message showed is decided.
	after := pendingAfter(batch, a.control.Question)
	batch = batch[:min(a.control.Question, len(batch))]
	if d.Approves() && (len(batch) == 0 || bridge.Terms(batch) != a.control.Terms) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteChanged, View: e.shown(ctx, a, nil)}, nil
	}
	done, lost, unseen, refused := 0, 0, 0, ""
	for _, rec := range batch {
		i := rec.Interaction
		if d.Approves() && !seen(rec, a.control.Destination) {
			if !rec.State.Final() {
				unseen++
			}
			continue
		}
		_, why, err := e.eligible(ctx, i, a.Actor)
		if err != nil {
			return bridge.Verdict{}, err
		}
		if rec.State.Final() || why != "" && (d.Approves() || !mayDeny(i, why)) {
			continue
		}
		r, problem, err := decide(i, d, bridge.Given{})
		if err != nil || problem != "" {
			continue // this one does not offer it
		}
		r.Message = a.pressed()
		_, result, refusal, err := e.conclude(ctx, a.actor, rec, r)
		switch {
		case err != nil:
			return bridge.Verdict{}, err
		case refusal != nil:
			refused = " " + refusal.Note
		case result == bridge.BallotDecided:
			done++
		default:
			lost++
		}
	}
	if done == 0 && unseen > 0 {
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnseen}, e.drawAgain(ctx, a.record, a.control.Destination)
	}
	if done == 0 && refused != "" {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: refused[1:], View: e.shown(ctx, a, nil)}, nil
	}
	if done == 0 {
		return bridge.Verdict{Kind: bridge.VerdictLate, Note: "Too late: all of it was decided before. Nothing was recorded.", View: e.shown(ctx, a, nil)}, nil
	}
	note := "Recorded: " + strconv.Itoa(done) + " decided."
	if lost > 0 {
		note += " " + strconv.Itoa(lost) + " had been decided a moment before."
	}
	if unseen > 0 {
		note += " " + strconv.Itoa(unseen) + " are not shown in full yet, and are still open."
	}
	if after > 0 {
		note += " " + strconv.Itoa(after) + " came after the card you clicked, and are still open."
	}
	return bridge.Verdict{Kind: bridge.VerdictSettled, Note: note + refused, View: e.shown(ctx, a, nil)}, nil
}

// pendingAfter counts the pending requests of a batch that a card with n of
// them did not show.
func pendingAfter(batch []bridge.Record, n int) int {
	count := 0
	for _, r := range batch[min(n, len(batch)):] {
		if !r.State.Final() {
			count++
		}
	}
	return count
}

// settleOne records a response as an actor's: it decides, with the grant that
// it gives, or is counted.
func (e *Engine) settleOne(ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response) (bridge.Record, bridge.BallotResult, error) {
	i := rec.Interaction
	r = stamped(actor, i, r)
	var got bridge.Record
	var err error
	result := bridge.BallotLate
	if i.Kind == bridge.KindApproval && i.Counted() {
		got, result, err = e.vote(ctx, actor, rec, r)
	} else {
		var won bool
		got, won, err = e.store.Settle(ctx, bridge.Settlement{ID: i.ID, Response: r, Nonce: nonce(actor, r), Expect: &rec.Amended, Interaction: i})
		if won {
			result = bridge.BallotDecided
		}
	}
	if err != nil || result != bridge.BallotDecided {
		return got, result, err
	}
	e.log.Info("settled", "id", i.ID, "state", got.State, "platform", actor.Platform, "user", actor.User)
	if err := e.remember(ctx, got); err != nil {
		e.log.Warn("grant not stored yet, the waiting agent's read will store it", "id", i.ID, "error", err)
	}
	return got, result, nil
}
