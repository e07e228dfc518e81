package core_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// asked is an interaction of a storm.
type asked struct {
	id, family bridge.ID
	quorum     bool // whether the interaction needs several votes
	short      bool // whether the interaction may expire during the storm
}

// grants is the kind of the documents that answers with session scope create in a storm.
// A revoked grant stays, so that callers can tell it from a missing one.
var grants = broker.NewDocs[string]("storm", 1)

// some returns one of the latest interactions, or none if there are none.
func (s *storm) some() asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		return asked{}
	}
	return s.asked[max(0, len(s.asked)-1-s.rand.IntN(5))]
}

// who returns the name of another person.
func (s *storm) who() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("U%d", s.calls)
}

// act makes one random call as a caller.
func (s *storm) act(ctx context.Context, caller int) {
	a := s.some()
	switch k := s.rand.IntN(40); {
	case k < 4 || a.id == "":
		s.ask(ctx, caller)
	case k < 18:
		s.settle(ctx, caller, a)
	case !s.all:
		s.settle(ctx, caller, a)
	case k < 24 && a.quorum:
		s.vote(ctx, caller, a)
	case k < 26:
		s.amend(ctx, caller, a)
	case k < 28 && !a.short:
		s.followUp(ctx, caller, a)
	case k < 30:
		s.askUnder(ctx, caller, a)
	case k < 31:
		s.revoke(ctx, caller, a)
	default:
		s.done.record(caller, callInput{read: true, id: a.id, family: a.family}, func() callOutput {
			return sees(s.at(s.rand.IntN(stormNodes)).Load(ctx, a.id))
		})
	}
}

// once makes one call that takes at most two seconds, on a random daemon. It is not
// repeated, because its result would be that of the repetition.
func (s *storm) once(ctx context.Context, caller int, in callInput, f func(context.Context, *stored.Store) (result string, rec bridge.Record, err error)) callOutput {
	return s.done.record(caller, in, func() callOutput {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		result, rec, err := f(ctx, s.at(s.rand.IntN(stormNodes)))
		return callOutput{known: err == nil, result: result, outcome: outcome(rec)}
	})
}

// ask opens an interaction, for which people decide.
func (s *storm) ask(ctx context.Context, caller int) {
	var a asked
	o := opening(s.t, "", func(i *bridge.Interaction) {
		i.Deadline = i.Created.Add(time.Hour)
		if a.short = s.rand.IntN(4) == 0; a.short {
			i.Deadline = i.Created.Add(time.Duration(20+s.rand.IntN(200)) * time.Millisecond)
		}
		if a.quorum = s.all && s.rand.IntN(3) == 0; a.quorum {
			i.Quorum, i.DenyCounts = 2+s.rand.IntN(2), true
		}
	})
	o.Awaited = s.rand.IntN(2) == 0
	a.id, a.family = o.Interaction.ID, o.Interaction.ID
	out := s.done.record(caller, callInput{open: &opens{Opening: o}, id: a.id, family: a.family}, func() callOutput {
		err := s.insist(ctx, func(ctx context.Context, b *stored.Store) error { _, _, err := b.Open(ctx, o); return err })
		return callOutput{known: err == nil, result: resultDone}
	})
	s.opens(ctx, a, out)
}

// opens lets people decide about an interaction that was opened, and its agent wait.
func (s *storm) opens(ctx context.Context, a asked, out callOutput) {
	if !out.known || out.result != resultDone {
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, a)
	n := len(s.asked)
	s.mu.Unlock()
	s.waits.Go(func() { s.await(ctx, stormCallers+n, a) })
}

// followUp opens an interaction that follows another one.
func (s *storm) followUp(ctx context.Context, caller int, a asked) {
	rec, err := s.at(s.rand.IntN(stormNodes)).Load(ctx, a.id)
	if err != nil {
		return
	}
	o := again(s.t, rec)
	next := asked{id: o.Interaction.ID, family: a.family, quorum: a.quorum}
	out := s.once(ctx, caller, callInput{open: &opens{Opening: o}, id: next.id, family: a.family}, func(ctx context.Context, b *stored.Store) (string, bridge.Record, error) {
		switch rec, _, err := b.Open(ctx, o); bridge.ErrorCode(err) {
		case "":
			return resultDone, rec, nil
		case bridge.CodeConflict:
			return string(bridge.CodeConflict), rec, nil
		default:
			return "", rec, err
		}
	})
	s.opens(ctx, next, out)
}

// askUnder opens an interaction that the grant of another one approves.
func (s *storm) askUnder(ctx context.Context, caller int, a asked) {
	o := opening(s.t, "", nil)
	o.Response = &bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce, Annotations: map[string]bridge.Annotation{}}
	next := asked{id: o.Interaction.ID, family: a.family}
	out := s.once(ctx, caller, callInput{open: &opens{o, a.id}, id: next.id, family: a.family}, func(ctx context.Context, b *stored.Store) (string, bridge.Record, error) {
		for {
			state, d, err := grants.Get(ctx, b.DB, string(a.id))
			if err != nil || state != grantGiven {
				return state, bridge.Record{}, err
			}
			rec, _, err := b.Open(ctx, o, d.At())
			if _, changed := errors.AsType[*core.ChangedError](err); !changed {
				return resultDone, rec, err
			}
		}
	})
	s.opens(ctx, next, out)
}

// revoke revokes the grant of an interaction.
func (s *storm) revoke(ctx context.Context, caller int, a asked) {
	s.once(ctx, caller, callInput{revoke: true, id: a.id, family: a.family}, func(ctx context.Context, b *stored.Store) (result string, _ bridge.Record, err error) {
		_, err = grants.Update(ctx, b.DB, string(a.id), func(v *string, d *broker.Doc) (broker.Change, error) {
			if result = *v; *v != grantGiven {
				return broker.Change{}, broker.ErrUnchanged
			}
			*v, result, d.Keep = grantRevoked, resultDone, time.Hour
			return broker.Change{}, nil
		})
		return result, bridge.Record{}, err
	})
}

// amend changes the terms of an interaction, and may void votes.
func (s *storm) amend(ctx context.Context, caller int, a asked) {
	rec, err := s.at(s.rand.IntN(stormNodes)).Load(ctx, a.id)
	if err != nil {
		return
	}
	m := life.Amendment{Expect: rec.Amended, Nonce: rand.Text(), Interaction: rec.Interaction}
	if len(rec.Votes) > 0 && s.rand.IntN(2) == 0 {
		m.Void = []string{rec.Votes[0].Actor.Voter()}
	}
	s.once(ctx, caller, callInput{amend: &m, id: a.id, family: a.family}, func(ctx context.Context, b *stored.Store) (string, bridge.Record, error) {
		rec, err := b.Mark(ctx, a.id, m)
		if bridge.ErrorCode(err) == bridge.CodeConflict {
			return refused, rec, nil
		}
		return resultDone, bridge.Record{}, err // a repeat returns a later record
	})
}

// expect returns the amendments that a person has seen, or nil if it does not matter.
func (s *storm) expect(ctx context.Context, a asked) *int {
	if !s.all || s.rand.IntN(3) > 0 {
		return nil
	}
	rec, err := s.at(s.rand.IntN(stormNodes)).Load(ctx, a.id)
	if err != nil {
		return nil
	}
	return &rec.Amended
}

// vote casts one of several votes.
func (s *storm) vote(ctx context.Context, caller int, a asked) {
	who := s.who()
	v := ballot(a.id, who, bridge.StateApproved)
	v.Expect = s.expect(ctx, a)
	v.Vote.Actor.User, v.Response.Actor.User = who, who
	s.once(ctx, caller, callInput{vote: &v, id: a.id, family: a.family, who: who}, func(ctx context.Context, b *stored.Store) (string, bridge.Record, error) {
		rec, result, err := b.Vote(ctx, v)
		switch {
		case bridge.ErrorCode(err) == bridge.CodeConflict:
			return string(life.Changed), rec, nil
		case err == nil && result == core.BallotCounted: // others may have decided since, if the reply was lost
			return string(life.Done), bridge.Record{}, nil
		}
		return map[core.BallotResult]string{
			core.BallotDecided: string(life.Won), core.BallotRepeat: string(life.Kept), core.BallotLate: string(life.Final),
		}[result], rec, err
	})
}

// settle answers or cancels an interaction.
func (s *storm) settle(ctx context.Context, caller int, a asked) {
	who := s.who()
	call, also := yes(a.id, who), []core.Also(nil)
	switch k := s.rand.IntN(5); {
	case k == 0:
		call.Response = bridge.Response{State: bridge.StateCancelled, Reason: who, Annotations: map[string]bridge.Annotation{}}
	case k < 3 && s.all:
		call.Response.Scope = bridge.ScopeSession
		also = []core.Also{func(_ context.Context, rec bridge.Record) (broker.Change, error) {
			if outcome(rec) != who { // the interaction may also have expired
				return broker.Change{}, nil
			}
			given := grantGiven
			d, err := grants.Encode(broker.Doc{Key: grants.Key(string(a.id)), Keep: time.Hour}, &given)
			return broker.Change{Put: []broker.Doc{d}}, err
		}}
	}
	call.Expect = s.expect(ctx, a)
	s.done.record(caller, callInput{settle: &call, id: a.id, family: a.family, who: who}, func() callOutput {
		var out callOutput
		err := s.insist(ctx, func(ctx context.Context, b *stored.Store) error {
			rec, won, err := b.Resolve(ctx, call, also...)
			out.outcome, out.result = outcome(rec), string(life.Final)
			switch {
			case won:
				out.result = string(life.Won)
			case bridge.ErrorCode(err) == bridge.CodeConflict:
				out.result, err = string(life.Changed), nil
			}
			return err
		})
		out.known = err == nil
		return out
	})
}
