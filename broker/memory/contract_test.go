package memory_test

import (
	"testing"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/brokertest"
	"github.com/nodbridge/nod/broker/memory"
)

// TestContract checks that the store keeps what package broker promises.
func TestContract(t *testing.T) {
	t.Parallel()
	brokertest.Contract(t, func(*testing.T) broker.Store { return memory.New(broker.NewSeals([]byte("key"))) })
}

// TestMalformed checks what is promised about texts that are not documents.
func TestMalformed(t *testing.T) {
	t.Parallel()
	s := memory.New(broker.NewSeals([]byte("key")))
	brokertest.Malformed(t, s, s.Plant)
}
