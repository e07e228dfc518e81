package life

import (
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Expire resolves or defers an interaction whose deadline has passed.
func (t *Turn) Expire() Verdict {
	l := &t.Life
	switch {
	case !t.pending():
		return Final
	case t.now.Before(l.Deadline):
		return Kept
	}
	t.change.From, t.TimedOut = l.Deadline, true
	if l.Queued.IsZero() && t.Body.OnTimeout == bridge.OnTimeoutPending && t.Body.Kind != bridge.KindNotice {
		t.deferAt(l.Deadline, time.Duration(t.Body.Hold))
		return Done
	}
	t.resolve(t.timeoutResponse(), l.Deadline, "timeout")
	return Done
}

// timeoutResponse returns the response of an interaction that no one has answered by its
// deadline.
func (t *Turn) timeoutResponse() bridge.Response {
	r := bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}}
	i := t.Body
	switch {
	case !t.Life.Queued.IsZero():
		r.Reason = "no one answered while it was deferred"
	case i.Kind == bridge.KindNotice:
		r.State, r.Reason = bridge.StateUndeliverable, "the notice could not be shown in time"
	case i.OnTimeout == bridge.OnTimeoutDeny:
		r.State, r.Reason = bridge.StateDenied, "no one answered in time"
	case i.OnTimeout == bridge.OnTimeoutDefault && t.stop.Exists(): // the daemon that stopped it has not cancelled this request
		r.Reason = "no one answered in time, and the session is stopped"
	case i.OnTimeout == bridge.OnTimeoutDefault:
		if t.answersByDefault() {
			t.change.If = append(t.change.If, broker.Version{Key: t.stopKey()})
		}
		i.Initial = nil // initial values are not defaults
		defaults, _ := i.Respond(nil)
		r.State, r.Reason, r.Answers = bridge.StateAnswered, "no one answered in time, so the defaults apply", defaults.Answers
	}
	return r
}

// answersByDefault reports whether the deadline answers an interaction of a session
// with its defaults, unless the session is stopped.
func (d *Docs) answersByDefault() bool {
	return d.Life.State == "" && d.Life.Session != "" && d.Body.OnTimeout == bridge.OnTimeoutDefault
}

func (d *Docs) stopKey() broker.Key { return Stops.Key(Owner(d.Life.Agent, d.Life.Session)) }

// Deferred keeps a pending interaction open for Hold, although its agent stops
// waiting.
type Deferred struct{ Hold time.Duration }

func (d Deferred) mark(t *Turn) Verdict {
	if !t.applyDeadline() {
		return Final
	}
	if t.Life.Queued.IsZero() {
		t.deferAt(t.now, d.Hold)
		return Done
	}
	t.bump()
	t.extend(d.Hold)
	t.editAll(0)
	return Done
}

// deferAt defers a pending interaction at a time. The interaction stays open
// for its hold time, and its agent stops waiting.
func (t *Turn) deferAt(at time.Time, hold time.Duration) {
	t.Life.Queued, t.EndsWait = at, true
	t.bump()
	t.extend(hold)
	t.editAll(0)
	t.event(bridge.EventQueued, bridge.StatePending, "")
}

// extend moves the deadline of a pending interaction. At the new deadline, the
// interaction expires. Like a decision, callers learn of it only after the replicas
// have confirmed it.
func (t *Turn) extend(wait time.Duration) {
	l := &t.Life
	t.change.Replicated = true
	l.Deadline = t.now.Add(wait)
	t.Body.Deadline = l.Deadline
	t.change.Set = append(t.change.Set, t.whilePending()...)
	t.keepUntil(l.Deadline.Add(t.retention))
	t.changedLife = true
}

// keepUntil keeps all documents of the interaction until at least the given
// time.
func (t *Turn) keepUntil(until time.Time) {
	if !until.After(t.Life.KeptUntil) {
		return
	}
	t.Life.KeptUntil, t.changedLife, t.changedBody = until, true, true
	for n := range t.Cards {
		put(&t.changedCards, n, true)
	}
}
