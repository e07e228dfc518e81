// Path of a click: resolve.go of bridge/core → this file → do.go of
// broker/redis.

package life

import (
	"slices"
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
	Won     Verdict = "won"     // this resolution, or a repeat of it, resolved it
	Final   Verdict = "final"   // someone resolved it before, or its deadline has passed
	Changed Verdict = "changed" // it was amended, or a part was sent, since the caller read it
	Taken   Verdict = "taken"   // another caller has the answer
	// Unproven means that the approval lacks the assurance that the request requires.
	Unproven Verdict = "unproven"
)

// after is the delay of the edits that show the closed interaction.
const after = 100 * time.Millisecond

// resolve resolves a pending interaction, with all consequences.
func (t *Turn) resolve(resp bridge.Response, at time.Time, nonce string) {
	l := &t.Life
	resp.Digest = t.Body.Digest
	if l.Receipt == "" && resp.Assertion == nil { // a signed time must not change
		resp.At = at
	}
	t.lives, t.Over = true, true
	t.journal(bridge.EventResponse, resp.State, "", bridge.AuditDecision)
	if !l.Queued.IsZero() && resp.State.Decided() {
		t.change.Set = append(t.change.Set, broker.Member{
			Index: LateIndex(l.Agent, l.Session), Name: string(t.ID), IndexTTL: t.keep + 3*bridge.MaxTimeout,
		})
	}
	l.State, l.Response, l.At, l.Nonce = resp.State, &resp, at, nonce
	t.change.Urgent, t.change.Replicated = true, true
	t.change.Unset = append(t.change.Unset, broker.Member{Index: Deadlines, Name: string(t.ID)})
	if l.Limited {
		t.change.Unset = append(t.change.Unset, broker.Member{Index: PendingIndex(l.Agent), Name: string(t.ID)})
	}
	if l.Step < len(t.Body.Steps) { // the next step has nothing to do
		t.change.Withdraw = append(t.change.Withdraw, jobName(bridge.JobStep, t.ID, l.Step))
	}
	t.bump()
	t.editAll(after)
	for n := range l.Hooks {
		t.request(bridge.JobHook, n, t.now)
	}
}

// extend moves the deadline of a pending interaction. At the new deadline, the
// interaction expires. Like a decision, this must also work when the database
// is out of memory, and callers learn of it only after the replicas have
// confirmed it.
func (t *Turn) extend(wait time.Duration) {
	l := &t.Life
	t.change.Urgent, t.change.Replicated = !t.fresh, true // an interaction that is being opened can be refused
	l.Deadline = t.now.Add(wait)
	t.Body.Deadline = l.Deadline
	t.change.Set = append(t.change.Set, broker.Member{Index: Deadlines, Name: string(t.ID), At: l.Deadline})
	t.keepUntil(l.Deadline.Add(t.keep))
	t.lives = true
}

// keepUntil keeps all documents of the interaction until at least the given
// time.
func (t *Turn) keepUntil(until time.Time) {
	if !until.After(t.Life.KeptUntil) {
		return
	}
	t.Life.KeptUntil, t.lives, t.body = until, true, true
	for n := range t.Cards {
		put(&t.cards, n, true)
	}
}

// deferAt defers a pending interaction at a time. The interaction stays open
// for its hold time, and its agent stops waiting.
func (t *Turn) deferAt(at time.Time, hold time.Duration) {
	t.Life.Queued, t.Over = at, true
	t.bump()
	t.extend(hold)
	t.editAll(0)
	t.event(bridge.EventQueued, bridge.StatePending, "")
}

// Expire resolves or defers an interaction whose deadline has passed.
func (t *Turn) Expire() Verdict {
	l := &t.Life
	switch {
	case !t.pending():
		return Final
	case t.now.Before(l.Deadline):
		return Kept
	}
	t.change.From = l.Deadline
	if l.Queued.IsZero() && t.Body.OnTimeout == bridge.OnTimeoutPending && t.Body.Kind != bridge.KindNotice {
		t.deferAt(l.Deadline, time.Duration(t.Body.Hold))
		return Done
	}
	t.resolve(t.silence(), l.Deadline, "timeout")
	return Done
}

// silence returns the response of an interaction that no one has answered by its
// deadline.
func (t *Turn) silence() bridge.Response {
	r := bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}
	i := t.Body
	switch {
	case !t.Life.Queued.IsZero():
		r.Reason = "no one answered while it was deferred"
	case i.Kind == bridge.KindNotice:
		r.State, r.Reason = bridge.StateUndeliverable, "the notice could not be shown in time"
	case i.OnTimeout == bridge.OnTimeoutDeny:
		r.State, r.Reason = bridge.StateDenied, "no one answered in time"
	case i.OnTimeout == bridge.OnTimeoutDefault:
		i.Initial = nil // initial values are not defaults
		defaults, _ := i.Respond(nil)
		r.State, r.Reason, r.Answers = bridge.StateAnswered, "no one answered in time, so the defaults apply", defaults.Answers
	}
	return r
}

// due expires the interaction if its deadline has passed. Otherwise, it makes
// the turn count only before the deadline. It reports whether the interaction
// is pending.
func (t *Turn) due() bool {
	if t.pending() && !t.now.Before(t.Life.Deadline) {
		t.Expire()
	}
	if !t.pending() {
		return false
	}
	t.change.Until = t.Life.Deadline
	return true
}

// counts calls due for an answer that may have been recorded before. An answer
// that was first recorded before the deadline still counts after it. It returns
// the time of the answer.
func (t *Turn) counts(recorded time.Time) (time.Time, bool) {
	if !recorded.IsZero() && recorded.Before(t.Life.Deadline) {
		return recorded, t.pending()
	}
	return t.now, t.due()
}

// Resolve resolves a pending interaction with an answer or a cancellation. The
// first caller wins. A repetition with the nonce of the winner also wins.
func (t *Turn) Resolve(s bridge.Settlement) Verdict {
	if !t.pending() {
		if t.Life.Nonce == s.Nonce {
			return Won
		}
		return Final
	}
	at, counts := t.counts(s.Recorded)
	if !counts {
		return Final
	}
	if s.Expect != nil && *s.Expect != t.Life.Amended {
		return Changed
	}
	if t.Body.Unassured(s.Response) {
		return Unproven
	}
	t.Life.Receipt = s.Receipt
	t.resolve(s.Response, at, s.Nonce)
	return Won
}

// Vote counts one person's vote on an approval with a quorum. The vote that
// completes the quorum resolves the approval, with the narrowest scope of its votes.
func (t *Turn) Vote(v bridge.Ballot) (Verdict, bridge.BallotResult) {
	if !t.pending() && t.Life.Nonce == v.Nonce {
		return Won, bridge.BallotDecided
	}
	at, counts := t.counts(v.Recorded)
	switch {
	case !counts:
		return Final, bridge.BallotLate
	case v.Expect != nil && *v.Expect != t.Life.Amended:
		return Changed, ""
	case v.Vote.State == bridge.StateApproved && v.Vote.Content != t.Body.Content:
		return Changed, ""
	case t.Body.Unassured(v.Response):
		return Unproven, ""
	}
	vote := v.Vote
	vote.Covers = v.Covers
	rest := t.Life.Votes[:0:0]
	for _, other := range t.Life.Votes {
		if !other.SameVoter(vote) {
			rest = append(rest, other)
			continue
		}
		// A different vote replaces the first vote. So does an approval with a
		// proof, and an approval that counts for other slots.
		if other.State == vote.State && slices.Equal(other.Covers, vote.Covers) && (other.Assurance != "" || vote.Assurance == "") {
			return Kept, bridge.BallotRepeat
		}
	}
	t.Life.Votes = append(rest, vote)
	t.lives = true
	t.journal(bridge.EventVoted, bridge.StatePending, data(vote), bridge.AuditVote)
	t.change.Urgent, t.change.Replicated = true, true
	if rec := t.Record(t.now); rec.Enough(vote.State) {
		t.Life.Receipt = v.Receipt
		t.resolve(rec.Narrowed(v.Response), at, v.Nonce)
		return Won, bridge.BallotDecided
	}
	t.bump()
	t.editAll(0)
	return Done, bridge.BallotCounted
}

// Defer keeps a pending interaction open for its hold time, although its agent
// stops waiting.
func (t *Turn) Defer(hold time.Duration) Verdict {
	if !t.due() {
		return Final
	}
	if t.Life.Queued.IsZero() {
		t.deferAt(t.now, hold)
		return Done
	}
	t.bump()
	t.extend(hold)
	t.editAll(0)
	return Done
}
