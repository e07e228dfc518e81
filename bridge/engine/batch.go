package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

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

// decideAll decides everything that is pending in a batch and offers the
// decision; each one keeps its own outcome.
func (cl *clicks) decideAll(ctx context.Context, a admitted) (bridge.Verdict, error) {
	if a.control.Option >= len(bridge.BatchDecisions) {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	d := bridge.BatchDecisions[a.control.Option]
	batch, err := cl.cards.members(ctx, a.record)
	if err != nil {
		return bridge.Verdict{}, err
	}
	// Only what the clicked message showed is decided.
	after := pendingAfter(batch, a.control.Question)
	batch = batch[:min(a.control.Question, len(batch))]
	if d.Approves() && (len(batch) == 0 || bridge.Terms(batch) != a.control.Terms) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteChanged, View: cl.cards.shown(ctx, a, nil)}, nil
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
		_, why, err := cl.people.eligible(ctx, i, a.Actor)
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
		_, result, refusal, err := cl.settler.conclude(ctx, a.actor, rec, r)
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
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnseen}, cl.cards.drawAgain(ctx, a.record, a.control.Destination)
	}
	if done == 0 && refused != "" {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: refused[1:], View: cl.cards.shown(ctx, a, nil)}, nil
	}
	if done == 0 {
		return bridge.Verdict{Kind: bridge.VerdictLate, Note: "Too late: all of it was decided before. Nothing was recorded.", View: cl.cards.shown(ctx, a, nil)}, nil
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
	return bridge.Verdict{Kind: bridge.VerdictSettled, Note: note + refused, View: cl.cards.shown(ctx, a, nil)}, nil
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
