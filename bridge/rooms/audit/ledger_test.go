package audit_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// ledger is a store with its audit log.
type ledger struct {
	*stored.Store
	*audit.Entries
}

func ledgerOf(_ *testing.T, s *stored.Store) *ledger {
	return &ledger{s, audit.NewEntries(s.Documents(), s.Retention())}
}

// opener opens another daemon on the database of a test.
type opener func(node string) *ledger

// bubble runs a test on a database in this process, in fake time.
func bubble(t *testing.T, f func(t *testing.T, open opener)) {
	t.Helper()
	stored.Bubble(t, func(t *testing.T, open stored.Opener) {
		f(t, func(node string) *ledger { return ledgerOf(t, open(node)) })
	})
}

// write appends an entry to the audit log.
func write(t *testing.T, b *ledger, e bridge.AuditEntry) error {
	t.Helper()
	i := bridge.Interaction{ID: e.ID, Agent: e.Agent, Ask: bridge.Ask{Session: e.Session}}
	return journal.New(b.Documents(), nil).Write(t.Context(), e.Type, i, e.Data)
}
