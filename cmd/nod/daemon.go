package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/observe"
	"github.com/nodbridge/nod/bridge/webhook"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 5 * time.Second // for calls under way when the daemon stops
)

// daemon is nod as a service: store, front entry, and the engine with its
// platforms, which are built again for a changed config.
type daemon struct {
	store       *broker.Broker
	observer    *observe.Observer
	log         *slog.Logger
	connections int                // of the API, at a time; 0: any number
	bodies      *slots             // of requests whose sender is not known yet
	signIns     *attempts          // of people, that failed
	guesses     *attempts          // of tokens, that failed
	config      config.Config      // that it was started with
	changed     chan config.Config // to be applied
	now         atomic.Pointer[generation]
	announced   atomic.Pointer[[]string] // the fingerprints of all daemons' keys
}

// newDaemon wires everything. It reaches Redis, and no platform yet.
func newDaemon(ctx context.Context, c config.Config, client redis.UniversalClient, log *slog.Logger) (*daemon, error) {
	sample := c.Traces.Sample
	if sample == 0 {
		sample = 1
	}
	observer, err := observe.New(ctx, c.Traces.Endpoint, sample)
	if err != nil {
		return nil, err
	}
	client.AddHook(observer.Hook())
	store, err := broker.New(ctx, broker.Options{
		Client: client, Prefix: c.Redis.Prefix, Partitions: c.Redis.Partitions, Retention: time.Duration(c.Retention), WaitReplicas: c.Redis.WaitReplicas, Log: log,
	})
	if err != nil {
		return nil, err
	}
	d := &daemon{store: store, observer: observer, log: log, connections: c.MaxConnections, bodies: &slots{max: openBodies}, signIns: newAttempts(signInBurst), guesses: newAttempts(guessBurst), changed: make(chan config.Config)}
	g, err := d.build(ctx, c)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	d.config = c
	d.now.Store(g)
	observer.Watch(store.Stats, func() map[string]bridge.Health { return d.engine().Health() })
	observer.WatchProof(func() int64 { return d.engine().Audit.Refusals() }, d.keysHealth)
	return d, nil
}

// engine is the one that works now.
func (d *daemon) engine() *engine.Engine { return d.now.Load().engine }

// build makes a generation of a config.
func (d *daemon) build(ctx context.Context, c config.Config) (*generation, error) {
	k, err := loadKeys(ctx, c, d.store)
	if err != nil {
		return nil, err
	}
	if err := k.announce(ctx, c, d.store, d.log); err != nil {
		return nil, err
	}
	keyring, err := bridge.NewKeyring(k.token...)
	if err != nil {
		return nil, err
	}
	ports := engine.Proven(d.store, k.signer, k.inRedis, d.log)
	rules, err := buildPolicy(c)
	if err != nil {
		return nil, err
	}
	platforms, callbacks, err := buildPlatforms(c, ports.Notes, d.log)
	if err != nil {
		return nil, err
	}
	routes, err := buildRoutes(c)
	if err != nil {
		return nil, err
	}
	hooks, err := buildWebhooks(c)
	if err != nil {
		return nil, err
	}
	hide, err := buildRedactor(c)
	if err != nil {
		return nil, err
	}
	people := buildDirectory(c, platforms, ports.Links)
	options := engine.Options{Directory: people, Redactor: hide, Linking: c.Identity.Linking, Store: d.observer.Store(d.store), Keys: keyring, Platforms: platforms, Routes: routes, Webhooks: hooks, Signer: k.signer, KeysInRedis: k.inRedis, AuditRetention: time.Duration(c.Audit.Retention), Observer: d.observer, Log: d.log}
	if rules != nil {
		options.Policy = rules
	}
	options.Agents = buildAgents(c)
	if options.PolicyVersion, err = policyVersion(c); err != nil {
		return nil, err
	}
	g := &generation{engine: engine.New(options), keys: k, done: make(chan struct{})}
	g.closing, g.close = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	for path, h := range callbacks {
		mux.Handle(path, queued(d.bodies, h(g.engine)))
	}
	entry := func(a bridge.Agent) http.Handler { return mcpDoor(g.engine, a, d.log) }
	mux.Handle("GET /metrics", guarded(c.Metrics.Token.Value(), d.observer.Metrics()))
	tokens := buildTokens(c)
	front := api.Options{Engine: g.engine, Reader: d.store, Tokens: tokens, Closing: g.closing, Log: d.log, Redact: hide.Redact, Keys: d.keysHealth, Proven: proven, Refused: d.guesses.failed, EntryPoints: map[string]api.EntryPoint{"/mcp": entry}}
	if c.Console.Enabled {
		page := buildConsole(c, g.engine, tokens, k.token[0], d.store, d.signIns, d.log)
		mux.Handle("/console/", queued(d.bodies, page))
		front.Session = page.Principal
	}
	mux.Handle("/", d.observer.API(api.New(front)))
	g.handler = hostsOf(c).guard("add it to hosts in the config, or to NOD_HOSTS", bounded(mux))
	return g, nil
}

// guarded lets only who has the token read; empty: everybody.
func guarded(token string, h http.Handler) http.Handler {
	if token == "" {
		return h
	}
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="nod metrics"`)
			http.Error(w, "send Authorization: Bearer and the token of metrics.token", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// serve runs until ctx ends, then lets calls under way finish.
func (d *daemon) serve(ctx context.Context, l net.Listener) error {
	if d.connections > 0 {
		l = &gate{Listener: l, max: d.connections}
	}
	server := &http.Server{Handler: d, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ConnContext: connContext, ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug)}
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
	wg.Go(func() {
		<-run.Done()
		d.now.Load().close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(run), stopTimeout)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			d.log.Warn("calls were cut off", "error", err)
			server.Close()
		}
	})
	d.now.Load().start(run)
	err := d.reloads(run)
	wg.Wait()
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err = errors.Join(err, d.observer.Close(flush), d.store.Close())
	select {
	case serr := <-failed:
		return errors.Join(serr, err)
	default:
		return err
	}
}

func (d *daemon) tidy(ctx context.Context) {
	t := time.NewTicker(broker.TidyEvery)
	defer t.Stop()
	for {
		if err := errors.Join(d.store.Tidy(ctx), d.engine().Audit.Trim(ctx)); err != nil && ctx.Err() == nil {
			d.log.Warn("old entries not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// announce says which keys this daemon signs with until ctx ends, and learns
// which the others do.
func (d *daemon) announce(ctx context.Context) {
	for {
		all, err := d.store.Announce(ctx, d.now.Load().keys.fingerprint())
		if err == nil {
			d.announced.Store(&all)
		}
		if !bridge.Pause(ctx, broker.AnnounceEvery) {
			break
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := d.store.Retire(last); err != nil {
		d.log.Debug("daemon not taken off, its entry will end", "error", err)
	}
}

// keysHealth says what the keys of the daemons are worth.
func (d *daemon) keysHealth() bridge.Health {
	var others []string
	if all := d.announced.Load(); all != nil {
		others = *all
	}
	return d.now.Load().keys.health(others)
}

func off(pacing *bool) bool { return pacing != nil && !*pacing }

// buildPlatforms makes a platform of each that has a token, and the handlers
// of those in HTTP mode.
func buildPlatforms(c config.Config, notes telegram.Notes, log *slog.Logger) ([]bridge.Platform, map[string]func(bridge.Sink) http.Handler, error) {
	var out []bridge.Platform
	callbacks := map[string]func(bridge.Sink) http.Handler{}
	for _, name := range c.Platforms() {
		switch name {
		case config.PlatformSlack:
			p, err := slack.New(slack.Options{
				Name: name, BotToken: c.Slack.BotToken.Value(), AppToken: c.Slack.AppToken.Value(), SigningSecret: c.Slack.SigningSecret.Value(),
				APIURL: c.Slack.APIURL, NoPacing: off(c.Slack.Pacing), Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/slack/interactions"] = append(out, p), p.Handler
		case config.PlatformDiscord:
			p, err := discord.New(discord.Options{
				Name: name, BotToken: c.Discord.BotToken.Value(), PublicKey: c.Discord.PublicKey, APIURL: c.Discord.APIURL, NoPacing: off(c.Discord.Pacing), Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/discord/interactions"] = append(out, p), p.Handler
		case config.PlatformTelegram:
			p, err := telegram.New(telegram.Options{
				Name: name, Token: c.Telegram.BotToken.Value(), WebhookURL: c.Telegram.WebhookURL, WebhookSecret: c.Telegram.WebhookSecret.Value(),
				APIURL: c.Telegram.APIURL, NoPacing: off(c.Telegram.Pacing), Notes: notes, Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/telegram/webhook"] = append(out, p), p.Handler
		}
	}
	return out, callbacks, nil
}

func buildRoutes(c config.Config) (map[string]bridge.Route, error) {
	routes := map[string]bridge.Route{}
	for name, r := range c.Routes {
		route := bridge.Route{EscalateTo: r.EscalateTo, Quorum: r.Quorum, Must: r.Must, DenyCounts: r.Deny == "counts", AllowSelf: r.AllowSelf, Steps: buildSteps(r), Snooze: time.Duration(r.Snooze), HandOver: r.HandOver}
		if q := r.Quiet; q != nil {
			route.Quiet = &bridge.Quiet{From: q.From, To: q.To, Zone: q.Zone, Risks: q.Risks}
		}
		for _, s := range r.To {
			t, err := config.ParseTarget(s)
			if err != nil {
				return nil, err
			}
			route.Destinations = append(route.Destinations, bridge.Destination{Platform: t.Platform, Channel: t.Channel, Thread: t.Thread})
		}
		for _, who := range r.Responders {
			if group, ok := strings.CutPrefix(who, bridge.GroupMark); ok {
				route.Groups = append(route.Groups, group)
				continue
			}
			known := false
			for _, p := range c.Platforms() {
				if id := c.People[who].Account(p); id != "" {
					route.Responders = append(route.Responders, bridge.Responder{Person: who, Platform: p, User: id})
					known = true
				}
			}
			if !known { // by token, or by an account that is linked
				route.Responders = append(route.Responders, bridge.Responder{Person: who, Platform: bridge.PlatformAPI, User: who})
			}
		}
		routes[name] = route
	}
	return routes, nil
}

func buildWebhooks(c config.Config) ([]bridge.Webhook, error) {
	var out []bridge.Webhook
	for _, name := range slices.Sorted(maps.Keys(c.Webhooks)) {
		w := c.Webhooks[name]
		h, err := webhook.New(webhook.Options{Name: name, URL: w.URL.Value(), Secret: w.Secret.Value(), Agents: w.Agents})
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// redisClient connects to what the config names.
func redisClient(c config.Redis) (redis.UniversalClient, error) {
	o := &redis.UniversalOptions{Addrs: c.Addrs, MasterName: c.MasterName, Username: c.Username, Password: c.Password.Value(), SentinelPassword: c.SentinelPassword.Value()}
	if c.URL.Set() {
		u, err := redis.ParseURL(c.URL.Value())
		if err != nil {
			return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: is not a Redis URL").WithHint("it looks like redis://127.0.0.1:6379/0")
		}
		o.Addrs, o.DB, o.TLSConfig = []string{u.Addr}, u.DB, u.TLSConfig
		if u.Username != "" {
			o.Username = u.Username
		}
		if u.Password != "" {
			o.Password = u.Password
		}
	}
	if len(o.Addrs) == 0 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "redis.url: is not set; nod keeps every decision in Redis").
			WithHint("set redis.url or NOD_REDIS_URL, or use --dev for an embedded Redis that forgets everything when it stops")
	}
	o.ContextTimeoutEnabled = true
	return redis.NewUniversalClient(o), nil
}
