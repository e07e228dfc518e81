// Package demo implements nod demo: a daemon, emulated chats and an agent in
// one process, and scripted people who answer and check everything. Code that
// emulates a platform or builds a daemon does not belong here. Start with
// [Run].
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// demoAgent is the name of the agent in the demo.
const demoAgent = "deploy-bot"

// Options configures the demo.
type Options struct {
	Listen   string // address of the page; if it is in use, the demo uses another port
	Autoplay bool   // let scripted people answer, and check everything
	Out      io.Writer
	Log      *slog.Logger
}

// Run runs the demo until its story ends, or ctx ends.
func Run(ctx context.Context, o Options) error {
	return withStage(ctx, o.Listen, o.Log, func(ctx context.Context, st *stage) error {
		if o.Autoplay {
			return st.autoplay(ctx, o.Out)
		}
		return st.story(ctx, o.Out)
	})
}

// stage is the demo: a sandbox, a daemon connected to it, and an agent.
type stage struct {
	sandbox *sandbox.Sandbox
	page    string // URL
	api     string // URL
	token   string // token of the agent
	agent   *client.Client
	person  *client.Client // API client of ana
}

// withStage builds a stage, calls f, and stops everything afterward.
func withStage(ctx context.Context, listen string, log *slog.Logger, f func(context.Context, *stage) error) error {
	// The daemon stops first, because its platforms use the sandbox until then.
	outer, closeSandbox := context.WithCancel(context.WithoutCancel(ctx))
	defer closeSandbox()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return bridge.Wrap(bridge.CodeUnavailable, err, "listen")
		}
	}
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "listen")
	}
	st := &stage{
		sandbox: sandbox.New(sandbox.Options{NoLimits: true, Log: log}),
		page:    "http://" + l.Addr().String(), api: "http://" + api.Addr().String(), token: config.NewToken(),
	}
	c := sandboxed.Config(st.page)
	c.Agents[demoAgent] = config.Agent{Token: config.NewSecret(st.token)}
	ana, personToken := c.People["ana"], config.NewToken()
	ana.Token, ana.Administrator = config.NewSecret(personToken), true
	c.People["ana"] = ana
	signs(&c, api.Addr())
	st.agent, st.person = client.New(st.api, st.token, nil), client.New(st.api, personToken, nil)

	d, err := daemon.New(ctx, daemon.Options{Config: c, Log: log})
	if err != nil {
		return err
	}
	emulated, served := make(chan error, 1), make(chan error, 1)
	go func() {
		defer cancel()
		emulated <- sandboxed.Serve(outer, st.sandbox, l, log)
	}()
	go func() {
		defer cancel()
		served <- d.Serve(ctx, api)
	}()
	err = st.connected(ctx)
	if err == nil {
		err = f(ctx, st)
	}
	cancel()
	serr := <-served
	closeSandbox()
	return errors.Join(err, serr, <-emulated)
}

// signedCommand is a command whose approval requires a passkey. Nothing runs it.
const signedCommand = "terraform destroy -auto-approve"

// signs makes one command require a passkey. Browsers support passkeys at
// localhost, but not at an IP address.
func signs(c *config.Config, api net.Addr) {
	_, port, _ := net.SplitHostPort(api.String()) // the address of a listener is valid
	c.Console = config.Console{Enabled: true, URL: "http://localhost:" + port}
	c.Policy = append(c.Policy, policy.Rule{
		Name: "destroy", Command: []string{"terraform destroy *"}, Then: bridge.EffectAsk,
		StepUp: bridge.AssurancePasskey,
	})
}

// connected waits until the daemon receives events from all three platforms.
func (st *stage) connected(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	err := st.sandbox.Wait(ctx, func() bool {
		s := st.sandbox.State()
		return s.Slack.Connections > 0 && s.Discord.Connections > 0 && s.Telegram.Polling
	})
	if err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "the emulated chats did not connect")
	}
	return nil
}

// Scene is one request of the story.
type Scene struct {
	intro   string
	next    string // the agent's next step after the answer
	Request bridge.Request
}

// Scenes returns the requests of the story: a release in which the agent needs
// people six times.
func Scenes() []Scene {
	session := "release-42"
	return []Scene{
		{"The agent has a question.", "The agent releases there first.", bridge.Request{Ask: bridge.Ask{
			Session: session, Prompt: "Release **42** is built and tested. Which region goes first?",
			Questions: []bridge.Question{{ID: "region", Header: "Region", Widget: bridge.WidgetButtons, Options: []bridge.Option{
				{Value: "eu", Label: "Europe"}, {Value: "us", Label: "United States"}, {Value: "ap", Label: "Asia Pacific"}}}},
		}}},
		{"It asks for several choices at once.", "The agent restarts these services.", bridge.Request{Ask: bridge.Ask{
			Session: session, Prompt: "Which services should I restart after the migration?",
			Questions: []bridge.Question{{ID: "services", Header: "Services", Widget: bridge.WidgetCheckbox, Options: []bridge.Option{
				{Value: "api", Label: "API", Description: "public, 40 req/s now"}, {Value: "worker", Label: "Worker", Description: "queue is empty"},
				{Value: "cron", Label: "Cron", Description: "next run in 12 min"}, {Value: "search", Label: "Search", Description: "warm-up takes 3 min"}}}},
		}}},
		{"It needs some text.", "The agent publishes this text on the status page.", bridge.Request{Ask: bridge.Ask{
			Session: session, Prompt: "What should the status page say while I work?",
			Questions: []bridge.Question{{ID: "status", Header: "Status", Widget: bridge.WidgetTextarea, Placeholder: "We are upgrading…"}},
		}}},
		{"It requests approval for something dangerous.", "The agent runs exactly this command.", bridge.Request{Ask: bridge.Ask{
			Session: session, Prompt: "The old table has **2.1 million rows** and no service reads it anymore. May I drop it?",
			Approval: &bridge.Approval{Tool: "bash", Input: []byte(`{"command":"psql \"$PROD\" -c 'DROP TABLE orders_v1 CASCADE'"}`),
				Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}},
		}}},
		{"It has a plan and asks for a review.", "The agent follows your decision on the plan.", bridge.Request{Ask: bridge.Ask{
			Session: session, Prompt: "Before I touch the search index, please review:",
			Questions: []bridge.Question{{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: "### Reindex\n\n1. stop the writers\n2. build `orders_v2`, about 20 min\n3. switch the alias"}},
		}}},
		{"Finally, it asks you to fill in a form.", "The agent writes the announcement.", bridge.Request{Ask: bridge.Ask{
			Session: session, Prompt: "I will write the announcement. What do I need to know?",
			Questions: []bridge.Question{{ID: "news", Widget: bridge.WidgetForm, Schema: []byte(`{"type":"object","required":["title","on","contact"],"properties":{` +
				`"title":{"type":"string","title":"Title","minLength":5,"maxLength":60},"on":{"type":"string","format":"date","title":"Publish on"},` +
				`"contact":{"type":"string","format":"email","title":"Contact"},"users":{"type":"integer","title":"Users affected","minimum":0},` +
				`"audience":{"type":"array","title":"Audience","items":{"anyOf":[{"const":"all","title":"Everyone"},{"const":"admins","title":"Administrators"},{"const":"press","title":"The press"}]}},` +
				`"pinned":{"type":"boolean","title":"Pin it?","default":true}}}`)}},
		}}},
	}
}

// story runs the scenes for a person who answers on the page.
func (st *stage) story(ctx context.Context, w io.Writer) error {
	fmt.Fprintf(w, `
  Open   %s
  The page shows Slack, Discord and Telegram. Choose who you are, and answer %s.

`, st.page, demoAgent)
	told := pane{sandbox: st.sandbox}
	for n, s := range Scenes() {
		s.Request.Timeout = bridge.Duration(time.Hour)
		fmt.Fprintf(w, "  %d. %s\n     asks: %s\n", n+1, s.intro, render.Line(render.PlainText(render.Markdown(s.Request.Prompt))))
		rec, err := st.agent.Open(ctx, s.Request, "")
		if err == nil {
			told.blocked(s, n == 0 || s.Request.Approval != nil)
			rec, err = st.agent.Wait(ctx, rec.Interaction.ID)
		}
		now := time.Now()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		told.unblocked(s, rec, now)
		fmt.Fprintf(w, "     → %s\n\n", sentence(rec))
	}
	told.tell("says", "That is the end of the story. The terminal shows how to ask your own questions.")
	fmt.Fprintf(w, `  That is the end of the story. To ask your own questions, run in another terminal:

    export NOD_URL=%s NOD_TOKEN=%s
    go run ./cmd/nod ask "Lunch?" --buttons pizza,sushi
    go run ./cmd/nod run -- echo it works

`, st.api, st.token)
	if invited, err := st.person.Invite(ctx, "ana"); err == nil {
		fmt.Fprintf(w, `  To sign an approval with a passkey, add one for Ana at the first URL. Then run the command, and
  approve it as Ana:

    %s
    go run ./cmd/nod approve "May I?" --tool bash --command %q

`, invited.URL, signedCommand)
	}
	fmt.Fprintln(w, "  To stop the demo, press Ctrl-C.")
	<-ctx.Done()
	return nil
}

// sentence describes the outcome of a request in one line.
func sentence(rec bridge.Record) string {
	s := rec.Outcome()
	if r := rec.Response; r != nil && r.Actor != nil {
		s += " by " + r.Actor.Display() + " on " + r.Actor.Platform + r.Assurance.With()
	}
	if r := rec.Response; r != nil && r.Reason != "" {
		s += " (" + r.Reason + ")"
	}
	return s
}
