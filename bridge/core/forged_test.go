package core_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// replace replaces the life of an interaction with a value, with a seal of the given key.
func (s *spoiled) replace(t *testing.T, id bridge.ID, key, value string) {
	t.Helper()
	s.seals.Use([][]byte{[]byte(key)})
	defer s.seals.Use([][]byte{[]byte("key")})
	d := must[[]broker.Doc](t)(s.db.Store.Get(t.Context(), life.Key(id)))[0]
	d.Value = []byte(value)
	must[broker.Done](t)(s.db.Store.Do(t.Context(), broker.Change{Put: []broker.Doc{d}}))
}

// TestForgedDuringChange checks that nothing counts that a daemon found for documents
// which someone replaced before it stored its change: neither at once, nor after that
// someone puts the earlier documents back.
func TestForgedDuringChange(t *testing.T) {
	t.Parallel()
	acts := map[string]func(t *testing.T, s *spoiled, r bridge.Record){
		"a decision": func(t *testing.T, s *spoiled, r bridge.Record) {
			t.Helper()
			if r, won, err := s.Resolve(t.Context(), yes(r.Interaction.ID, "U1")); won || err != nil || r.State == bridge.StateApproved {
				t.Errorf("%s, won %v, %v", r.State, won, err)
			}
		},
		"a vote": func(t *testing.T, s *spoiled, r bridge.Record) {
			t.Helper()
			vote(t, s, ballot(r.Interaction.ID, "ana", bridge.StateApproved), core.BallotLate)
		},
		"an amendment": func(t *testing.T, s *spoiled, r bridge.Record) {
			t.Helper()
			m := life.Amendment{Interaction: r.Interaction}
			if _, err := s.Mark(t.Context(), r.Interaction.ID, m); bridge.ErrorCode(err) != bridge.CodeForbidden {
				t.Error(err)
			}
		},
		"an answer that any caller gets": func(t *testing.T, s *spoiled, r bridge.Record) {
			t.Helper()
			if err := s.Sending(t.Context(), r, ""); bridge.ErrorCode(err) != bridge.CodeForbidden {
				t.Error(err)
			}
		},
		"an answer that is sent": func(t *testing.T, s *spoiled, r bridge.Record) {
			t.Helper()
			if err := s.Sending(t.Context(), r, "caller"); !errors.As(err, new(*bridge.RepeatedError)) {
				t.Error(err)
			}
		},
	}
	for name, forged := range map[string]string{
		"no response": `{"agent":"ci"}`,
		"an approval": `{"agent":"ci","state":"approved","nonce":"n","response":{"state":"approved","scope":"once","annotations":{},"actor":{"platform":"slack","user":"U1"}}}`,
	} {
		for act, do := range acts {
			t.Run(act+", "+name, func(t *testing.T) {
				t.Parallel()
				onFaulty(t, func(t *testing.T, s *spoiled) {
					id := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(time.Hour) }).Interaction.ID
					before := string(must[[]broker.Doc](t)(s.DB.Get(t.Context(), life.Key(id)))[0].Value)
					r := must[bridge.Record](t)(s.Load(t.Context(), id))
					s.db.after = func() { s.replace(t, id, "another key", forged) }
					do(t, s, r)
					s.replace(t, id, "key", before)
					pass(t, time.Minute)
					if r := must[bridge.Record](t)(s.Load(t.Context(), id)); r.State != bridge.StatePending || len(r.Votes) > 0 {
						t.Errorf("afterward, it is %s with the votes %+v", r.State, r.Votes)
					}
				})
			})
		}
	}
}
