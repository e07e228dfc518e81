package core

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Settle implements bridge.Outcomes.
func (in *interactions) Settle(ctx context.Context, s bridge.Settlement) (bridge.Record, bool, error) {
	verdict := life.Final
	d, err := in.turn(ctx, s.ID, func(t *life.Turn) error {
		verdict = t.Resolve(s)
		return nil
	})
	if err != nil {
		return bridge.Record{}, false, err
	}
	r := in.record(d)
	if verdict == life.Won {
		s.Response, s.Receipt = *d.Life.Response, d.Life.Receipt
		in.verifier.add(checked{settlement: &s}, d)
	}
	return r, verdict == life.Won, refusal(s.ID, verdict)
}

// refusal returns the error for a decision that a verdict refuses, or nil.
func refusal(id bridge.ID, v life.Verdict) error {
	switch v {
	case life.Changed:
		return bridge.Errorf(bridge.CodeConflict, "interaction %s was amended in the meantime", id).WithHint("read it again")
	case life.Unproven:
		return bridge.Errorf(bridge.CodeForbidden, "interaction %s requires a proof of the person who approves", id).
			WithHint("approve it in chat or in the console, and use the link that you get")
	}
	return nil
}

// Vote implements bridge.Outcomes.
func (in *interactions) Vote(ctx context.Context, v bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	verdict, result := life.Final, bridge.BallotLate
	d, err := in.turn(ctx, v.ID, func(t *life.Turn) error {
		verdict, result = t.Vote(v)
		return refusal(v.ID, verdict)
	})
	if err != nil {
		return bridge.Record{}, "", err
	}
	r := in.record(d)
	if result == bridge.BallotDecided || result == bridge.BallotCounted {
		if result == bridge.BallotDecided {
			v.Response, v.Receipt = *d.Life.Response, d.Life.Receipt
		}
		in.verifier.add(checked{ballot: &v}, d)
	}
	return r, result, nil
}

// Mark implements bridge.Records.
func (in *interactions) Mark(ctx context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	verdict := life.Kept
	d, err := in.turn(ctx, id, func(t *life.Turn) error {
		verdict = t.Mark(m)
		return nil
	})
	if err != nil {
		return bridge.Record{}, err
	}
	r := in.record(d)
	switch verdict {
	case life.Changed:
		return r, bridge.Errorf(bridge.CodeConflict, "interaction %s was changed in the meantime", id)
	case life.Final:
		return r, bridge.Errorf(bridge.CodeConflict, "interaction %s is already %s", id, r.State)
	}
	return r, nil
}

// Abandon implements bridge.Records.
func (in *interactions) Abandon(ctx context.Context, id bridge.ID, name string, cut bool) (bool, error) {
	verdict := life.Kept
	_, err := in.turn(ctx, id, func(t *life.Turn) error {
		verdict = t.Leave(life.Caller{Name: name, Node: in.node}, cut, in.hub.awaits(id))
		return nil
	})
	return verdict == life.Last, err
}

// Sending implements bridge.Records. It succeeds only once the replicas have
// confirmed it, because a lost note would bring back a spent answer.
func (in *interactions) Sending(ctx context.Context, r bridge.Record, caller string) error {
	id, first := r.Interaction.ID, r.Interaction.First()
	if caller != "" {
		verdict := life.Taken // also if the first interaction does not verify
		_, err := in.turn(ctx, first, func(t *life.Turn) error {
			if verdict = t.Take(caller); verdict != life.Taken && first == id {
				t.Send()
			}
			return nil
		})
		if err == nil && verdict == life.Taken {
			err = &bridge.RepeatedError{Interaction: r.Interaction}
		}
		if err != nil || first == id {
			return err
		}
	}
	_, err := in.turn(ctx, id, func(t *life.Turn) error {
		t.Send()
		return nil
	})
	return err
}

// Delivered implements bridge.Records.
func (in *interactions) Delivered(ctx context.Context, r bridge.Record) error {
	_, err := in.turn(ctx, r.Interaction.ID, func(t *life.Turn) error {
		t.Deliver()
		return nil
	})
	return err
}

// A database that runs one change at a time is kept from others while it expires
// many interactions. So the number of changes that are sent together, and of those
// that are in flight, is limited.
const (
	expireMost   = 64 // interactions at a time
	expireFlight = 3  // in flight
	expireRounds = 32 // of as many, for each call of Expire
)

// Expire implements bridge.Deadlines.
func (in *interactions) Expire(ctx context.Context, n int) (over []bridge.Expiry, more bool, err error) {
	n = min(n, expireMost)
	q := broker.Query{Index: life.Deadlines, To: in.db.Now(), N: n * expireFlight}
	for range expireRounds {
		due, err := in.db.Range(ctx, q)
		if err != nil || len(due) == 0 {
			return over, false, public(err)
		}
		ended, err := in.expireAll(ctx, due, n)
		over = append(over, ended...)
		if err != nil || len(due) < q.N {
			return over, false, err
		}
		if len(ended) == 0 { // another daemon expires them, or a newer one has to
			q.Skip += q.N
		}
	}
	return over, len(over) > 0, nil
}

// expireAll expires interactions at most n at a time.
func (in *interactions) expireAll(ctx context.Context, due []broker.Member, n int) (over []bridge.Expiry, failed error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range slices.Chunk(names(due), n) {
		wg.Go(func() {
			ended, err := in.expire(ctx, part)
			mu.Lock()
			defer mu.Unlock()
			over, failed = append(over, ended...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	return over, failed
}

// expire expires interactions in one trip. Those that someone else has changed are
// left to the next round.
func (in *interactions) expire(ctx context.Context, due []string) ([]bridge.Expiry, error) {
	ids := make([]bridge.ID, len(due))
	for n, id := range due {
		ids[n] = bridge.ID(id)
	}
	all, err := in.several(ctx, ids)
	if err != nil {
		return nil, err
	}
	var turns []*life.Turn
	var changes []broker.Change
	for n, f := range all {
		gone := broker.Change{Unset: []broker.Member{{Index: life.Deadlines, Name: due[n]}}, Urgent: true}
		switch {
		case bridge.ErrorCode(f.err) == bridge.CodeNotFound, f.err == nil && (f.Problem != "" || f.Life.State != ""): // the index is wrong
			in.hub.wake(ids[n], nil) // whoever waits reads what has become of it
			turns, changes = append(turns, nil), append(changes, gone)
		case f.err == nil: // another error means that a newer nod wrote it, which expires it
			t := f.Begin(in.db.Now(), in.retention)
			if t.Expire() != life.Done {
				continue
			}
			c, err := in.change(t)
			if err != nil {
				return nil, err
			}
			turns, changes = append(turns, t), append(changes, c)
		}
	}
	var over []bridge.Expiry
	for n, r := range in.db.DoAll(ctx, changes) {
		var stale *broker.Stale
		var untimely broker.Untimely
		if r.Err != nil && !errors.As(r.Err, &stale) && !errors.As(r.Err, &untimely) {
			return over, public(r.Err)
		}
		if r.Err != nil || turns[n] == nil {
			continue
		}
		after := turns[n].Stored(changes[n], r.Done)
		in.told(changes[n], turns[n], after)
		state := after.Life.State
		if state == "" {
			state = bridge.StatePending
		}
		over = append(over, bridge.Expiry{ID: after.ID, State: state})
	}
	return over, nil
}
