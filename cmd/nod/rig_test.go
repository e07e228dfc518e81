package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/broker/redistest"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// services are the three platforms of the sandbox; every contract test runs on
// each.
var services = []string{"slack", "discord", "telegram"}

const (
	testAgentToken  = "agent-token-for-tests"
	otherAgentToken = "other-agent-token-for-tests"
	anaToken        = "person-token-of-ana-for-tests"
	boToken         = "person-token-of-bo-for-tests"
	patience        = 60 * time.Second
)

// rig is a whole installation: a Redis server, the sandbox, daemons.
type rig struct {
	t       testing.TB
	ctx     context.Context
	sandbox *sandbox.Sandbox
	base    string // of the sandbox
	redis   *redistest.Server
	client  redis.UniversalClient
	bare    redis.UniversalClient // without hooks
	config  config.Config
	agent   *client.Client
	person  *client.Client
	daemons []*running
	shown   *display
}

type running struct {
	*daemon
	url  string
	stop func()
}

type rigOptions struct {
	daemons  int                                    // 0: one
	sandbox  sandbox.Options                        // NoLimits is set
	config   func(*config.Config)                   // changes the config
	embedded bool                                   // miniredis instead of redis-server
	hook     func(redis.UniversalClient) redis.Hook // between the daemons and Redis
	quiet    bool                                   // do not wait for the platforms
	limits   bool                                   // the services' rate limits, and nod's pace
	httpMode bool                                   // the signed HTTP modes of all three
}

func newRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := &rig{t: t, ctx: ctx}
	o.sandbox.NoLimits = !o.limits
	apiListener := listen(t)
	api := "http://" + apiListener.Addr().String()
	if o.httpMode {
		o.sandbox.SlackURL, o.sandbox.DiscordURL = api+"/slack/interactions", api+"/discord/interactions"
	}
	r.sandbox = sandbox.New(o.sandbox)
	r.shown = newDisplay(r, o.httpMode)
	server := httptest.NewServer(r.shown.record(r.sandbox))
	t.Cleanup(func() { r.sandbox.Close(); server.CloseClientConnections(); server.Close() })
	r.base = server.URL
	r.config = sandboxConfig(r.base)
	r.config.Redis.Prefix = "nod"
	r.config.Retention = config.Duration(time.Hour)
	r.config.Agents["tester"] = config.Agent{Token: config.NewSecret(testAgentToken)}
	r.config.Agents["other"] = config.Agent{Token: config.NewSecret(otherAgentToken)}
	ana := r.config.People["ana"]
	ana.Token = config.NewSecret(anaToken)
	r.config.People["ana"] = ana
	if o.httpMode {
		r.config.Slack.AppToken, r.config.Slack.SigningSecret = config.Secret{}, config.NewSecret(sandbox.SlackSigningSecret)
		r.config.Discord.PublicKey = fmt.Sprintf("%x", r.sandbox.DiscordPublicKey())
		r.config.Telegram.WebhookURL, r.config.Telegram.WebhookSecret = api+"/telegram/webhook", config.NewSecret("webhook-secret")
	}
	if o.limits {
		r.config.Slack.Pacing, r.config.Discord.Pacing, r.config.Telegram.Pacing = nil, nil, nil
	}
	if o.config != nil {
		o.config(&r.config)
	}
	r.startRedis(o.embedded)
	r.shown.client = r.bare
	r.client.AddHook(r.shown)
	if o.hook != nil {
		r.client.AddHook(o.hook(r.redis.Client(t)))
	}
	for n := range max(1, o.daemons) {
		l := apiListener
		if n > 0 {
			l = listen(t)
		}
		r.start(l)
	}
	r.agent = client.New(r.daemons[0].url, testAgentToken, nil)
	r.person = client.New(r.daemons[0].url, anaToken, nil)
	if !o.quiet {
		r.connected()
	}
	return r
}

// newOutside is a rig without a daemon: the sandbox, and a Redis server with
// arguments.
func newOutside(t testing.TB, args ...string) *rig {
	t.Helper()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	return &rig{t: t, ctx: t.Context(), sandbox: s, base: server.URL, redis: redistest.Start(t, append([]string{"--appendonly", "yes"}, args...)...)}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *rig) startRedis(embedded bool) {
	if embedded {
		addr := miniredis.RunT(r.t).Addr()
		for _, to := range []*redis.UniversalClient{&r.client, &r.bare} {
			c := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
			r.t.Cleanup(func() { c.Close() })
			*to = c
		}
		return
	}
	r.redis = redistest.Start(r.t, "--appendonly", "yes", "--appendfsync", "always")
	r.client, r.bare = r.redis.Client(r.t), r.redis.Client(r.t)
}

// start starts one more daemon on a listener.
func (r *rig) start(l net.Listener) *running {
	r.t.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{r.t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := newDaemon(r.ctx, daemonOptions{Config: r.config, Redis: r.client, Log: log})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := d.serve(ctx, l); err != nil {
			r.t.Errorf("daemon: %v", err)
		}
	})
	run := &running{daemon: d, url: "http://" + l.Addr().String(), stop: func() { cancel(); wg.Wait() }}
	r.daemons = append(r.daemons, run)
	r.t.Cleanup(run.stop)
	return run
}

// testWriter shows a daemon's log with its test, as long as that runs.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

// connected waits until every platform receives somewhere.
func (r *rig) connected() {
	r.t.Helper()
	// After a refused token nod waits half a minute before it tries again.
	r.within(2*patience, "the platforms connect", func() bool {
		up := map[string]bool{}
		for _, d := range r.daemons {
			for name, h := range d.engine().Health() {
				up[name] = up[name] || h.State == bridge.HealthUp
			}
		}
		for _, name := range r.config.Platforms() {
			if !up[name] {
				return false
			}
		}
		return len(up) > 0
	})
}

// eventually polls until ok holds. What it waits for has no event of its own.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	r.within(patience, what, ok)
}

func (r *rig) within(d time.Duration, what string, ok func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(d)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			r.t.Fatalf("%s: not within %s", what, d)
		}
	}
}

// only limits the default route to some platforms.
func only(names ...string) func(*config.Config) {
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

// asked is a request whose cards are posted.
type asked struct {
	bridge.Record
	r *rig
}

func (r *rig) ask(req bridge.Request) asked {
	r.t.Helper()
	if req.Prompt == "" {
		req.Prompt = "Please answer"
	}
	rec, err := r.agent.Open(r.ctx, req, "")
	if err != nil {
		r.t.Fatal(err)
	}
	a := asked{Record: rec, r: r}
	r.eventually("the cards are posted", func() bool {
		a.Record, err = r.daemons[0].engine().Get(r.ctx, rec.Interaction.ID)
		return err == nil && len(a.Messages)+len(a.Failures) == len(a.Interaction.Destinations)
	})
	return a
}

func (a asked) on(service string) sandbox.Place {
	for n, d := range a.Interaction.Destinations {
		if ref, ok := a.Messages[n]; ok && d.Platform == service {
			return sandbox.Place{Service: service, Channel: ref.Channel, Message: ref.Message}
		}
	}
	a.r.t.Fatalf("no message on %s", service)
	return sandbox.Place{}
}

func (a asked) text(service string) string { return sandbox.Texts(a.r.sandbox.Message(a.on(service))) }

func (a asked) controls(service string) []sandbox.Control {
	return sandbox.Controls(service, a.r.sandbox.Message(a.on(service)))
}

// end waits for the end as the agent does.
func (a asked) end() bridge.Record {
	a.r.t.Helper()
	ctx, cancel := context.WithTimeout(a.r.ctx, patience)
	defer cancel()
	rec, err := a.r.agent.Wait(ctx, a.Interaction.ID)
	if err != nil {
		a.r.t.Fatal(err)
	}
	return rec
}

// closed waits until the copies on the services have no controls and say the
// words.
func (a asked) closed(words ...string) {
	a.r.t.Helper()
	for n, d := range a.Interaction.Destinations {
		if _, ok := a.Messages[n]; !ok {
			continue
		}
		a.r.eventually(fmt.Sprintf("the card on %s closes with %q", d.Platform, words), func() bool {
			text := a.text(d.Platform)
			for _, w := range words {
				if !strings.Contains(text, w) {
					return false
				}
			}
			return len(a.controls(d.Platform)) == 0
		})
	}
}

// pending fails the test unless nothing is decided and the controls are there.
func (a asked) pending(service string) {
	a.r.t.Helper()
	rec, err := a.r.daemons[0].engine().Get(a.r.ctx, a.Interaction.ID)
	if err != nil || rec.State != bridge.StatePending {
		a.r.t.Fatalf("state %s, %v; want pending", rec.State, err)
	}
	if len(a.controls(service)) == 0 {
		a.r.t.Fatalf("the controls on %s are gone", service)
	}
}

// told is what a person was told privately: a toast, an answer at a form, or
// the newest private message that has a word.
func (r *rig) told(who, service string, reaction sandbox.Reaction, word string) {
	r.t.Helper()
	if service == "telegram" || len(reaction.Errors) > 0 {
		if said := reaction.Toast + fmt.Sprint(reaction.Errors); !strings.Contains(said, word) {
			r.t.Fatalf("%s was told %q on %s, want %q", who, said, service, word)
		}
		return
	}
	r.eventually(fmt.Sprintf("%s is told %q on %s", who, word, service), func() bool {
		notes := r.sandbox.Person(who).Notes(service)
		return len(notes) > 0 && strings.Contains(notes[len(notes)-1], word)
	})
}

func must(t testing.TB, reaction sandbox.Reaction, err error) sandbox.Reaction {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if reaction.Warning != "" {
		t.Fatalf("the client warns: %s", reaction.Warning)
	}
	return reaction
}

// press presses a control. Like a person, it presses again when nod says that
// the click was not recorded, which happens when the machine is too busy.
func (r *rig) press(who string, at sandbox.Place, label string) sandbox.Reaction {
	r.t.Helper()
	r.eventually(fmt.Sprintf("the card on %s says %q", at.Service, label), func() bool {
		return slices.ContainsFunc(sandbox.Controls(at.Service, r.sandbox.Message(at)), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) })
	})
	before := r.unrecorded(who, at.Service)
	reaction, err := r.sandbox.Person(who).Press(r.ctx, at, label)
	for range 3 {
		if err != nil || reaction.Toast != bridge.NoteNotRecorded {
			break
		}
		reaction, err = r.sandbox.Person(who).Press(r.ctx, at, label)
	}
	must(r.t, reaction, err)
	if at.Service != "telegram" { // whose toast comes with the press
		r.pressAgain(who, at, label, before)
	}
	return reaction
}

// unrecorded counts how often a person was told to press again.
func (r *rig) unrecorded(who, service string) int {
	n := 0
	for _, note := range r.sandbox.Person(who).Notes(service) {
		if strings.Contains(note, bridge.NoteNotRecorded) {
			n++
		}
	}
	return n
}

// pressAgain presses once more, in the background, for each new note that says
// so.
func (r *rig) pressAgain(who string, at sandbox.Place, label string, seen int) {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	var wg sync.WaitGroup
	r.t.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		for r.sandbox.Wait(ctx, func() bool { return r.unrecorded(who, at.Service) > seen }) == nil {
			seen++
			_, _ = r.sandbox.Person(who).Press(ctx, at, label)
		}
	})
}

// typed answers a free text in the way of the service: a modal, or a reply.
func (r *rig) typed(who string, at sandbox.Place, label, text string) sandbox.Reaction {
	r.t.Helper()
	reaction := r.press(who, at, label)
	p := r.sandbox.Person(who)
	if at.Service != "telegram" {
		reaction, err := p.Fill(r.ctx, at.Service, reaction.Modal, []string{text})
		return must(r.t, reaction, err)
	}
	r.eventually("the prompt is there", func() bool {
		var err error
		reaction, err = p.Reply(r.ctx, at.Channel, text)
		return err == nil
	})
	return reaction
}

// choose answers one question with options in the way of the service.
func (r *rig) choose(who string, at sandbox.Place, w bridge.Widget, labels ...string) sandbox.Reaction {
	r.t.Helper()
	p := r.sandbox.Person(who)
	submit := map[bridge.Widget]string{bridge.WidgetSelect: "OK", bridge.WidgetRadio: "Submit", bridge.WidgetCheckbox: "Submit"}[w]
	if at.Service == "telegram" && w == bridge.WidgetCheckbox {
		submit = "Done"
	}
	switch {
	case w == bridge.WidgetButtons || w == bridge.WidgetConfirm:
		return r.press(who, at, labels[0])
	case at.Service == "discord" && w != bridge.WidgetSelect:
		opened := r.press(who, at, "Choose")
		reaction, err := p.Fill(r.ctx, at.Service, opened.Modal, labels)
		return must(r.t, reaction, err)
	}
	if at.Service == "telegram" {
		for _, l := range labels {
			r.press(who, at, l)
		}
		return r.press(who, at, submit)
	}
	reaction, err := p.Pick(r.ctx, at, labels, submit)
	return must(r.t, reaction, err)
}

func options(values ...string) []bridge.Option {
	var out []bridge.Option
	for _, v := range values {
		out = append(out, bridge.Option{Value: v, Label: strings.ToUpper(v[:1]) + v[1:]})
	}
	return out
}

func one(w bridge.Widget, o ...bridge.Option) bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "Which one?", Questions: []bridge.Question{{ID: "q", Widget: w, Options: o}},
	}}
}

func approval(scopes ...bridge.Scope) bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "May I?", Session: "s-" + rand.Text()[:8], Approval: &bridge.Approval{Tool: "bash", Input: []byte(`{"command":"make deploy"}`), Scopes: scopes},
	}}
}

// postTo posts raw bytes to a path of the first daemon.
func (r *rig) postTo(path string, header http.Header, body string) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.daemons[0].url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestMain(m *testing.M) {
	if os.Getenv(wrappedEnv) != "" {
		serveWrapped()
		return
	}
	quietRedis()
	goleak.VerifyTestMain(m,
		// The Redis client's own: it looks once a second whether its pool is closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), // idle connections of http.DefaultClient
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
	)
}

var answerOnce = bridge.Reply{Decision: bridge.DecideOnce}

func fetch(r *rig, url string) string {
	r.t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func newClient(url, token string) *client.Client { return client.New(url, token, nil) }

func listenOn(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
