package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

const slots = 16384

// Patience is the time after which an unresponsive node counts as failed, in tests
// without failovers. A busy machine does not delay a node that long.
const Patience = 30 * time.Second

// Cluster is a Redis Cluster for a test: masters with a replica each.
type Cluster struct {
	Masters  []*Server
	Replicas []*Server
}

// StartCluster starts a Cluster of three masters and three replicas, with the given
// extra arguments. An unresponsive node counts as failed after the given time.
func StartCluster(t testing.TB, patience time.Duration, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{}
	var all []*Server
	for n := range 6 {
		own := []string{"--cluster-enabled", "yes", "--cluster-config-file", fmt.Sprintf("nodes-%d.conf", n), "--cluster-node-timeout", fmt.Sprint(patience.Milliseconds())}
		all = append(all, Start(t, append(own, args...)...))
	}
	c.Masters, c.Replicas = all[:3], all[3:]
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	ids := make([]string, len(all))
	for n, s := range all {
		cl := s.Client(t)
		ids[n] = cl.ClusterMyID(ctx).Val()
		if n > 0 {
			host, port, _ := strings.Cut(all[0].Addr, ":")
			check(t, cl.ClusterMeet(ctx, host, port).Err())
		}
		if n < 3 {
			check(t, cl.ClusterAddSlotsRange(ctx, n*slots/3, (n+1)*slots/3-1).Err())
		}
	}
	for n, s := range c.Replicas {
		cl := s.Client(t)
		await.Until(t, "the nodes meet", func() bool { return strings.Contains(cl.ClusterNodes(ctx).Val(), ids[n]) })
		check(t, cl.ClusterReplicate(ctx, ids[n]).Err())
	}
	for _, s := range all {
		cl := s.Client(t)
		await.Until(t, "the cluster is ok", func() bool {
			info := cl.ClusterInfo(ctx).Val()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:6")
		})
	}
	for _, s := range c.Replicas {
		cl := s.Client(t)
		await.Until(t, "the replicas follow", func() bool { return strings.Contains(cl.Info(ctx, "replication").Val(), "master_link_status:up") })
	}
	return c
}

// Synced waits until the replicas have caught up with their masters.
func (c *Cluster) Synced(t testing.TB) {
	t.Helper()
	for n, m := range c.Masters {
		synced(t, m, c.Replicas[n])
	}
}

// synced waits until a replica has caught up with its master.
func synced(t testing.TB, master, replica *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	mc, rc := master.Client(t), replica.Client(t)
	want := offset(mc.Info(ctx, "replication").Val(), "master_repl_offset:")
	await.Until(t, "the replica catches up", func() bool {
		return offset(rc.Info(ctx, "replication").Val(), "slave_repl_offset:") >= want
	})
}

// offset returns a number from the output of INFO, or -1 if it is absent.
func offset(info, name string) int64 {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return -1
}

// Client returns a Cluster client that ends with the test.
func (c *Cluster) Client(t testing.TB) *redis.ClusterClient {
	var addrs []string
	for _, s := range append(append([]*Server{}, c.Masters...), c.Replicas...) {
		addrs = append(addrs, s.Addr)
	}
	cl := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ContextTimeoutEnabled: true, DialTimeout: time.Second})
	t.Cleanup(func() { cl.Close() })
	return cl
}

// Sentinel is a master, its replicas and three Sentinels for one test.
type Sentinel struct {
	Master   *Server
	Replicas []*Server
	addrs    []string
}

// Synced waits until the replicas have caught up with their master.
func (s *Sentinel) Synced(t testing.TB) {
	t.Helper()
	for _, r := range s.Replicas {
		synced(t, s.Master, r)
	}
}

// masterName is the name of the master for the Sentinels.
const masterName = "nod"

// StartSentinel starts a master, some replicas and three Sentinels. The given extra
// arguments are those of the master and the replicas. An unresponsive master counts as
// failed after the given time.
func StartSentinel(t testing.TB, replicas int, patience time.Duration, args ...string) *Sentinel {
	t.Helper()
	s := &Sentinel{Master: Start(t, args...)}
	host, port, _ := strings.Cut(s.Master.Addr, ":")
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	for range replicas {
		r := Start(t, append([]string{"--replicaof", host + " " + port}, args...)...)
		rc := r.Client(t)
		await.Until(t, "the replica follows", func() bool { return strings.Contains(rc.Info(ctx, "replication").Val(), "master_link_status:up") })
		s.Replicas = append(s.Replicas, r)
	}
	for n := range 3 {
		dir := t.TempDir()
		conf := filepath.Join(dir, "sentinel.conf")
		text := fmt.Sprintf("sentinel monitor %s %s %s 2\nsentinel down-after-milliseconds %s %d\nsentinel failover-timeout %s 5000\n", masterName, host, port, masterName, patience.Milliseconds(), masterName)
		check(t, os.WriteFile(conf, []byte(text), 0o600))
		x := &Server{Addr: fmt.Sprintf("127.0.0.1:%d", FreePort(t)), t: t}
		_, p, _ := strings.Cut(x.Addr, ":")
		x.args = []string{conf, "--sentinel", "--port", p, "--bind", "127.0.0.1", "--dir", dir, "--loglevel", "warning"}
		x.Restart()
		t.Cleanup(x.Kill)
		s.addrs = append(s.addrs, x.Addr)
		cl := x.Client(t)
		await.Until(t, "the sentinels know each other", func() bool {
			info := cl.Info(ctx, "sentinel").Val()
			return strings.Contains(info, fmt.Sprintf("slaves=%d", replicas)) && strings.Contains(info, fmt.Sprintf("sentinels=%d", n+1))
		})
	}
	return s
}

// Client returns a client that follows the master and ends with the test.
func (s *Sentinel) Client(t testing.TB) *redis.Client {
	cl := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: masterName, SentinelAddrs: s.addrs, ContextTimeoutEnabled: true, DialTimeout: time.Second})
	t.Cleanup(func() { cl.Close() })
	return cl
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Failover promotes the replica of a master in an orderly way, without loss of
// data.
func (c *Cluster) Failover(t testing.TB, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	cl := c.Replicas[n].Client(t)
	check(t, cl.ClusterFailover(ctx).Err())
	await.Until(t, "the replica becomes the master", func() bool { return strings.Contains(cl.Info(ctx, "replication").Val(), "role:master") })
	c.Masters[n], c.Replicas[n] = c.Replicas[n], c.Masters[n]
}

// Move migrates the slot of a key, with all its keys, to another master while
// clients keep working, as resharding does.
func (c *Cluster) Move(t testing.TB, key string, to int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	target := c.Masters[to].Client(t)
	slot := target.ClusterKeySlot(ctx, key).Val()
	targetID := target.ClusterMyID(ctx).Val()
	var source *redis.Client
	for n, m := range c.Masters {
		cl := m.Client(t)
		//lint:ignore SA1019 a server before version 7 has no CLUSTER SHARDS
		for _, s := range cl.ClusterSlots(ctx).Val() { //nolint:staticcheck // see above
			if int64(s.Start) <= slot && slot <= int64(s.End) && len(s.Nodes) > 0 && s.Nodes[0].Addr == m.Addr && n != to {
				source = cl
			}
		}
	}
	if source == nil {
		return // the slot is already there
	}
	check(t, target.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", source.ClusterMyID(ctx).Val()).Err())
	check(t, source.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID).Err())
	host, port, _ := strings.Cut(c.Masters[to].Addr, ":")
	for {
		keys, err := source.ClusterGetKeysInSlot(ctx, int(slot), 100).Result()
		check(t, err)
		if len(keys) == 0 {
			break
		}
		args := []any{"MIGRATE", host, port, "", 0, 5000, "KEYS"}
		for _, k := range keys {
			args = append(args, k)
		}
		check(t, source.Do(ctx, args...).Err())
	}
	check(t, target.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", targetID).Err())
	check(t, source.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", targetID).Err())
}

// Failover promotes a replica in an orderly way.
func (s *Sentinel) Failover(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	cl := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[0]})
	defer func() { check(t, cl.Close()) }()
	await.Until(t, "the failover happens", func() bool {
		_ = cl.Failover(ctx, masterName).Err() // returns "in progress" from the second call on
		addr := cl.GetMasterAddrByName(ctx, masterName).Val()
		return len(addr) == 2 && addr[0]+":"+addr[1] != s.Master.Addr
	})
}
