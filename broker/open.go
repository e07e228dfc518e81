package broker

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// openTries limits how often an opening is retried because a request that it
// would join has changed in the meantime.
const openTries = 10

// openings implements bridge.Openings.
type openings struct {
	*core
	hub     *hub
	records *records
	lines   lines
}

// Known implements bridge.Openings.
func (op *openings) Known(ctx context.Context, o bridge.Opening) (bool, error) {
	id := o.Identity
	var own *redis.IntCmd
	var seen *redis.StringCmd
	var now *redis.TimeCmd
	err := op.together(ctx, func(pipe redis.Pipeliner) {
		own, seen, now = pipe.Exists(ctx, op.keys.retry(id.Retry)), pipe.Get(ctx, op.keys.call(id.Name)), pipe.Time(ctx)
	})
	if err == nil {
		err = cmp.Or(own.Err(), now.Err())
	}
	if err != nil {
		return false, unavailable(err)
	}
	if id.Retry != "" && own.Val() > 0 {
		return true, nil
	}
	first, _, found := strings.Cut(seen.Val(), "|")
	if err := seen.Err(); id.Name == "" || !found {
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return false, unavailable(err)
	}
	_, outcome, err := op.earlier(ctx, id, bridge.ID(first), now.Val())
	return outcome != bridge.Asks, err
}

// Open implements bridge.Openings.
func (op *openings) Open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	i := o.Interaction
	if o.Awaited {
		op.hub.reserve(i.ID)
	}
	rec, created, err := op.open(ctx, o)
	if !created {
		op.lines.leave(context.WithoutCancel(ctx), o)
	}
	if o.Awaited && (err != nil || !created || rec.Over()) {
		op.hub.drop(i.ID)
	}
	return rec, created, err
}

func (op *openings) open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	i := o.Interaction
	more := moreOf(o)
	also := op.lines.join(ctx, o)
	for range openTries {
		args := op.openArgs(o, more)
		keys := append(op.transitionKeys(i.ID), op.keys.call(o.Identity.Name), op.keys.retry(o.Identity.Retry),
			op.keys.session(i.Agent, i.Session), op.keys.stopped())
		if more.needed() {
			keys = append(keys, op.keys.record(i.Previous), op.keys.record(i.Root),
				op.keys.duplicate(i.Agent, i.Session, i.Route, asked(i)))
		}
		reply, err := op.runWith(ctx, also, op.scripts.open, keys, args...).StringSlice()
		also = nil
		if err != nil {
			return bridge.Record{}, false, unavailable(err)
		}
		id := bridge.ID(reply[1])
		switch reply[0] {
		case "stopped":
			return stoppedBy(reply[1])
		case "conflict":
			return bridge.Record{}, false, bridge.Errorf(bridge.CodeConflict, "Idempotency-Key: already used for a different request").
				WithHint("use another key, or repeat the request of interaction %s unchanged", id)
		case "taken":
			return bridge.Record{}, false, bridge.Errorf(bridge.CodeConflict, "interaction %s already has a follow-up", i.Previous).
				WithHint("use the follow-up, %s", id)
		case "missing":
			return bridge.Record{}, false, bridge.NotFound(id)
		case "earlier":
			first, outcome, err := op.earlier(ctx, o.Identity, id, millis(reply[2]))
			switch {
			case err != nil:
				return bridge.Record{}, false, err
			case outcome == bridge.Spent:
				return first, false, &bridge.RepeatedError{Interaction: first.Interaction}
			}
			more.Earlier = string(id)
			if outcome == bridge.Joins {
				more.Earlier = "join:" + string(id)
			}
		case "twin":
			if more.Join, err = op.duplicate(ctx, id); err != nil {
				return bridge.Record{}, false, err
			}
		case "joined":
			rec, err := op.records.Mark(ctx, id, bridge.Mark{Joined: true, Caller: cmp.Or(o.Identity.Caller, bridge.Anyone)})
			return rec, false, err
		case "again":
			return op.again(ctx, id, caller(o))
		case "old":
			rec, err := op.load(ctx, id)
			return rec, false, err
		default:
			return op.opened(ctx, o, reply[2])
		}
	}
	return bridge.Record{}, false, bridge.Errorf(bridge.CodeUnavailable, "duplicate requests keep changing").
		WithHint("try again")
}

// again returns the request that an earlier call opened to another caller, or to
// one without an ID.
func (op *openings) again(ctx context.Context, id bridge.ID, caller string) (rec bridge.Record, created bool, err error) {
	if caller != "" {
		rec, err = op.records.Mark(ctx, id, bridge.Mark{Caller: caller})
	} else {
		rec, err = op.load(ctx, id)
	}
	rec.Repeated = err == nil
	return rec, false, err
}

// earlier loads the record of an earlier call with the same name, and decides
// what this one gets.
func (op *openings) earlier(ctx context.Context, id bridge.Identity, first bridge.ID, now time.Time) (bridge.Record, bridge.Repetition, error) {
	rec, err := op.load(ctx, first)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return rec, bridge.Asks, nil // its name has outlived it
	}
	if err != nil {
		return rec, bridge.Asks, err
	}
	return rec, id.Repeat(rec, now), nil
}

// stoppedBy is the result of an opening in a stopped session.
func stoppedBy(raw string) (bridge.Record, bool, error) {
	s, err := decodeStop(raw)
	if err == nil {
		err = &bridge.StoppedError{Stop: s}
	}
	return bridge.Record{}, false, err
}

// opened returns the record of an interaction that was opened at now, in ms. It
// reads the record only if the opening did more than store its arguments.
func (op *openings) opened(ctx context.Context, o bridge.Opening, now string) (bridge.Record, bool, error) {
	op.poke()
	i := o.Interaction
	if o.Awaited {
		op.hub.follow(now)
	}
	if o.Response != nil || o.Queued || i.Previous != "" {
		rec, err := op.load(ctx, i.ID)
		return rec, true, err
	}
	at := millis(now)
	rec := bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}
	rec.Interaction.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	rec.Interaction.Created, rec.Interaction.Deadline = at, at.Add(i.Deadline.Sub(i.Created))
	if len(o.Failures) > 0 {
		rec.Failures = maps.Clone(o.Failures)
	}
	return rec, true, nil
}

// duplicate decides how to continue an opening that found a duplicate. It
// returns the join member of openMore.
func (op *openings) duplicate(ctx context.Context, id bridge.ID) (string, error) {
	rec, err := op.load(ctx, id)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && (rec.Over() || rec.Next != ""):
		return string(id), nil
	case err != nil:
		return "", err
	}
	return "join:" + string(id), nil
}

// openArgs returns the arguments of open.lua; its header describes them.
func (op *openings) openArgs(o bridge.Opening, more openMore) []any {
	i, afterHold, channel := o.Interaction, []byte{}, ""
	if i.Session != "" || o.Timeout.State == bridge.StatePending {
		afterHold = data(&o.AfterHold) // only such interactions can be held
	}
	if o.Awaited {
		channel = op.keys.wake(op.node)
	}
	args := []any{
		string(i.ID), o.Identity.Digest, data(&i), i.Deadline.Sub(i.Created).Milliseconds(),
		string(o.Timeout.State), data(&o.Timeout),
		len(i.Destinations), i.Agent, op.retention.Milliseconds(), time.Duration(i.Hold).Milliseconds(),
		time.Duration(i.Grace).Milliseconds(), flag(o.FrontEnds), i.Closings(), i.Session, correlation(i), afterHold,
		namesOf(o.Identity), channel, bridge.MaxTimeout.Milliseconds(), flag(o.Limited), firstStep(i), stoppable(o), caller(o),
	}
	if more.needed() {
		args = append(args, data(more))
	}
	return args
}

// caller returns the caller of an opening, or "" for one without an ID.
func caller(o bridge.Opening) string {
	if o.Identity.Caller == bridge.Anyone {
		return ""
	}
	return o.Identity.Caller
}

// namesOf returns which names an identity has, as open.lua describes.
func namesOf(id bridge.Identity) string {
	switch {
	case id.Name != "" && id.Retry != "":
		return "3"
	case id.Retry != "":
		return "2"
	}
	return flag(id.Name != "")
}

// openMore holds the arguments of an opening that few openings need. Arguments
// are expensive, so these are combined into one, which most openings omit.
type openMore struct {
	State      bridge.State   `json:"state,omitempty"`
	Response   string         `json:"response,omitempty"` // JSON, like those below
	Previous   bridge.ID      `json:"previous,omitempty"`
	Superseded string         `json:"superseded,omitempty"`
	Root       bridge.ID      `json:"root,omitempty"`
	Queued     bool           `json:"queued,omitempty"`
	Earlier    string         `json:"earlier,omitempty"`
	Join       string         `json:"join,omitempty"`
	Failures   map[int]string `json:"failures,omitempty"`
}

func moreOf(o bridge.Opening) openMore {
	i := o.Interaction
	m := openMore{
		Previous: i.Previous, Root: i.Root, Queued: o.Queued, Failures: o.Failures,
	}
	if i.Join {
		m.Join = "1"
	}
	if o.Response != nil {
		m.State, m.Response = o.Response.State, string(data(o.Response))
	}
	if i.Previous != "" {
		m.Superseded = string(data(o.Superseded))
	}
	return m
}

// needed reports whether an argument is set.
func (m openMore) needed() bool {
	return m.State != "" || m.Previous != "" || m.Queued || m.Earlier != "" || m.Join != "" || len(m.Failures) > 0
}

// correlation returns the IDs that an agent attaches to its events, as JSON. It
// is empty if there are none.
func correlation(i bridge.Interaction) string {
	c := correlationIDs{i.ToolCall, i.Turn, i.ResponseID}
	if c == (correlationIDs{}) {
		return ""
	}
	return string(data(c))
}

type correlationIDs struct {
	ToolCall   string `json:"tc,omitempty"`
	Turn       string `json:"tu,omitempty"`
	ResponseID string `json:"ri,omitempty"`
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

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// asked returns a hash of what duplicate requests have in common: what is
// asked, and the possible answers.
func asked(i bridge.Interaction) string {
	if !i.Join {
		return "" // the key that it names is not used
	}
	return hashed(string(data(i.Approval)) + i.Digest)
}
