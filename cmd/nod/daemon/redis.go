package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
)

// NewRedis returns a client for the configured Redis.
func NewRedis(c config.Redis) (redis.UniversalClient, error) {
	if !c.URL.Set() {
		return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: required; nod stores every decision in Redis").
			WithHint("set redis.url or NOD_REDIS_URL, or use --dev, which keeps everything in this process and loses it when it stops")
	}
	s, err := c.Servers()
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: %s", err)
	}
	var secure *tls.Config
	if s.TLS() {
		if secure, err = c.TLS.Config(); err != nil {
			return nil, bridge.Errorf(bridge.CodeInvalid, "%s", err)
		}
		// the config has been checked
		secure.InsecureSkipVerify, _ = strconv.ParseBool(s.URL.Query().Get("skip_verify"))
	}
	o := &redis.UniversalOptions{
		Addrs: s.Hosts, MasterName: s.Master, IsClusterMode: s.Cluster, DB: s.DB, ContextTimeoutEnabled: true, OnConnect: store.CheckFormat(c.Prefix),
		Username: s.URL.User.Username(), Password: c.Password.Value(), SentinelPassword: c.SentinelPassword.Value(),
		Dialer: dialRedis(secure), DialerRetries: 1, // commands are retried anyway
	}
	if password, ok := s.URL.User.Password(); ok {
		o.Password = password
	}
	if s.URL.Scheme == "unix" {
		o.Addrs = []string{s.URL.Path}
	}
	return redis.NewUniversalClient(o), nil
}

// dialTime is the time in which a server must accept a connection, and in which
// it must complete the TLS handshake.
const dialTime = 3 * time.Second

// dialRedis returns a function that connects to a server, with TLS if secure is
// not nil. A server without TLS does not answer a handshake. The error then
// says so.
func dialRedis(secure *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, network, addr)
		if err != nil || secure == nil {
			return conn, err
		}
		own := secure.Clone()
		if own.ServerName, _, err = net.SplitHostPort(addr); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		limited, cancel := context.WithTimeout(ctx, dialTime)
		defer cancel()
		c := tls.Client(conn, own)
		if err := c.HandshakeContext(limited); err != nil {
			_ = conn.Close()
			why, hint := err.Error(), "check the certificates, and redis.tls"
			if _, plain := errors.AsType[tls.RecordHeaderError](err); plain || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) {
				why, hint = "the server does not speak TLS", "set the server's TLS port in redis.url, or use redis:// if the server does not support TLS"
			}
			return nil, bridge.Errorf(bridge.CodeUnavailable, "redis at %s: no TLS connection: %s", addr, why).WithHint("%s", hint)
		}
		return c, nil
	}
}

// QuietRedis silences the client's own log. The client also returns every error
// that it logs, and nod reports the ones that matter.
func QuietRedis() { redis.SetLogger(discard{}) }

type discard struct{}

// Printf implements the client's logger.
func (discard) Printf(context.Context, string, ...any) {}
