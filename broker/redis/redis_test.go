package redis_test

import (
	"testing"

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

// TestTopologies does the same with Sentinel and on a Cluster, each store under a
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
		brokertest.Contract(t, on(redistest.StartCluster(t).Client(t), 0))
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		brokertest.Contract(t, on(redistest.StartSentinel(t, 1).Client(t), 1))
	})
}
