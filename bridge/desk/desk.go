// Package desk shows people their requests, grants and sessions, and runs their
// commands in chat. It calls the engine and the rooms, and makes no decisions
// itself. It is part of rooms.House, through which adapters call it. Start with
// [Desk.Command] and [Desk.Overview].
package desk

import (
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/bridge/rooms/session"
)

// Desk runs the commands of people. It is safe for concurrent use.
type Desk struct {
	engine   *engine.Engine
	grants   *grant.Room
	sessions *session.Room
	records  core.Interactions
	audit    *audit.Log
	linking  bool
	lately   lately
}

// New returns the desk of an engine and its rooms.
func New(e *engine.Engine, o engine.Options, grants *grant.Room, sessions *session.Room, log *audit.Log) *Desk {
	return &Desk{engine: e, grants: grants, sessions: sessions, records: o.Store, audit: log, linking: o.Linking && o.Directory != nil}
}
