package telegrammsg_test

import (
	"testing"

	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// TestMessages pins the wire form of every intent in every state.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		m, err := telegrammsg.Build(s.View)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		rendertest.Golden(t, s.Name, m)
	}
}
