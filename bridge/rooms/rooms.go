// Path of a click: inbound.go of an adapter → this file → click_check.go of bridge/engine. Path
// of a request: open.go of bridge/engine → this file → open.go of bridge/core.

// Package rooms composes nod from the engine and one package for each feature,
// which is called a room. It has no rules of its own, and no room imports
// another. Start with [New], and with House.seams, which lists the participants
// in a request and in a click, in the order in which the engine calls them.
package rooms

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/desk"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/bridge/rooms/escalation"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/bridge/rooms/webhook"
)

// Options configures a House.
type Options struct {
	engine.Options
	Webhooks []bridge.Webhook
	// Signing configures the keys of people.
	Signing passkeys.Signing
	// AuditRetention is the time to keep the audit log. Zero means forever.
	AuditRetention time.Duration
}

// House is the engine with its rooms. It is safe for concurrent use.
type House struct {
	*engine.Engine
	*desk.Desk
	*session.Replies
	Audit    *audit.Log
	Grants   *grant.Room
	Passkeys *passkeys.Room
	Sessions *session.Room
	steps    *escalation.Room
	webhooks *webhook.Room
}

// Methods of a House that platforms call for people.
var _ interface {
	bridge.Sink
	bridge.Desk
	bridge.Listener
	bridge.Suggester
	bridge.SessionStopper
	bridge.Remover
} = (*House)(nil)

// New returns a house.
func New(o Options) *House {
	o.Default()
	core := engine.New(o.Options)
	grants, sessions, log := grant.New(core, o.Options), session.New(core, o.Options), audit.New(o.Options, o.AuditRetention)
	h := &House{
		Engine:   core,
		Desk:     desk.New(core, o.Options, grants, sessions, log),
		Replies:  session.NewReplies(core, sessions, o.Options),
		Audit:    log,
		Grants:   grants,
		Passkeys: passkeys.New(core, o.Options, o.Signing),
		Sessions: sessions,
		steps:    escalation.New(core, o.Options),
		webhooks: webhook.New(core, o.Options, o.Webhooks),
	}
	core.Use(h.seams())
	return h
}

// seams returns the participants in a request and in a click, in the order in
// which the engine calls them. The documentation has the same lists; see
// TestOrder.
func (h *House) seams() engine.Seams {
	return engine.Seams{
		Openers: []engine.Opener{
			{Name: "the webhooks that get the outcome are noted", Open: h.webhooks.Open},
			{Name: "the policy, or the settings of the agent, may decide", Open: h.Openings.Ruled},
			{Name: "a grant may cover it", Open: h.Grants.Open},
			{Name: "people can be reached", Open: h.Openings.Reached},
			{Name: "a request of a stopped session is refused, unless it is denied anyway", Open: h.Sessions.Open, Always: true},
		},
		Clicks: []engine.Decider[engine.Click]{
			{Name: "nod made the control, and it belongs to the card", Decide: h.Clicks.Located},
			{Name: "the card shows no session, which needs no further checks", Decide: h.Sessions.Click},
			{Name: "the person may answer", Decide: h.Clicks.MayAnswer},
			{Name: "the chosen options exist", Decide: h.Clicks.Chosen},
			{Name: "the card shows everything that it decides", Decide: h.Clicks.ShowsAll},
			{Name: "the card shows the current terms", Decide: h.Clicks.CurrentTerms},
			{Name: "the control neither postpones a reminder nor delegates", Decide: h.steps.Click},
		},
		Decisions: []engine.Decider[engine.Decision]{
			{Name: "the terms are those that the person saw", Decide: h.Decisions.SameTerms},
			{Name: "the current config lets the person approve it", Decide: h.Decisions.CurrentConfig},
			{Name: "an edited input may be approved here", Decide: h.Decisions.Fits},
			{Name: "earlier approvals still count", Decide: h.Decisions.Recounted},
			{Name: "the person has given the proof that it requires", Decide: h.Passkeys.Decide},
		},
		Resolvers: []engine.Resolver{
			{Name: "a denial that stops ends the session", Also: h.Sessions.Also, Resolve: h.Sessions.Resolve, Again: true},
			{Name: "an approval gives its grants", Also: h.Grants.Also, Resolve: h.Grants.Resolve},
		},
		Workers: []engine.Worker{
			{Kind: bridge.JobStep, Work: h.steps.Step},
			{Kind: bridge.JobRemind, Work: h.steps.Remind, GaveUp: h.steps.Untold},
			{Kind: bridge.JobHook, Work: h.webhooks.Work},
		},
		Showers: []engine.Shower{
			{Name: "the status of the session", Show: h.Sessions.Show, Shown: h.Sessions.Shown},
		},
	}
}

// Run runs the engine and the rooms until ctx ends. Then it returns nil.
func (h *House) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { h.Audit.Run(ctx) })
	wg.Go(func() { h.Sessions.Run(ctx) })
	return h.Engine.Run(ctx, h)
}
