package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
)

// doctorAgent is the name of the agent that sends the test question.
const doctorAgent = "nod-doctor"

// Time limits for the steps of the test.
const (
	connectPatience  = 12 * time.Second
	postPatience     = 30 * time.Second
	withdrawPatience = 3 * time.Second
)

// test sends a question from an agent through Redis and the platforms to a
// person, and waits for a click. It runs its own daemon.
func (d *Doctor) test(ctx context.Context, c config.Config, client redis.UniversalClient) {
	c.Agents = map[string]config.Agent{doctorAgent: {Token: config.NewSecret(config.NewToken())}}
	c.Webhooks, c.Policy = nil, nil
	own, err := daemon.New(ctx, daemon.Options{Config: c, Redis: client, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		d.fail("test.start", err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.fail("test.start", err)
		return
	}
	// the daemon must outlive an interrupted test, to close its card
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = own.Serve(run, l) // findings report failures
	}()
	defer func() { stop(); <-served }()
	if d.connects(ctx, own, c) {
		d.ask(ctx, own)
	}
}

// connects waits until the platforms receive events, and reports whether all
// do.
func (d *Doctor) connects(ctx context.Context, own *daemon.Daemon, c config.Config) bool {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	for !daemon.Settled(own.Engine().Health()) && bridge.Pause(ctx, 100*time.Millisecond) {
	}
	good := true
	health := own.Engine().Health()
	for _, name := range slices.Sorted(maps.Keys(health)) {
		h := health[name]
		check := "test.connect." + name
		switch h.State {
		case bridge.HealthUp:
			d.add(check, bridge.FindingOK, "clicks can arrive", "")
		case bridge.HealthStandby:
			d.add(check, bridge.FindingOK, "the running daemon receives clicks", "")
		default:
			good = false
			d.add(check, bridge.FindingFailed, strings.TrimSuffix(string(h.State)+": "+h.Reason, ": "), "the network may block long-lived connections (WebSocket); see docs/troubleshooting.md")
		}
	}
	return good
}

func (d *Doctor) ask(ctx context.Context, own *daemon.Daemon) {
	e := own.Engine()
	rec, err := e.Open(ctx, bridge.Agent{Name: doctorAgent}, bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: "This is a test from **nod doctor**. Click the button to confirm that it reaches you.", Route: d.Route, Timeout: bridge.Duration(d.Timeout),
		Questions: []bridge.Question{{ID: "reached", Widget: bridge.WidgetButtons, Options: []bridge.Option{{Value: "yes", Label: "It reaches me"}}}},
	}}, "")
	if err != nil {
		d.fail("test.open", err)
		return
	}
	d.add("test.open", bridge.FindingOK, "stored in Redis", "")
	id := rec.Interaction.ID
	posting, cancel := context.WithTimeout(ctx, postPatience)
	defer cancel()
	for len(rec.Messages)+len(rec.Failures) < len(rec.Interaction.Destinations) && !rec.State.Final() && bridge.Pause(posting, 100*time.Millisecond) {
		if got, err := e.Get(ctx, id); err == nil {
			rec = got
		}
	}
	if ctx.Err() != nil {
		d.withdraw(ctx, own, id)
		return
	}
	if !d.posted(rec) {
		return
	}
	fmt.Fprintf(d.Talk, "nod: posted a test question; click its button within %s\n", d.Timeout)
	end, err := e.Await(ctx, id)
	switch {
	case ctx.Err() != nil:
		d.withdraw(ctx, own, id)
	case err != nil:
		d.fail("test.press", err)
	case end.Response != nil && end.Response.Actor != nil:
		a := end.Response.Actor
		d.add("test.press", bridge.FindingOK, fmt.Sprintf("%s clicked on %s, and the caller got the answer after %s", a.Display(), a.Platform, time.Since(end.Response.At).Round(time.Millisecond)), "")
	default:
		d.noClick(ctx, own, *end)
	}
}

// withdraw cancels the test question of an interrupted test, and gives the
// daemon of the test time to close its cards.
func (d *Doctor) withdraw(ctx context.Context, own *daemon.Daemon, id bridge.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawPatience)
	defer cancel()
	if _, err := own.Engine().Cancel(ctx, id, "the test was interrupted"); err != nil {
		d.fail("test.press", err)
		return
	}
	d.add("test.press", bridge.FindingSkipped, "interrupted; the test question is cancelled", "")
	for bridge.Pause(ctx, 50*time.Millisecond) {
		if s, err := own.Store().Stats(ctx); err == nil && s.Jobs == 0 {
			return
		}
	}
}

func (d *Doctor) posted(rec bridge.Record) bool {
	some := false
	for n, to := range rec.Interaction.Destinations {
		check := "test.post." + to.Platform
		switch {
		case rec.Failures[n] != "":
			d.add(check, bridge.FindingFailed, rec.Failures[n], "invite the bot to "+to.Channel+" and allow it to post there")
		case rec.Messages[n].Message == "" && rec.State.Final():
			d.add(check, bridge.FindingSkipped, "someone clicked on another card first", "")
			some = true
		case rec.Messages[n].Message == "":
			d.add(check, bridge.FindingFailed, "not posted within "+postPatience.String(), "the platform may be slow or limit the bot; check the log of nod serve")
		default:
			some = true
			d.add(check, bridge.FindingOK, to.Channel, "")
		}
	}
	return some
}

// noClick adds the reason why no click counted: nod rejected it, or none
// arrived.
func (d *Doctor) noClick(ctx context.Context, own *daemon.Daemon, rec bridge.Record) {
	entries, _, err := own.Engine().Audit.Newest(ctx, "", 1000)
	if err == nil {
		for _, a := range entries {
			var r bridge.Refusal
			if a.Type != bridge.AuditRefusal || a.ID != rec.Interaction.ID || json.Unmarshal(a.Data, &r) != nil {
				continue
			}
			d.add("test.press", bridge.FindingFailed, fmt.Sprintf("the click of account %s:%s was rejected: %s", r.Actor.Platform, r.Actor.User, r.Why), "add the account under people, and the person to the responders of the route "+d.Route)
			return
		}
	}
	d.add("test.press", bridge.FindingFailed, "no click arrived within "+d.Timeout.String(),
		"if you clicked, check Slack: Interactivity is on (HTTP mode: with the request URL); Discord: no interactions endpoint (HTTP mode: one); Telegram: no other program uses the token; the log of nod serve shows what arrives")
}
