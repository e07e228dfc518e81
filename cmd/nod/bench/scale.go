package bench

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
	"github.com/nodbridge/nod/broker"
)

// scaleNodes is the number of servers in the Cluster, half of which are
// replicas.
const scaleNodes = 6

// scaleForm is the format of a line of the table.
const scaleForm = "%-13s %8s %9s %9s  %s\n"

// Scale prints how the rate of cycles and their latency depend on the number of
// pending requests and of daemons, on one Redis and on a Cluster.
func Scale(ctx context.Context, w io.Writer, o Options) error {
	fmt.Fprintf(w, scaleForm, "redis", "daemons", "pending", "cycles/s", "settle to unblocked, p50")
	for _, cluster := range []bool{false, true} {
		for n := 1000; n <= o.Pending; n *= 10 {
			if err := scaleRow(ctx, w, o, cluster, 1, n); err != nil {
				return err
			}
		}
		for _, daemons := range []int{2, 4} {
			if err := scaleRow(ctx, w, o, cluster, daemons, 1000); err != nil {
				return err
			}
		}
	}
	return nil
}

func scaleRow(ctx context.Context, w io.Writer, o Options, cluster bool, daemons, pending int) error {
	name, connect, stop, err := scaleRedis(ctx, cluster)
	if err != nil {
		return err
	}
	defer stop()
	var all []*harness
	for range daemons {
		c := connect()
		defer c.Close()
		store, err := broker.New(ctx, broker.Options{Client: c})
		if err != nil {
			return err
		}
		defer store.Close()
		all = append(all, &harness{client: c, store: store, span: o.Span})
	}
	crowd, err := all[0].gather(ctx, pending, nil)
	defer crowd.disperse()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	cycles := 0.0
	var wg sync.WaitGroup
	for _, b := range all {
		wg.Go(func() {
			n, err := b.cycles(ctx, queueCallers)
			mu.Lock()
			defer mu.Unlock()
			cycles, failed = cycles+n, errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	f, err := latencyAgainstPing(ctx, all[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, scaleForm, name, strconv.Itoa(daemons), strconv.Itoa(pending), figure(cycles), fmt.Sprintf("%.0f µs, PING %.0f µs", f[0].value, f[0].other))
	return nil
}

// scaleRedis starts one server, or a Cluster with redis-cli.
func scaleRedis(ctx context.Context, cluster bool) (name string, connect func() redis.UniversalClient, stop func(), err error) {
	if !cluster {
		addr, stop, err := ownRedis(ctx)
		return "one", func() redis.UniversalClient {
			return newClient(addr)
		}, stop, err
	}
	var addrs []string
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range scaleNodes {
		addr, one, err := ownRedis(ctx, "--cluster-enabled", "yes")
		if err != nil {
			stop()
			return "", nil, nil, err
		}
		addrs, stops = append(addrs, addr), append(stops, one)
	}
	args := append(append([]string{"--cluster", "create"}, addrs...), "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.CommandContext(ctx, "redis-cli", args...).CombinedOutput(); err != nil {
		stop()
		return "", nil, nil, bridge.Wrap(bridge.CodeUnavailable, err, "redis-cli --cluster create: %s", strings.TrimSpace(string(out)))
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
				return "", nil, nil, ctx.Err()
			}
		}
		c.Close()
	}
	return "cluster of 6", connect, stop, nil
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
