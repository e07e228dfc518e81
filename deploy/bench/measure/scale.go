package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Scaled is a line of the table on how nod scales.
type Scaled struct {
	Masters   int     `json:"masters"` // masters of a Redis Cluster with a replica each; 0 for one server
	Daemons   int     `json:"daemons"`
	Pending   int     `json:"pending"`   // requests that are pending during the measurement
	Cycles    float64 `json:"cycles"`    // per second, of all daemons
	Cost      Cost    `json:"cost"`      // cost of a cycle, for all daemons and servers
	Unblocked float64 `json:"unblocked"` // µs from a resolution until its caller is unblocked, p50
}

// scaleForm is the format of a line of the table.
const scaleForm = "%-13s %8s %9s %9s %9s %9s  %s\n"

// ScaleHead prints the head of the table.
func ScaleHead(w io.Writer) {
	fmt.Fprintf(w, scaleForm, "redis", "daemons", "pending", "cycles/s", "µs nod", "µs redis", "resolve to unblocked, p50")
}

// Print writes a line of the table.
func (s Scaled) Print(w io.Writer) {
	name := "one"
	if s.Masters > 0 {
		name = strconv.Itoa(s.Masters) + " masters"
	}
	fmt.Fprintf(w, scaleForm, name, strconv.Itoa(s.Daemons), strconv.Itoa(s.Pending), figure(s.Cycles),
		figure(s.Cost.Process), figure(s.Cost.Redis), figure(s.Unblocked)+" µs")
}

// fewPending is the number of pending requests in the lines on daemons.
const fewPending = 1000

// Scale measures how the rate of cycles, their cost and their latency depend on
// the number of pending requests and of daemons, on one Redis and on Clusters.
// It reports each line when it is measured.
func Scale(ctx context.Context, o Options, report func(Scaled)) error {
	var lines []Scaled
	for _, masters := range []int{0, 3} {
		for n := fewPending; n <= o.Pending; n *= 10 {
			lines = append(lines, Scaled{Masters: masters, Daemons: 1, Pending: n})
		}
		for _, daemons := range []int{2, 4} {
			lines = append(lines, Scaled{Masters: masters, Daemons: daemons, Pending: fewPending})
		}
	}
	for _, daemons := range []int{1, 4} {
		lines = append(lines, Scaled{Masters: 6, Daemons: daemons, Pending: fewPending})
	}
	for _, s := range lines {
		if err := s.measure(ctx, o); err != nil {
			return err
		}
		report(s)
	}
	return nil
}

// measure sets the figures of a line.
func (s *Scaled) measure(ctx context.Context, o Options) error {
	connect, stop, err := scaleRedis(ctx, s.Masters)
	if err != nil {
		return err
	}
	defer stop()
	var all []*harness
	for range s.Daemons {
		c := connect()
		defer c.Close()
		store, _, stopStore, err := openStore(ctx, c)
		if err != nil {
			return err
		}
		defer stopStore()
		all = append(all, &harness{client: c, store: store, span: o.Span, costs: &costs{}})
	}
	crowd, err := all[0].gather(ctx, s.Pending, nil)
	defer crowd.disperse()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	for _, b := range all {
		wg.Go(func() {
			n, err := b.cycles(ctx, queueCallers)
			mu.Lock()
			defer mu.Unlock()
			s.Cycles, failed = s.Cycles+n, errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	s.Cost = costOfAll(all)
	s.Unblocked, err = all[0].unblock(ctx)
	return err
}

// costOfAll returns the cost of a cycle of several daemons. Each of them has
// divided the processor time of all by its own number of cycles.
func costOfAll(all []*harness) Cost {
	var process, redis float64
	for _, b := range all {
		process, redis = process+1/b.costs.last.Process, redis+1/b.costs.last.Redis
	}
	return Cost{all[0].costs.last.Operation, 1 / process, 1 / redis}
}

// scaleRedis starts one server, or a Cluster with redis-cli.
func scaleRedis(ctx context.Context, masters int) (connect func() redis.UniversalClient, stop func(), err error) {
	if masters == 0 {
		addr, stop, err := ownRedis(ctx)
		return func() redis.UniversalClient { return newClient(addr) }, stop, err
	}
	var addrs []string
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range 2 * masters {
		addr, one, err := ownRedis(ctx, "--cluster-enabled", "yes")
		if err != nil {
			stop()
			return nil, nil, err
		}
		addrs, stops = append(addrs, addr), append(stops, one)
	}
	args := append(append([]string{"--cluster", "create"}, addrs...), "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.CommandContext(ctx, "redis-cli", args...).CombinedOutput(); err != nil {
		stop()
		return nil, nil, bridge.Wrap(bridge.CodeUnavailable, err, "redis-cli --cluster create: %s", strings.TrimSpace(string(out)))
	}
	connect = func() redis.UniversalClient {
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ContextTimeoutEnabled: true})
	}
	for _, addr := range addrs { // each node learns about the Cluster separately
		c := redis.NewClient(&redis.Options{Addr: addr})
		for !strings.Contains(c.ClusterInfo(ctx).Val(), "cluster_state:ok") {
			if !bridge.Pause(ctx, 50*time.Millisecond) {
				c.Close()
				stop()
				return nil, nil, ctx.Err()
			}
		}
		c.Close()
	}
	return connect, stop, nil
}

// freeAddr returns an address on which no process listens. Its port is low
// enough for the second port of a Cluster node, which is 10000 higher.
func freeAddr() (string, error) {
	for port := 20000; port < 30000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return l.Addr().String(), l.Close()
	}
	return "", bridge.Errorf(bridge.CodeUnavailable, "no free port")
}
