// Package history reads what was asked and what happened: pages of records, newest
// first, and the events of the journal. It changes nothing, and compares what it reads
// with the documents, because the journal has no seal. Start with List and Events.
package history

import (
	"log/slog"

	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/broker"
)

// Reader reads records and events. It is safe for concurrent use.
type Reader struct {
	db   broker.Store
	core *core.Store
	log  *slog.Logger
}

// New returns a Reader of the documents of a store. A nil logger discards output.
func New(db broker.Store, c *core.Store, log *slog.Logger) *Reader {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Reader{db: db, core: c, log: log}
}
