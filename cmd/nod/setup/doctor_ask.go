package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
)

// doctorAgent is the name of the agent that sends the test question.
const doctorAgent = "nod-doctor"

// Time limits for the steps of the test.
const (
	postPatience     = 30 * time.Second
	closePatience    = 30 * time.Second // after the deadline of the question
	withdrawPatience = 3 * time.Second
)

// test sends a question from an agent through Redis, the running daemons and
// the platforms to a person, and waits for a click. It does nothing else with
// Redis, because its config need not be the config of these daemons.
func (d *Doctor) test(ctx context.Context, c config.Config, client redis.UniversalClient) {
	own, err := daemon.New(ctx, daemon.Options{Config: c, Redis: client, Log: slog.New(slog.DiscardHandler), OnlyOpens: true})
	if err != nil {
		d.fail("test.start", err)
		return
	}
	d.ask(ctx, own.Engine())
	if err := own.Close(); err != nil {
		d.fail("test.start", err)
	}
}

func (d *Doctor) ask(ctx context.Context, e *rooms.House) {
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
	switch {
	case ctx.Err() != nil:
		d.interrupted(ctx, e, id)
	case d.posted(rec):
		fmt.Fprintf(d.Talk, "nod: posted a test question; click its button within %s\n", d.Timeout)
		d.await(ctx, e, id)
	default:
		d.withdraw(ctx, e, id)
	}
}

// await waits for the click on the test question.
func (d *Doctor) await(ctx context.Context, e *rooms.House, id bridge.ID) {
	clicking, cancel := context.WithTimeout(ctx, d.Timeout+closePatience)
	defer cancel()
	end, err := e.Await(clicking, id)
	switch {
	case ctx.Err() != nil:
		d.interrupted(ctx, e, id)
	case clicking.Err() != nil:
		d.withdraw(ctx, e, id)
		d.add("test.press", bridge.FindingFailed, "no daemon closed the test question at its deadline", "check the log of nod serve")
	case err != nil:
		d.fail("test.press", err)
	case end.Response != nil && end.Response.Actor != nil:
		a := end.Response.Actor
		d.add("test.press", bridge.FindingOK, fmt.Sprintf("%s clicked on %s, and the caller got the answer after %s", a.Display(), a.Platform, time.Since(end.Response.At).Round(time.Millisecond)), "")
		if err := e.Delivered(ctx, *end); err != nil {
			d.fail("test.press", err)
		}
	default:
		d.noClick(ctx, e, *end)
	}
}

func (d *Doctor) interrupted(ctx context.Context, e *rooms.House, id bridge.ID) {
	d.withdraw(ctx, e, id)
	d.add("test.press", bridge.FindingSkipped, "interrupted; the test question is cancelled", "")
}

// withdraw cancels the test question of a test that ends early. The running
// daemons close its cards.
func (d *Doctor) withdraw(ctx context.Context, e *rooms.House, id bridge.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawPatience)
	defer cancel()
	if _, err := e.Cancel(ctx, id, "the test ended early"); err != nil {
		d.fail("test.press", err)
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
			d.add(check, bridge.FindingFailed, "not posted within "+postPatience.String(), "the platform may be slow or limit the bot, or the daemon has just ended; check the log of nod serve")
		default:
			some = true
			d.add(check, bridge.FindingOK, to.Channel, "")
		}
	}
	return some
}

// noClick adds the reason why no click counted: nod rejected it, or none
// arrived.
func (d *Doctor) noClick(ctx context.Context, e *rooms.House, rec bridge.Record) {
	entries, _, err := e.Audit.Newest(ctx, "", 1000)
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
