package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// pendingOf reports whether any record of a batch is pending.
func pendingOf(batch []bridge.Record) bool {
	return slices.ContainsFunc(batch, func(r bridge.Record) bool { return !r.State.Final() })
}

// batchSize returns the maximum number of approvals on a card of an interaction:
// the smallest that one of its platforms allows.
func (m platforms) batchSize(i bridge.Interaction) int {
	size := bridge.MaxBatch
	for _, d := range i.Destinations {
		if b, ok := m[d.Platform].(bridge.Batcher); ok {
			size = min(size, b.BatchSize())
		}
	}
	return size
}

// revisions returns a string that changes with every change of a batch.
func revisions(batch []bridge.Record) string {
	s := ""
	for _, r := range batch {
		s += strconv.FormatInt(r.Revision, 10) + " "
	}
	return s
}

// decideAll applies a decision to the pending requests of a batch that offer
// it. The control is below the list of the requests. On a card of an earlier
// version, it is on the card. Each request keeps its own outcome.
func (cl *clicks) decideAll(ctx context.Context, a admitted) (bridge.Verdict, error) {
	d, _ := a.control.All()
	batch, err := cl.cards.members(ctx, a.record)
	if err != nil {
		return bridge.Verdict{}, err
	}
	// Only the requests on the clicked message or list are decided.
	n := tally{after: pendingAfter(batch, a.control.Question)}
	batch = batch[:min(a.control.Question, len(batch))]
	if d.Approves() && (len(batch) == 0 || bridge.Terms(batch) != a.control.Terms) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteChanged, View: cl.cards.shown(ctx, a, nil)}, nil
	}
	for _, rec := range batch {
		if err := cl.decideOne(ctx, a, rec, d, &n); err != nil {
			return bridge.Verdict{}, err
		}
	}
	switch {
	case n.done == 0 && n.unseen > 0:
		v := bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnseen}
		return v, cl.cards.drawAgain(ctx, a.record, a.control.Destination)
	case n.done == 0 && n.refused != "":
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: n.refused[1:], View: cl.cards.shown(ctx, a, nil)}, nil
	case n.done == 0:
		return bridge.Verdict{Kind: bridge.VerdictLate, Note: noteAllLate, View: cl.cards.shown(ctx, a, nil)}, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictSettled, Note: n.note(), View: cl.cards.shown(ctx, a, nil)}, nil
}

// tally counts the results for the requests of a batch.
type tally struct {
	done, lost, unseen, after int
	refused                   string // why one was refused, after a space
}

// decideOne decides one request of a batch, if it is pending and offers the
// decision.
func (cl *clicks) decideOne(ctx context.Context, a admitted, rec bridge.Record, d bridge.Decision, n *tally) error {
	i := rec.Interaction
	if d.Approves() && !seen(rec, a.control.Destination) {
		if !rec.State.Final() {
			n.unseen++
		}
		return nil
	}
	_, why, err := cl.people.eligible(ctx, i, a.Actor)
	if err != nil || rec.State.Final() || why != "" && (d.Approves() || !mayDeny(i, why)) {
		return err
	}
	r, problem, err := decide(i, d, bridge.Given{})
	if err != nil || problem != "" {
		return nil //nolint:nilerr // the request does not offer the decision
	}
	if d.Approves() && i.StepUp != "" {
		n.refused = " " + noteSignEach
		return nil
	}
	r.Message = a.clickedMessage()
	_, result, refusal, err := cl.settler.conclude(ctx, a.actor, rec, r, a.spot())
	switch {
	case err != nil:
		return err
	case refusal != nil:
		n.refused = " " + refusal.Note
	case result == bridge.BallotDecided:
		n.done++
	default:
		n.lost++
	}
	return nil
}

// note returns the reply with the results.
func (n tally) note() string {
	note := "Recorded: " + strconv.Itoa(n.done) + " decided."
	if n.lost > 0 {
		note += " " + strconv.Itoa(n.lost) + " had already been decided."
	}
	if n.unseen > 0 {
		note += " " + strconv.Itoa(n.unseen) + " not decided, because the card does not show them in full yet."
	}
	if n.after > 0 {
		note += " " + strconv.Itoa(n.after) + " added after the card that you clicked, and still pending."
	}
	return note + n.refused
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
