package memory_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/brokertest"
	"github.com/nodbridge/nod/broker/memory"
)

// TestContract checks that the store keeps what package broker promises.
func TestContract(t *testing.T) {
	t.Parallel()
	brokertest.Contract(t, func(*testing.T) broker.Store { return memory.New(broker.NewSeals([]byte("key"))) })
}

// TestTurns checks what is promised about turns.
func TestTurns(t *testing.T) {
	t.Parallel()
	brokertest.Turns(t, func(*testing.T) brokertest.Clocked {
		var now time.Time
		s := memory.NewAt(broker.NewSeals([]byte("key")), func() time.Time { return now })
		return brokertest.Clocked{Turns: s, Set: func(at time.Time) { now = at }}
	})
}

// TestMalformed checks what is promised about texts that are not documents.
func TestMalformed(t *testing.T) {
	t.Parallel()
	s := memory.New(broker.NewSeals([]byte("key")))
	brokertest.Malformed(t, s, s.Plant)
}
