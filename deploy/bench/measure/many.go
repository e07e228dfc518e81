package measure

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms"
)

const limited = "a limit"

var manyRows = []row{
	{"connections to Redis, many callers blocked", "", limited, 1, true},
	{"memory per caller, of the process and Redis, without payload", "KiB", limited, 1, true},
	{"process memory per caller", "KiB", "both together", 0, true},
	{"Redis memory per request, without payload", "KiB", "both together", 0, true},
	{"resolve to caller unblocked at 1000/s, p99", "µs", limited, 1, true},
	{"cores used by Redis while they wait", "", limited, 1, true},
	{"cores used by the daemon while they wait", "", limited, 1, true},
	{"additional start time with many pending", "s", limited, 1, true},
	{"first answer after the start", "ms", limited, 1, true},
}

// Limits of these rows.
const (
	mostConnections = 10
	mostMemory      = 6.8    // KiB, of the process and Redis
	mostUnblock99   = 10_000 // µs
	mostRedisCores  = 0.05   // while requests are pending
	mostCores       = 0.1
	mostStart       = 2   // s
	mostFirst       = 100 // ms
)

// openAtOnce is the number of concurrent openings.
const openAtOnce = 256

// woken is a caller that was unblocked.
type woken struct {
	id    bridge.ID
	at    time.Time
	state bridge.State
	due   time.Time
}

// crowd is a set of waiting callers.
type crowd struct {
	ids     []bridge.ID
	payload int // bytes of their requests
	woken   chan woken
	leave   context.CancelFunc
	wg      sync.WaitGroup
}

// gather opens n requests, each with a waiting caller.
func (b *harness) gather(ctx context.Context, n int, change func(*bridge.Interaction)) (*crowd, error) {
	wait, leave := context.WithCancel(ctx)
	c := &crowd{woken: make(chan woken, n), leave: leave}
	slots, failed := make(chan struct{}, openAtOnce), make(chan error, n)
	var wg sync.WaitGroup
	for range n {
		o, err := b.opening()
		if err != nil {
			return c, err
		}
		if change != nil {
			change(&o.Interaction)
		}
		raw, err := json.Marshal(o.Interaction)
		if err != nil {
			return c, err
		}
		id := o.Interaction.ID
		c.ids, c.payload = append(c.ids, id), c.payload+len(raw)
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if _, _, err := b.store.Open(ctx, o); err != nil {
				failed <- err
				return
			}
			c.wg.Go(func() {
				if rec, err := core.Await(wait, b.store, id); err == nil {
					c.woken <- woken{id, time.Now(), rec.State, rec.Interaction.Deadline}
				}
			})
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return c, err
	default:
		return c, ctx.Err()
	}
}

// disperse ends the waits of all callers.
func (c *crowd) disperse() {
	c.leave()
	c.wg.Wait()
}

// many measures nod with many blocked callers in this process.
func many(ctx context.Context, b *harness) ([]figures, error) {
	process, stored := processMemory(), b.redisInfo(ctx, "memory", "used_memory")
	c, err := b.gather(ctx, b.pending, nil)
	defer c.disperse()
	if err != nil {
		return nil, err
	}
	n := float64(b.pending)
	// Few callers can take less memory than the process releases in the meantime.
	perCaller := float64(max(0, processMemory()-process-int64(len(c.ids)*len(c.ids[0])))) / n / 1024
	connections := b.redisInfo(ctx, "clients", "connected_clients")
	perRecord := (b.redisInfo(ctx, "memory", "used_memory") - stored - float64(c.payload)) / n / 1024
	unblocked, err := b.settleUnderLoad(ctx, c)
	if err != nil {
		return nil, err
	}
	both := perCaller + perRecord
	out := []figures{
		{connections, mostConnections}, {both, mostMemory}, {perCaller, both}, {perRecord, both}, {unblocked, mostUnblock99},
	}
	if err := b.forgetJobs(ctx); err != nil {
		return nil, err
	}
	redisCores, cores := b.idle(ctx)
	c.disperse()
	start, first, err := b.restart(ctx, c.ids[len(c.ids)-1])
	return append(out, figures{redisCores, mostRedisCores}, figures{cores, mostCores}, start, first), err
}

// processMemory returns the memory that this process uses, in bytes.
func processMemory() int64 {
	for range 4 { // each pass halves the size of a stack
		debug.FreeOSMemory()
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64() - s[2].Value.Uint64())
}

// redisInfo returns a number from the output of INFO, or 0 if it is absent.
func (b *harness) redisInfo(ctx context.Context, section, name string) float64 {
	for line := range strings.Lines(b.client.Info(ctx, section).Val()) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(v), 64) // 0 if it is not a number
			return n
		}
	}
	return 0
}

// settleUnderLoad resolves a thousand requests per second. It returns the 99th
// percentile of the time in µs until their callers are unblocked.
func (b *harness) settleUnderLoad(ctx context.Context, c *crowd) (float64, error) {
	run, stop := context.WithTimeout(ctx, 2*b.span)
	defer stop()
	began := map[bridge.ID]time.Time{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	order := rand.Perm(len(c.ids) - 1) // the last request is answered after the restart
	failed := make(chan error, len(order))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	sent := 0
	for ; sent < len(order) && (sent == 0 || run.Err() == nil); sent++ {
		<-tick.C
		id := c.ids[order[sent]]
		wg.Go(func() {
			mu.Lock()
			began[id] = time.Now()
			mu.Unlock()
			if _, _, err := b.store.Resolve(ctx, yes(id)); err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return 0, <-failed
	}
	var took []float64
	for range sent {
		select {
		case w := <-c.woken:
			took = append(took, float64(w.at.Sub(began[w.id]).Microseconds()))
		case <-time.After(time.Minute):
			return 0, bridge.Errorf(bridge.CodeInternal, "a caller was not woken")
		}
	}
	return percentile(took, 99), nil
}

// forgetJobs deletes the posting jobs, because there is no chat to post to.
func (b *harness) forgetJobs(ctx context.Context) error {
	return b.client.Del(ctx, "nod:{nod}:jobs").Err()
}

// idle returns the number of cores that Redis and a daemon use while nothing
// happens.
func (b *harness) idle(ctx context.Context) (redisCores, cores float64) {
	run, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	engine := rooms.New(rooms.Options{Options: engine.Options{Store: b.store, DB: b.db}})
	wg.Go(func() { _ = engine.Run(run) }) // the engine ends with run
	defer wg.Wait()
	defer stop()
	bridge.Pause(ctx, b.span/2)
	used := func() float64 {
		return b.redisInfo(ctx, "cpu", "used_cpu_sys") + b.redisInfo(ctx, "cpu", "used_cpu_user")
	}
	wasRedis, was, began := used(), cpuTime(), time.Now()
	bridge.Pause(ctx, 2*b.span)
	took := time.Since(began).Seconds()
	return (used() - wasRedis) / took, (cpuTime() - was).Seconds() / took
}
