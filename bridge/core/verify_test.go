package core_test

import (
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// replica holds the copy that a replica has of the life of an interaction.
type replica struct {
	t    *testing.T
	c    *rdb.Client
	key  string
	life string
}

func replicaOf(t *testing.T, c *rdb.Client, id bridge.ID) replica {
	t.Helper()
	r := replica{t: t, c: c, key: "nod:{nod}:d:life:" + string(id)}
	r.life = must[string](t)(c.Dump(t.Context(), r.key).Result())
	return r
}

// takesOver makes the replica the master: what it does not have is lost.
func (r replica) takesOver() {
	r.t.Helper()
	noError(r.t, r.c.RestoreReplace(r.t.Context(), r.key, time.Hour, r.life).Err())
}

// TestLostDecision checks that a decision that a failover dropped after it was
// acknowledged is recorded again by the same process, whatever others have changed
// since.
func TestLostDecision(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]func(t *testing.T, s *stored.Store, id bridge.ID){
		"nothing else": func(*testing.T, *stored.Store, bridge.ID) {},
		"others changed it since": func(t *testing.T, s *stored.Store, id bridge.ID) {
			for range 3 {
				mark(t, s, id, life.Refresh{})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.Shared(t).Client(t)
			here, other := onRedis(t, c, "n", 0), onRedis(t, c, "o", 0)
			id, second := open(t, here, nil).Interaction.ID, open(t, here, nil).Interaction.ID
			r := replicaOf(t, c, id)
			approve(t, here, id)
			r.takesOver()
			others(t, other, id)
			approve(t, here, second) // decisions go on
			done := awaitThen(t.Context(), other, id)
			if got := result(t, done); got.err != nil || got.rec.State != bridge.StateApproved || got.rec.Response.Actor.User != "U1" {
				t.Errorf("%+v, %v", got.rec, got.err)
			}
		})
	}
}

// TestLostVotes checks that votes that a failover dropped are counted again, although
// another daemon has recorded its own again before, and that one that an amendment took
// back is not.
func TestLostVotes(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	a, b := onRedis(t, c, "a", 0), onRedis(t, c, "b", 0)
	quorum := func(i *bridge.Interaction) { i.Quorum = 3 }
	id, other := open(t, a, quorum).Interaction.ID, open(t, a, quorum)
	r := replicaOf(t, c, id)
	vote(t, a, ballot(id, "ana", bridge.StateApproved), core.BallotCounted)
	vote(t, b, ballot(id, "ben", bridge.StateApproved), core.BallotCounted)
	r.takesOver()
	vote(t, b, ballot(id, "ben", bridge.StateApproved), core.BallotCounted) // the check of the other daemon comes first
	mark(t, b, id, life.Refresh{})
	vote(t, a, ballot(other.Interaction.ID, "ana", bridge.StateApproved), core.BallotCounted)
	mark(t, b, other.Interaction.ID, life.Amendment{Interaction: other.Interaction, Void: []string{"ana"}})
	await.Until(t, "both votes count", func() bool { return len(must[bridge.Record](t)(a.Load(t.Context(), id)).Votes) == 2 })
	if got := must[bridge.Record](t)(a.Load(t.Context(), other.Interaction.ID)); len(got.Votes) != 0 {
		t.Errorf("the vote that was taken back: %+v", got.Votes)
	}
}
