// Package rooms composes nod: the engine, and one room for each capability. It has no
// rules of its own, and no room imports another. Start with [New], which names them in
// the order in which they are asked.
package rooms

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/desk"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/rooms/audit"
)

// Options configures a House.
type Options struct {
	engine.Options
	// Signer signs answers, and seals the audit log. The store has it as well, and
	// signs decisions. If it is nil, nod does none of this.
	Signer *proof.Signer
	// AuditRetention is the time to keep the audit log. Zero means forever.
	AuditRetention time.Duration
}

// House is the engine with its rooms. It is safe for concurrent use.
type House struct {
	*engine.Engine
	*desk.Desk
	Audit *audit.Log
}

// What platforms call for people.
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
	return &House{
		Engine: core,
		Desk:   desk.New(core, o.Options),
		Audit: audit.New(audit.Options{
			Store: o.Store, Leases: o.Store, Signer: o.Signer, Retention: o.AuditRetention, Node: o.Node, Log: o.Log,
		}),
	}
}

// Run does the work of the engine and of the rooms until ctx ends. Then it returns nil.
func (h *House) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { h.Audit.Run(ctx) })
	return h.Engine.Run(ctx, h)
}
