// Path of a click: resolve.go of bridge/core → this file → do.go of
// broker/redis.

package life

import (
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Verdict is the outcome of a rule.
type Verdict string

// The verdicts.
const (
	Done    Verdict = "done"    // the turn changed something
	Kept    Verdict = "kept"    // there is nothing to change
	Won     Verdict = "won"     // this attempt, or an earlier one with its nonce, resolved it
	Final   Verdict = "final"   // someone resolved it before, or its deadline has passed
	Changed Verdict = "changed" // it was amended or deferred, or a part was sent, since the caller read it
	Taken   Verdict = "taken"   // another caller has the answer
	// Unproven means that the approval lacks the assurance that the request requires.
	Unproven Verdict = "unproven"
	Forged   Verdict = "forged" // the documents do not verify, so no rule applied
)

// Resolve resolves a pending interaction with an answer or a cancellation. The
// first caller wins. A repeat with the nonce of the winner also wins.
func (t *Turn) Resolve(s Resolution) Verdict {
	if !t.pending() {
		if t.Life.Nonce == s.Nonce {
			return Won
		}
		return Final
	}
	at, inTime := t.answeredAt(s.Recorded)
	if !inTime {
		return Final
	}
	if s.Expect != nil && *s.Expect != len(t.Life.Amendments) || s.Awaited && !t.Life.Queued.IsZero() {
		return Changed
	}
	if t.Body.Unassured(s.Response) {
		return Unproven
	}
	t.Life.Receipt = s.Receipt
	t.resolve(s.Response, at, s.Nonce)
	return Won
}

// answeredAt returns the time of an answer, and reports whether the answer counts. An
// answer that was recorded before the deadline, and then lost, still counts after
// it. Any other answer counts only before the deadline; see applyDeadline.
func (t *Turn) answeredAt(recorded time.Time) (time.Time, bool) {
	if !recorded.IsZero() && recorded.Before(t.Life.Deadline) {
		return recorded, t.pending()
	}
	return t.now, t.applyDeadline()
}

// applyDeadline expires the interaction if its deadline has passed. Otherwise, it makes
// the turn count only before the deadline. It reports whether the interaction
// is pending.
func (t *Turn) applyDeadline() bool {
	if t.pending() && !t.now.Before(t.Life.Deadline) {
		t.Expire()
	}
	if !t.pending() {
		return false
	}
	t.change.Until = t.Life.Deadline
	return true
}

// closeDelay is the delay of the edits that show the closed interaction.
const closeDelay = 100 * time.Millisecond

// resolve resolves a pending interaction. It records the response and its
// consequences: the event, the edits of the cards, the webhooks, and the removal of
// deadlines and jobs that are no longer needed.
func (t *Turn) resolve(resp bridge.Response, at time.Time, nonce string) {
	l := &t.Life
	resp.Digest = t.Body.Digest
	if l.Receipt == "" && resp.Assertion == nil { // a signed time must not change
		resp.At = at
	}
	t.changedLife, t.EndsWait, t.TimedOut = true, true, nonce == "timeout"
	t.journal(bridge.EventResponse, resp.State, "", bridge.AuditDecision)
	if !l.Queued.IsZero() && resp.State.Decided() {
		t.change.Set = append(t.change.Set, broker.Member{
			Index: InboxIndex(l.Agent, l.Session), Name: string(t.ID), IndexTTL: InboxKept(t.retention),
		})
	}
	l.State, l.Response, l.At, l.Nonce = resp.State, &resp, at, nonce
	t.change.Replicated = true
	t.change.Unset = append(t.change.Unset, t.whilePending()...)
	if l.Limited {
		t.change.Unset = append(t.change.Unset, broker.Member{Index: PendingIndex(l.Agent), Name: string(t.ID)})
	}
	if l.Step < len(t.Body.Steps) { // the next step is no longer needed
		t.change.Withdraw = append(t.change.Withdraw, jobName(JobStep, t.ID, l.Step))
	}
	t.bump()
	t.editAll(closeDelay)
	for n := range l.Hooks {
		t.request(JobHook, n, t.now)
	}
}
