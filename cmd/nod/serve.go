package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/config"
)

func serveCommand() *cobra.Command {
	var path string
	var dev, logJSON bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon",
		Long: `Run the daemon: it takes requests by HTTP, shows them in the chats of its
config, and settles them in Redis. SIGINT and SIGTERM stop it; what is pending
stays pending. SIGHUP has it read its config again; one that is wrong changes
nothing.`,
		Example: "  nod serve --config nod.yaml\n  nod serve --dev --config nod.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path, os.Environ())
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "config")
			}
			noCoreDumps()
			hide, err := buildRedactor(c)
			if err != nil {
				return err
			}
			log := newLog(cmd.ErrOrStderr(), c.LogLevel, logJSON, hide)
			client, stop, err := openRedis(c.Redis, dev, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer stop()
			keep := func(*config.Config) {}
			if dev {
				keep = memoryKeys()
			}
			keep(&c)
			o := daemonOptions{Config: c, Redis: client, Log: log, Version: version}
			return runDaemon(cmd.Context(), o, func() (config.Config, error) {
				c, err := config.Load(path, os.Environ())
				keep(&c)
				return c, err
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", configPath(), configUsage)
	cmd.Flags().BoolVar(&dev, "dev", false, "embedded Redis: everything is forgotten when nod stops")
	cmd.Flags().BoolVar(&logJSON, "log-json", false, "log as JSON lines")
	return cmd
}

// runDaemon serves on the address of the config until ctx ends. It calls load
// for the config whenever it is told to read it again.
func runDaemon(ctx context.Context, o daemonOptions, load func() (config.Config, error)) error {
	d, err := newDaemon(ctx, o)
	if err != nil {
		return err
	}
	c, log := o.Config, o.Log
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "listen: %s", c.Listen).WithHint("choose another address with listen or NOD_LISTEN")
	}
	if len(c.Platforms()) == 0 {
		log.Warn("no platform has a token, so nobody can be asked; see deploy/nod.example.yaml")
	}
	log.Info("serving", "address", l.Addr().String(), "platforms", c.Platforms(), "routes", len(c.Routes), "agents", len(c.Agents))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go d.reloadOnSignal(ctx, load)
	return d.serve(ctx, l)
}

// newLog writes to w: times, levels and key=value, with no untrusted text
// unescaped and no credential.
func newLog(w io.Writer, level string, asJSON bool, hide *redact.Redactor) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: l, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if k := a.Value.Kind(); k != slog.KindString && k != slog.KindAny || a.Key == slog.LevelKey {
			return a
		}
		text := fmt.Sprint(a.Value.Any())
		if safe := hide.Redact(text); safe != text {
			a.Value = slog.StringValue(safe)
		}
		return a
	}}
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// openRedis connects to the configured Redis, or starts an embedded one.
func openRedis(c config.Redis, dev bool, talk io.Writer) (redis.UniversalClient, func(), error) {
	if !dev {
		client, err := redisClient(c)
		if err != nil {
			return nil, nil, err
		}
		return client, func() { client.Close() }, nil
	}
	fmt.Fprintln(talk, "nod: embedded Redis: every request and decision is FORGOTTEN when nod stops; not for production")
	return embeddedRedis()
}

// embeddedRedis starts a Redis in this process. Its clock has to be moved by
// hand for keys to expire.
func embeddedRedis() (redis.UniversalClient, func(), error) {
	m := miniredis.NewMiniRedis()
	password := config.NewKey(32) // other users of this machine reach it too
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

// quietRedis silences the client's own log: every error it prints is returned
// as well, and reported where it matters.
func quietRedis() { redis.SetLogger(discard{}) }

type discard struct{}

// Printf implements the client's logger.
func (discard) Printf(context.Context, string, ...any) {}
