package redis

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// reloadEvery is the interval at which the slot map of a Cluster is reloaded
// while commands fail. Without this, the client keeps its old map for almost a
// minute after a master has died.
const reloadEvery = time.Second

// clusterWatch notices when commands to a Cluster fail.
type clusterWatch struct {
	client  *rdb.ClusterClient
	failing atomic.Bool
}

// watchCluster returns nil if the client does not talk to a Cluster.
func watchCluster(c rdb.UniversalClient) *clusterWatch {
	cc, ok := c.(*rdb.ClusterClient)
	if !ok {
		return nil
	}
	w := &clusterWatch{client: cc}
	cc.AddHook(w)
	return w
}

// run reloads the map while commands fail, until ctx ends.
func (w *clusterWatch) run(ctx context.Context) {
	for bridge.Pause(ctx, reloadEvery) {
		if w.failing.Swap(false) {
			w.client.ReloadState(ctx)
		}
	}
}

func (w *clusterWatch) note(err error) {
	if err == nil || errors.Is(err, rdb.Nil) || errors.Is(err, context.Canceled) {
		return
	}
	_, answered := errors.AsType[rdb.Error](err)
	if !answered || rdb.HasErrorPrefix(err, "CLUSTERDOWN") || rdb.HasErrorPrefix(err, "READONLY") {
		w.failing.Store(true)
	}
}

// DialHook implements rdb.Hook.
func (w *clusterWatch) DialHook(next rdb.DialHook) rdb.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := next(ctx, network, addr)
		w.note(err)
		return c, err
	}
}

// ProcessHook implements rdb.Hook.
func (w *clusterWatch) ProcessHook(next rdb.ProcessHook) rdb.ProcessHook {
	return func(ctx context.Context, cmd rdb.Cmder) error {
		err := next(ctx, cmd)
		w.note(err)
		return err
	}
}

// ProcessPipelineHook implements rdb.Hook.
func (w *clusterWatch) ProcessPipelineHook(next rdb.ProcessPipelineHook) rdb.ProcessPipelineHook {
	return func(ctx context.Context, cmds []rdb.Cmder) error {
		err := next(ctx, cmds)
		w.note(err)
		return err
	}
}

// isCluster reports whether a client talks to a Cluster.
func isCluster(c rdb.UniversalClient) bool {
	_, ok := c.(*rdb.ClusterClient)
	return ok
}

// eachMaster calls f for each master of a Cluster, concurrently, or for the
// single server.
func eachMaster(ctx context.Context, client rdb.UniversalClient, f func(context.Context, *rdb.Client) error) error {
	switch c := client.(type) {
	case *rdb.ClusterClient:
		return c.ForEachMaster(ctx, f)
	case *rdb.Client:
		return f(ctx, c)
	}
	return nil
}
