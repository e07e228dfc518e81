// Package daemon builds the nod service from a config, serves it, and applies
// changes of the config. It creates the platforms, the store and the HTTP entry
// points from the config, and connects them. Commands and their flags do not
// belong here, nor do rules about requests or other code that does not depend
// on the config. Start with [New], and with generation.go.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/history"
	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/bridge/observe"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/broker"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
)

const (
	HeaderTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	tidyEvery     = time.Hour
	stopTimeout   = 5 * time.Second // for calls in progress when the daemon stops
)

// Daemon is the nod service. It consists of the store, the HTTP entry points,
// and the engine with its platforms. The engine and the platforms are rebuilt
// when the config changes.
type Daemon struct {
	redis       redis.UniversalClient
	store       *core.Store
	history     *history.Reader
	db          broker.Store
	closeDB     func() error // nil if there is nothing to close
	keyring     keyring
	seals       *broker.Seals
	sealsFor    string // name of the installation in the seals, which a reload does not change
	observer    *observe.Observer
	log         *slog.Logger
	version     string
	paced       bool           // see Options
	onlyOpens   bool           // see Options
	remembered  time.Duration  // see Options
	headerTime  time.Duration  // see Options
	bodyTime    time.Duration  // see Options
	connections int            // maximum number at a time; zero means no limit
	bodies      *slots         // requests from senders that are not yet known
	parked      sync.WaitGroup // see api.Options.Parked
	signIns     *attempts      // failed sign-ins of people
	guesses     *attempts      // unknown tokens
	mcp         mcp.HTTP
	config      config.Config   // config at startup
	load        Loader          // reads the config again; may be nil
	changed     chan change     // configs to apply
	closing     context.Context // ends waiting calls of every generation when the daemon stops
	close       context.CancelFunc
	now         atomic.Pointer[generation]
	announced   atomic.Pointer[[]string] // fingerprints of the keys of all daemons
}

// Options configure a Daemon.
type Options struct {
	Config  config.Config
	Redis   redis.UniversalClient // if nil, the state is in this process and is lost when it ends
	Log     *slog.Logger
	Version string // version of nod, for the log, metrics and MCP clients
	// OnlyOpens builds a daemon that opens requests and waits for them. The
	// running daemons do everything else, with their own config. New then
	// creates no keys, and continues no rotation. Serve must not be called.
	OnlyOpens bool
	// The remaining options are for tests. Paced keeps the rate limits of the
	// platforms even with a sandbox. Remembered replaces directory.Remembered,
	// HeaderTime replaces HeaderTimeout, and BodyTime replaces bodyTime, unless
	// they are zero.
	Paced                            bool
	Remembered, HeaderTime, BodyTime time.Duration
}

// New builds a Daemon. It connects to Redis, but not yet to the platforms.
func New(ctx context.Context, o Options) (*Daemon, error) {
	c := o.Config
	observer, err := observe.New(ctx, o.Version, c.Traces.Endpoint)
	if err != nil {
		return nil, err
	}
	d := &Daemon{
		redis: o.Redis, seals: broker.NewSeals(), observer: observer, log: o.Log, version: o.Version, paced: o.Paced, onlyOpens: o.OnlyOpens, remembered: o.Remembered, connections: c.MaxConnections, config: c, changed: make(chan change),
		headerTime: cmp.Or(o.HeaderTime, HeaderTimeout), bodyTime: cmp.Or(o.BodyTime, bodyTime),
		bodies: &slots{max: openBodies}, signIns: newAttempts(signInBurst), guesses: newAttempts(guessBurst),
	}
	d.closing, d.close = context.WithCancel(context.Background())
	if err := d.open(ctx, c); err != nil {
		return nil, err
	}
	g, err := d.build(ctx, c)
	if err != nil {
		return nil, errors.Join(err, d.closeStore())
	}
	d.now.Store(g)
	observer.Watch(d.store.Ready, d.store.Stats, func() map[string]bridge.Health { return d.Engine().Health() })
	observer.WatchProof(func() bridge.Health { return d.Engine().Audit.Health() }, d.keysHealth)
	return d, nil
}

// Engine returns the current engine. A new config replaces it.
func (d *Daemon) Engine() *rooms.House { return d.now.Load().engine }

// Store returns the store, which all generations share.
func (d *Daemon) Store() *core.Store { return d.store }

// History reads the requests and events of the store.
func (d *Daemon) History() *history.Reader { return d.history }

// Documents returns the database of the rooms' documents.
func (d *Daemon) Documents() documents.DB { return documents.DB{Store: d.db, Log: d.log} }

// Serve runs until ctx ends and then lets calls in progress finish.
func (d *Daemon) Serve(ctx context.Context, l net.Listener) error {
	if d.connections > 0 {
		l = &gate{Listener: l, max: d.connections}
	}
	server := &http.Server{
		Handler: d, ReadHeaderTimeout: d.headerTime, IdleTimeout: idleTimeout, ConnContext: connContext,
		ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	run, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	failed := make(chan error, 1)
	wg.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
			stop()
		}
	})
	wg.Go(func() { d.tidy(run) })
	wg.Go(func() { d.announce(run) })
	if d.redis != nil {
		wg.Go(func() { d.examineRedis(run) })
	}
	wg.Go(func() {
		<-run.Done()
		d.close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(run), stopTimeout)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			d.log.Warn("calls were interrupted by the shutdown", "error", err)
			server.Close()
		}
		d.awaitParked(ctx)
	})
	d.now.Load().start(run)
	err := d.reloads(run)
	wg.Wait()
	err = errors.Join(err, d.Close())
	select {
	case serr := <-failed:
		return errors.Join(serr, err)
	default:
		return err
	}
}

// Close releases the resources of a daemon that does not run. Serve calls it.
func (d *Daemon) Close() error {
	flush, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(d.observer.Close(flush), d.closeStore())
}

// awaitParked waits until ctx ends, or until all calls that
// http.Server.Shutdown does not know of have their response.
func (d *Daemon) awaitParked(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		d.parked.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (d *Daemon) tidy(ctx context.Context) {
	t := time.NewTicker(tidyEvery)
	defer t.Stop()
	for {
		if err := d.Engine().Audit.Trim(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("cannot remove old entries", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// announce publishes the fingerprint of this daemon's keys until ctx ends, and
// reads the fingerprints of the other daemons.
func (d *Daemon) announce(ctx context.Context) {
	for {
		all, err := d.keyring.Announce(ctx, d.now.Load().keys.fingerprint())
		if err == nil {
			d.announced.Store(&all)
		}
		if !bridge.Pause(ctx, store.AnnounceEvery) {
			break
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := d.keyring.Retire(last); err != nil {
		d.log.Debug("cannot remove the entry of this daemon; it will expire", "error", err)
	}
}

// keysHealth reports the health of the keys of all daemons.
func (d *Daemon) keysHealth() bridge.Health {
	var others []string
	if all := d.announced.Load(); all != nil {
		others = *all
	}
	return d.now.Load().keys.health(others)
}

// A Loader reads and checks a config, as [Load] does.
type Loader func() (c config.Config, others []string, err error)

// Run serves on the listen address of the config until ctx ends. It calls load to
// reload the config.
func Run(ctx context.Context, o Options, load Loader) error {
	hup, stop := reloadSignals() // first, because an unhandled SIGHUP ends the process
	defer stop()
	d, err := New(ctx, o)
	if err != nil {
		return err
	}
	d.load = load
	c, log := o.Config, o.Log
	if most := connectionsWithin(fileLimit()); d.connections > most {
		log.Warn("too few open files for max_connections; raise the limit, such as with LimitNOFILE", "max_connections", d.connections, "used", most)
		d.connections = most
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "listen: %s", c.Listen).WithHint("choose another address with listen or NOD_LISTEN")
	}
	if len(c.Platforms()) == 0 {
		log.Warn("no platform has a token, so nod cannot ask anyone; run nod init to connect a chat, or nod demo to try nod without one")
	}
	log.Info("serving", "version", o.Version, "address", l.Addr().String(), "platforms", c.Platforms(), "routes", len(c.Routes), "agents", len(c.Agents))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go d.reloadOnSignal(ctx, hup)
	return d.Serve(ctx, l)
}
