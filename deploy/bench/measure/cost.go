package measure

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Cost is the processor time of one operation of nod, in µs. Unlike a rate, it
// hardly depends on the other load of the machine.
type Cost struct {
	Operation string  `json:"operation"` // the counted operation, such as a cycle
	Process   float64 `json:"process"`   // time of nod and its callers, which usually share a process
	Redis     float64 `json:"redis"`     // time of the Redis server
}

// costs holds the costs of the operations of a measurement, by the index of the
// row.
type costs struct {
	last Cost
	rows map[int]Cost
}

// spent is the processor time that was used until now.
type spent struct {
	process time.Duration
	redis   float64 // s
}

func (b *harness) spentNow(ctx context.Context) spent {
	cluster, ok := b.client.(*redis.ClusterClient)
	if !ok {
		return spent{b.processTime(), redisTime(ctx, b.client)}
	}
	var mu sync.Mutex
	sum := 0.0
	// a server that is down adds nothing
	_ = cluster.ForEachShard(ctx, func(ctx context.Context, c *redis.Client) error {
		used := redisTime(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		sum += used
		return nil
	})
	return spent{b.processTime(), sum}
}

// processTime returns the processor time of the measured process.
func (b *harness) processTime() time.Duration {
	if b.pid == 0 {
		return cpuTime()
	}
	return timeOf(b.pid)
}

// redisTime returns the processor time of a Redis server in s.
func redisTime(ctx context.Context, c redis.UniversalClient) float64 {
	b := harness{client: c}
	return b.redisInfo(ctx, "cpu", "used_cpu_sys") + b.redisInfo(ctx, "cpu", "used_cpu_user")
}

// costSince calculates the cost of the n operations that ran after the reading
// "from". keepCost then assigns the cost to a row.
func (b *harness) costSince(ctx context.Context, from spent, operation string, n int) {
	if b.costs == nil || n == 0 {
		return
	}
	to, each := b.spentNow(ctx), 1e6/float64(n)
	b.costs.last = Cost{operation, (to.process - from.process).Seconds() * each, (to.redis - from.redis) * each}
}

// keepCost assigns the last cost to a row.
func (b *harness) keepCost(row int) {
	if b.costs != nil {
		b.costs.rows[row] = b.costs.last
	}
}

// medianCost returns the median of each figure, or nil if there are none.
func medianCost(all []Cost) *Cost {
	if len(all) == 0 {
		return nil
	}
	var process, redis []float64
	for _, c := range all {
		process, redis = append(process, c.Process), append(redis, c.Redis)
	}
	return &Cost{all[0].Operation, median(process), median(redis)}
}

// processCost sets the cost of a row whose n operations share Redis with other
// work.
func (b *harness) processCost(row int, operation string, used time.Duration, n int) {
	if b.costs != nil && n > 0 {
		b.costs.rows[row] = Cost{Operation: operation, Process: used.Seconds() * 1e6 / float64(n)}
	}
}
