// Package rig runs complete installations for tests: daemons, a Redis server,
// the sandbox, people who click, and intruders who write to Redis. Helpers that
// only one package uses do not belong here.
package rig

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Services lists the three platforms of the sandbox. Every contract test runs
// on each.
var Services = []string{"slack", "discord", "telegram"}

// Tokens of the agents and people of a rig.
const (
	TestAgentToken  = "agent-token-for-tests"
	OtherAgentToken = "other-agent-token-for-tests"
	AnaToken        = "person-token-of-ana-for-tests"
	BoToken         = "person-token-of-bo-for-tests"
)

// Rig is a complete installation: a Redis server, the sandbox, and daemons.
type Rig struct {
	person.Hands
	Redis   *redistest.Server
	Client  redis.UniversalClient
	Bare    redis.UniversalClient // without hooks
	Config  config.Config
	Agent   *client.Client
	Person  *client.Client
	Daemons []*Running
	Shown   *Display
	// Stored rings after each write of a daemon in this process to Redis.
	Stored *await.Bell

	// Clock is the clock of the services. It is nil if the rig is faulty.
	Clock *sandbox.Clock

	options daemon.Options // options of its daemons
}

// Running is a daemon of a rig.
type Running struct {
	*daemon.Daemon
	URL  string
	Stop func()
}

// Options configures a rig.
type Options struct {
	Daemons  int                                    // zero means one
	Config   func(*config.Config)                   // changes the config
	Hook     func(redis.UniversalClient) redis.Hook // hook between the daemons and Redis
	Quiet    bool                                   // do not wait for the platforms
	Limits   bool                                   // enforce the rate limits of the platforms, and pace nod
	OwnRedis bool                                   // the test ends its Redis server; otherwise tests share one
	Faulty   bool                                   // the test makes nod fail, so people repeat their actions
	HTTPMode bool                                   // use the signed HTTP modes of all platforms
	Fresh    bool                                   // ask the platforms for the members of groups at each click
	Brief    bool                                   // give slow senders little time
}

// briefly is the time that a brief daemon gives slow senders. Other senders
// need less, even on a busy machine.
const briefly = 2 * time.Second

// New starts a rig and waits until its platforms are connected.
func New(t testing.TB, o Options) *Rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := &Rig{Stored: &await.Bell{}, options: daemon.Options{Paced: o.Limits}}
	if o.Fresh {
		r.options.Remembered = time.Nanosecond
	}
	if o.Brief {
		r.options.HeaderTime, r.options.BodyTime = briefly, briefly
	}
	emulated := sandbox.Options{NoLimits: !o.Limits}
	if !o.Faulty {
		emulated.Clock = sandbox.NewClock()
	}
	apiListener := Listen(t)
	api := "http://" + apiListener.Addr().String()
	if o.HTTPMode {
		emulated.Callbacks = map[string]string{}
		for _, k := range kinds.All {
			emulated.Callbacks[k.Name] = api + k.Callback
		}
	}
	r.Clock = emulated.Clock
	s := sandbox.New(emulated)
	r.Shown = newDisplay(r, o.HTTPMode)
	fault := injected(t)
	server := httptest.NewServer(r.Shown.Record(fault.service(s)))
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	r.Hands = person.New(t, ctx, s, server.URL, r.Stored.Next)
	r.Hands.Faulty = o.Faulty
	r.Config = sandboxed.Config(r.Base)
	r.Config.Listen = apiListener.Addr().String()
	r.Config.Redis.Prefix = "nod"
	r.Config.Retention = config.Duration(time.Hour)
	r.Config.Agents["tester"] = config.Agent{Token: config.NewSecret(TestAgentToken)}
	r.Config.Agents["other"] = config.Agent{Token: config.NewSecret(OtherAgentToken)}
	ana := r.Config.People["ana"]
	ana.Token = config.NewSecret(AnaToken)
	r.Config.People["ana"] = ana
	if o.HTTPMode {
		s := sandboxed.Slack(&r.Config)
		s.AppToken, s.SigningSecret = config.Secret{}, config.NewSecret(sandbox.SlackSigningSecret)
		sandboxed.Discord(&r.Config).PublicKey = fmt.Sprintf("%x", r.Sandbox.DiscordPublicKey())
		sandboxed.Telegram(&r.Config).WebhookURL = api + "/telegram/webhook"
	}
	if o.Config != nil {
		o.Config(&r.Config)
	}
	if o.OwnRedis {
		r.Redis = redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	} else {
		r.Redis = redistest.Shared(t)
	}
	r.Client, r.Bare = r.Redis.Over(t, fault.dial), r.Redis.Client(t)
	r.Shown.client = r.Bare
	redistest.Rings(r.Client, r.Stored)
	r.Client.AddHook(r.Shown)
	if fault != nil {
		r.Client.AddHook(fault)
	}
	if o.Hook != nil {
		r.Client.AddHook(o.Hook(r.Redis.Client(t)))
	}
	for n := range max(1, o.Daemons) {
		l := apiListener
		if n > 0 {
			l = Listen(t)
		}
		r.Start(l)
	}
	r.Agent = client.New(r.Daemons[0].URL, TestAgentToken, nil)
	r.Person = client.New(r.Daemons[0].URL, AnaToken, nil)
	if !o.Quiet {
		r.Connected()
	}
	return r
}

// Outside returns a rig without a daemon: the sandbox, and a Redis server that
// is started with the given arguments.
func Outside(t testing.TB, args ...string) *Rig {
	t.Helper()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	return &Rig{Hands: person.New(t, t.Context(), s, server.URL), Stored: &await.Bell{}, Redis: redistest.Start(t, append([]string{"--appendonly", "yes"}, args...)...)}
}

// FreeAddress returns an address on which nothing listens. No other test gets it,
// so that a daemon can listen on it later, or again.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
}

// Listen listens on a free address.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	return ListenOn(t, FreeAddress(t))
}

// Start starts another daemon on a listener.
func (r *Rig) Start(l net.Listener) *Running {
	r.T.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{r.T}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o := r.options
	o.Config, o.Redis, o.Log = r.Config, r.Client, log
	d, err := daemon.New(r.Ctx, o)
	if err != nil {
		r.T.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.Ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := d.Serve(ctx, l); err != nil {
			r.T.Errorf("daemon: %v", err)
		}
	})
	run := &Running{Daemon: d, URL: "http://" + l.Addr().String(), Stop: func() { cancel(); wg.Wait() }}
	r.Daemons = append(r.Daemons, run)
	r.T.Cleanup(run.Stop)
	r.Watched() // the checks of Watched run just before this daemon stops
	return run
}

// testWriter writes the log of a daemon to the test while the test runs.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

// Connected waits until one of the daemons receives events from every platform.
func (r *Rig) Connected() {
	r.T.Helper()
	defer func() {
		if r.T.Failed() {
			for n, d := range r.Daemons {
				r.T.Logf("health of daemon %d: %+v", n, d.Engine().Health())
			}
		}
	}()
	// After a rejected token, nod waits half a minute before it retries.
	r.Eventually("the platforms connect", func() bool {
		up := map[string]bool{}
		for _, d := range r.Daemons {
			for name, h := range d.Engine().Health() {
				up[name] = up[name] || h.State == bridge.HealthUp
			}
		}
		for _, name := range r.Config.Platforms() {
			if !up[name] {
				return false
			}
		}
		return len(up) > 0
	})
}

// Revoke revokes nod's tokens for platforms, and waits until nod cannot show
// requests there.
func (r *Rig) Revoke(platforms ...string) {
	r.T.Helper()
	for _, p := range platforms {
		r.Sandbox.AddFault(sandbox.Fault{Service: p, Kind: "revoke"})
		var err error
		if p == "telegram" { // nod polls again after an update
			_, err = r.Sandbox.Person("ana").Command(r.Ctx, p, fmt.Sprint(sandbox.TelegramChat), "/nod who")
		} else {
			err = r.Sandbox.Disconnect(p, 4004)
		}
		if err != nil {
			r.T.Fatal(err)
		}
	}
	r.Eventually("the platforms cannot be reached", func() bool {
		a, err := r.Agent.Availability(r.Ctx, "", "")
		return err == nil && !slices.ContainsFunc(a.Destinations, func(d bridge.Reach) bool {
			return d.Reachable && slices.Contains(platforms, d.Destination.Platform)
		})
	})
}

// Only returns a config change that limits the default route to some platforms.
func Only(names ...string) func(*config.Config) {
	return func(c *config.Config) {
		route := c.Routes[bridge.DefaultRoute]
		var to []string
		for _, s := range route.To {
			for _, n := range names {
				if strings.HasPrefix(s, n+":") {
					to = append(to, s)
				}
			}
		}
		route.To = to
		c.Routes[bridge.DefaultRoute] = route
	}
}

// ListenOn listens on an address. If a daemon has just left it, a process that started
// in that moment may keep it for a moment.
func ListenOn(t testing.TB, address string) net.Listener {
	t.Helper()
	var l net.Listener
	await.Clear(t, func() string {
		var err error
		if l, err = net.Listen("tcp", address); err != nil {
			return err.Error()
		}
		return ""
	})
	return l
}
