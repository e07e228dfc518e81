package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/console"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/bridge/turns"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms"
)

// build creates the generation of a config.
func (d *Daemon) build(ctx context.Context, c config.Config) (*generation, error) {
	k, err := d.loadKeys(ctx, c)
	if err != nil {
		return nil, err
	}
	if !d.onlyOpens {
		if err := k.announce(ctx, c, d.keyring, d.log); err != nil {
			return nil, err
		}
	}
	d.seals.Use(k.signer.SealKeys(d.sealsFor))
	keyring, err := bridge.NewKeyring(k.token...)
	if err != nil {
		return nil, err
	}
	d.store.Sign(k.signer)
	db := d.Documents()
	notes := documents.NewNotes(db)
	rules, err := Policy(c)
	if err != nil {
		return nil, err
	}
	adapters, err := Platforms(c, d.paced, platforms.Options{Notes: notes, Turns: turns.New(db), Daemons: d.keyring.Running, Log: d.log})
	if err != nil {
		return nil, err
	}
	chats, callbacks := ports(adapters)
	routes, err := Routes(c)
	if err != nil {
		return nil, err
	}
	hooks, err := buildWebhooks(c)
	if err != nil {
		return nil, err
	}
	hide, err := Redactor(c)
	if err != nil {
		return nil, err
	}
	schedules, err := d.schedules(ctx, c, notes, documents.NewLeases(db))
	if err != nil {
		return nil, err
	}
	people := buildDirectory(c, d.remembered, chats, engine.NewLinked(db), schedules)
	options := rooms.Options{Options: engine.Options{
		Directory: people, Redactor: hide, Linking: c.Identity.Linking, UnknownRequesters: c.Identity.UnknownRequesters, Store: d.observer.Store(d.store), DB: d.db, Keys: keyring, Platforms: chats,
		Routes: routes, Observer: d.observer, Log: d.log, History: d.history, Policy: rules, Signer: k.signer,
	}, Webhooks: hooks, AuditRetention: time.Duration(c.Audit.Retention)}
	options.Agents = buildAgents(c)
	options.Signing = signing(c)
	if options.PolicyVersion, err = policyVersion(c); err != nil {
		return nil, err
	}
	if options.ConfigVersion, err = configVersion(c, d.version, k.token[0]); err != nil {
		return nil, err
	}
	g := &generation{config: c, engine: rooms.New(options), keys: k, done: make(chan struct{})}
	g.closing, g.close = context.WithCancel(d.closing)
	g.handler = d.entry(c, g, callbacks, hide)
	return g, nil
}

// entry serves the handlers.
func (d *Daemon) entry(c config.Config, g *generation, callbacks map[string]func(bridge.Sink) http.Handler, hide *redact.Redactor) http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range d.handlers(c, g, callbacks, hide) {
		mux.Handle(pattern, h)
	}
	return HostsOf(c).Guard("add it to hosts in the config or to NOD_HOSTS", d.bounded(mux))
}

// handlers returns the API, MCP, the console, metrics, and the callbacks of
// platforms by pattern.
func (d *Daemon) handlers(c config.Config, g *generation, callbacks map[string]func(bridge.Sink) http.Handler, hide *redact.Redactor) map[string]http.Handler {
	out := map[string]http.Handler{
		"GET /metrics":       guarded(config.TokenHashes(c.Metrics.Token), d.observer.Metrics()),
		"POST /admin/reload": d.reloadEntry(g.keys),
	}
	for path, h := range callbacks {
		out[path] = queued(d.bodies, h(g.engine))
	}
	tokens := buildTokens(c)
	front := api.Options{
		Engine: g.engine, Reader: d.history, Ready: d.store.Ready, Tokens: tokens, Closing: g.closing, Log: d.log, Redact: hide.Redact, Keys: d.keysHealth,
		Proven: proven, Refused: d.guesses.failed, Parked: &d.parked, Origins: c.Origins,
		EntryPoints: map[string]api.EntryPoint{"/mcp": func(a bridge.Agent) http.Handler { return d.mcpHandler(g, a) }},
	}
	if c.Console.Enabled {
		page := buildConsole(c, g.engine, tokens, g.keys.token[0], g.engine.Notes, d.signIns, d.log)
		out["/console/"], out[passkeys.SignPath] = queued(d.bodies, page), queued(d.bodies, page)
		out["GET /{$}"] = http.RedirectHandler("/console/", http.StatusSeeOther)
		front.Session = page.Principal
	}
	out["/"] = d.observer.API(api.New(front))
	return out
}

// guarded requires a token with one of the hashes for h. Without hashes, anyone
// may read.
func guarded(hashes []string, h http.Handler) http.Handler {
	if len(hashes) == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The code compares hashes, so the timing reveals nothing about a
		// token.
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || !slices.Contains(hashes, config.HashToken(token)) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="nod metrics"`)
			http.Error(w, "send Authorization: Bearer with the token of metrics.token", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// buildConsole creates the web console.
func buildConsole(c config.Config, e *rooms.House, tokens map[string]api.Principal, key []byte, store console.Store, signIns *attempts, log *slog.Logger) *console.Console {
	o := console.Options{
		Engine: e, Tokens: tokens, Key: key, Store: store, Failed: signIns.failed,
		Secure: strings.HasPrefix(c.Console.URL, "https://"), Log: log,
	}
	if x := c.Console.OIDC; x.Issuer != "" {
		o.OIDC = &console.OIDC{Issuer: x.Issuer, ClientID: x.ClientID, ClientSecret: x.ClientSecret.Value(), Callback: strings.TrimRight(c.Console.URL, "/") + "/console/oidc/callback", People: map[string]console.Person{}}
		for name, p := range c.People {
			o.OIDC.People[name] = console.Person{Email: p.Email, Auditor: p.Auditor}
		}
	}
	return console.New(o)
}

// mcpHandler returns the MCP server for an agent over HTTP. Requests without a
// session belong to a session that all connections of the agent share.
func (d *Daemon) mcpHandler(g *generation, a bridge.Agent) http.Handler {
	return d.mcp.Handler(func(r *http.Request) (mcp.Options, bool) {
		q := r.URL.Query()
		o := mcp.Options{
			Asker: g.engine.As(a), Session: q.Get("session"), Scoped: q.Get("session") != "", Route: q.Get("route"), Claude: q.Get("claude") == "true",
			Version: d.version, Log: d.log, Inbox: mcpInbox{g.engine, a.Name}, Closing: g.closing,
		}
		if o.Session == "" {
			o.Session = "mcp"
		}
		return o, true
	})
}

// mcpLease is the time for which messages are reserved for a call.
const mcpLease = 15 * time.Second

// mcpInbox holds the messages that people write to the sessions of an agent. It
// implements mcp.Inbox.
type mcpInbox struct {
	engine *rooms.House
	agent  string
}

// Take implements mcp.Inbox.
func (in mcpInbox) Take(ctx context.Context, session, reader string) ([]bridge.Message, error) {
	return in.engine.Sessions.Take(ctx, bridge.Taking{Agent: in.agent, Session: session, Reader: reader, Lease: mcpLease})
}

// Took implements mcp.Inbox.
func (in mcpInbox) Took(ctx context.Context, session, through string) error {
	return in.engine.Sessions.Acknowledge(ctx, in.agent, session, through)
}

// generation holds the parts of a daemon that are built from one config.
type generation struct {
	config  config.Config
	engine  *rooms.House
	keys    keys
	handler http.Handler
	closing context.Context // ends waiting calls, which callers then repeat
	close   context.CancelFunc
	stop    context.CancelFunc
	done    chan struct{}
}

// start runs the engine until ctx ends or the generation is replaced.
func (g *generation) start(ctx context.Context) {
	ctx, g.stop = context.WithCancel(ctx)
	go func() {
		defer close(g.done)
		_ = g.engine.Run(ctx) // returns nil once ctx ends
	}()
}

// ServeHTTP implements http.Handler.
func (d *Daemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.now.Load().handler.ServeHTTP(w, r)
}
