package broker

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// slow is the reply of a script for the usual case when the case is another
// one. The script has done nothing then, and the one for every case runs.
const slow = "slow"

// encoded holds the arguments of an opening that are expensive to make.
type encoded struct {
	opened      *bridge.Interaction // as a text keeps it: without a monotonic clock
	interaction []byte
	timeout     []byte // empty if it is the usual response
	afterHold   []byte // empty if the interaction cannot be held
	channel     string // of this daemon if the caller waits from the start
}

func (op *openings) encode(o bridge.Opening) encoded {
	i := o.Interaction
	i.Created, i.Deadline, i.Stated = i.Created.Round(0), i.Deadline.Round(0), bridge.Times{}
	timeout := o.Timeout // o itself, which is large, stays on the stack
	e := encoded{opened: &i, interaction: data(&i), timeout: data(&timeout)}
	if bytes.Equal(e.timeout, unanswered(e.interaction)) {
		e.timeout = []byte{}
	}
	if i.Session != "" || o.Timeout.State == bridge.StatePending {
		e.afterHold = data(&o.AfterHold) // only such interactions can be held
	}
	if o.Awaited {
		e.channel = op.keys.wake(op.node)
	}
	return e
}

// version returns the version of the record.
func (e encoded) version() string {
	if len(e.timeout) == 0 {
		return plainTimeout
	}
	return storedTimeout
}

// usual reports whether open_plain.lua can store an opening.
func usual(o bridge.Opening) bool { return !rare(o) }

// openPlain stores an opening in the usual case. It returns the time of Redis in
// ms, or slow.
func (op *openings) openPlain(
	ctx context.Context, o bridge.Opening, e encoded, also func(redis.Pipeliner),
) (string, error) {
	i := o.Interaction
	p := i.ID.Partition()
	record := op.keys.record(i.ID)
	keys := []string{record, op.keys.deadlines(p), op.keys.outbox(p), record, op.keys.journal(p), record, record, record}
	timeout, keep := i.Deadline.Sub(i.Created).Milliseconds(), op.retention.Milliseconds()
	args := []any{
		string(i.ID), e.interaction, timeout, timeout + keep, e.version(), packed(o, keep), i.Agent,
		time.Duration(i.Grace).Milliseconds(), len(i.Destinations), e.channel,
	}
	session, x, first := int64(0), correlation(i), ""
	if o.Limited {
		keys[5] = op.keys.open(p)
	}
	if i.Session != "" {
		keys[6] = op.keys.session(p, i.Agent, i.Session)
		session = timeout + bridge.MaxTimeout.Milliseconds() + keep
	}
	held := stoppable(o)
	if held != "" {
		keys[7] = op.keys.stopped(p)
	}
	if o.IdempotencyKey != "" {
		keys = append(keys, op.keys.idem(p, i.Agent, o.IdempotencyKey), op.keys.plainIdem(p, i.Agent, o.IdempotencyKey))
		first = string(i.ID) + "|" + o.RequestDigest
	}
	if len(e.timeout)+len(e.afterHold)+len(i.Session)+len(x)+len(first)+len(i.Steps) > 0 || o.Limited {
		args = append(args, e.timeout, i.Session, session, x, e.afterHold, held, first, flag(o.Limited), firstStep(i))
	}
	return op.runWith(ctx, p, also, op.scripts.openPlain, keys, args...).Text()
}

// packed returns the packed values of a new record after its deadline; see pack
// in lua/lib.lua.
func packed(o bridge.Opening, keep int64) string {
	i := o.Interaction
	b := make([]byte, 0, 64)
	number := func(n int64) { b = append(strconv.AppendInt(b, n, 10), '|') }
	b = append(append(b, o.Timeout.State...), '|')
	number(keep)
	number(time.Duration(i.Hold).Milliseconds())
	b = append(append(b, flag(o.FrontEnds)...), '|')
	number(int64(i.Closings()))
	number(int64(len(i.Destinations)))
	b = append(append(b, flag(o.Limited)...), '|')
	return string(append(b, i.Agent...))
}

// firstStep returns the ms until the first step of an escalation, or "" if there
// is none.
func firstStep(i bridge.Interaction) any {
	if len(i.Steps) == 0 {
		return ""
	}
	return time.Duration(i.Steps[0].After).Milliseconds()
}

// stoppable returns the agent and session of an opening that must not be stored
// in a stopped session. It is empty for others.
func stoppable(o bridge.Opening) string {
	if i := o.Interaction; o.Stoppable && i.Session != "" {
		return i.Agent + ownerMark + i.Session
	}
	return ""
}
