package redis_test

import (
	"slices"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/brokertest"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// newStore returns the store under a prefix of a Redis.
func newStore(t *testing.T, c rdb.UniversalClient, o redis.Options) *redis.Store {
	t.Helper()
	o.Client = c
	if o.Seals == nil {
		o.Seals = broker.NewSeals([]byte("key"))
	}
	s, err := redis.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestContract checks that the store keeps what package broker promises.
func TestContract(t *testing.T) {
	t.Parallel()
	brokertest.Contract(t, func(t *testing.T) broker.Store { return newStore(t, redistest.Shared(t).Client(t), redis.Options{}) })
}

// TestDeletedQueue checks that jobs are done, in their order, although someone has
// deleted the list of their queue.
func TestDeletedQueue(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	prefix := t.Name()
	s := newStore(t, c, redis.Options{Prefix: prefix})
	request := func(names ...string) {
		for _, name := range names {
			if _, err := s.Do(t.Context(), broker.Change{Request: []broker.Job{{Name: broker.InQueue(name, "q"), Due: s.Now()}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	request("a", "b", "c")
	if n, err := c.Del(t.Context(), prefix+":{"+prefix+"}:q:q").Result(); n != 1 {
		t.Fatal("there is no such list", err)
	}
	request("d")
	var got []string
	for len(got) < 4 {
		jobs, _, err := s.Claim(t.Context(), 10, time.Minute)
		if err != nil || len(jobs) == 0 {
			t.Fatalf("after %q, there are no more jobs: %v", got, err)
		}
		for _, j := range jobs {
			name, _ := j.Parts()
			got = append(got, name)
			if _, err := s.Release(t.Context(), j, broker.Release{Done: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(got[:2]) // each was the first of a list
	if want := []string{"a", "d", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("%q instead of %q", got, want)
	}
}

// TestTopologies does what TestContract does with Sentinel and on a Cluster, each store under a
// prefix of its own.
func TestTopologies(t *testing.T) {
	level.CI(t)
	t.Parallel()
	on := func(c rdb.UniversalClient, waits int) func(*testing.T) broker.Store {
		return func(t *testing.T) broker.Store {
			return newStore(t, c, redis.Options{Prefix: t.Name(), WaitReplicas: waits})
		}
	}
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		brokertest.Contract(t, on(redistest.StartCluster(t, redistest.Patience).Client(t), 0))
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		brokertest.Contract(t, on(redistest.StartSentinel(t, 1, redistest.Patience).Client(t), 1))
	})
}
