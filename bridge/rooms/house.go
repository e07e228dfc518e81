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

// Run runs the engine and the rooms until ctx ends, and then returns nil.
func (h *House) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { h.Audit.Run(ctx) })
	wg.Go(func() { h.Sessions.Run(ctx) })
	return h.Engine.Run(ctx, h)
}
