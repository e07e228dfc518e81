package daemon

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/config"
)

// NewRedis returns a client for the configured Redis.
func NewRedis(c config.Redis) (redis.UniversalClient, error) {
	if !c.URL.Set() {
		return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: required; nod stores every decision in Redis").
			WithHint("set redis.url or NOD_REDIS_URL, or use --dev for an embedded Redis that loses all data when it stops")
	}
	servers, err := c.Servers()
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: %s", err)
	}
	u, err := redis.ParseURL(servers.URL.String())
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: invalid Redis URL").WithHint("use a URL such as redis://127.0.0.1:6379/0")
	}
	addrs := servers.Hosts
	if len(addrs) == 1 {
		addrs = []string{u.Addr} // the path of a socket, or the only server
	}
	return redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: addrs, MasterName: servers.Master, DB: u.DB, TLSConfig: u.TLSConfig, ContextTimeoutEnabled: true, OnConnect: broker.CheckFormat(c.Prefix),
		Username: u.Username, Password: cmp.Or(u.Password, c.Password.Value()), SentinelPassword: c.SentinelPassword.Value(),
	}), nil
}

// OpenRedis connects to the configured Redis, or starts an embedded one.
func OpenRedis(c config.Redis, dev bool, talk io.Writer) (redis.UniversalClient, func(), error) {
	if !dev {
		client, err := NewRedis(c)
		if err != nil {
			return nil, nil, err
		}
		return client, func() { client.Close() }, nil
	}
	fmt.Fprintln(talk, "nod: embedded Redis: all requests and decisions are LOST when nod stops; not for production")
	return EmbeddedRedis()
}

// EmbeddedRedis starts a Redis in this process. It advances the clock of that
// Redis, so that keys expire.
func EmbeddedRedis() (redis.UniversalClient, func(), error) {
	m := miniredis.NewMiniRedis()
	password := config.NewKey(32) // other users of this machine can reach it
	m.RequireAuth(password)
	if err := m.Start(); err != nil {
		return nil, nil, bridge.Wrap(bridge.CodeInternal, err, "embedded redis")
	}
	client := redis.NewClient(&redis.Options{Addr: m.Addr(), Password: password, ContextTimeoutEnabled: true})
	done := make(chan struct{})
	go func() {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				m.FastForward(time.Second)
			}
		}
	}()
	return client, func() { close(done); client.Close(); m.Close() }, nil
}

// QuietRedis silences the client's own log. The client also returns every error
// that it logs, and nod reports the ones that matter.
func QuietRedis() { redis.SetLogger(discard{}) }

type discard struct{}

// Printf implements the client's logger.
func (discard) Printf(context.Context, string, ...any) {}
