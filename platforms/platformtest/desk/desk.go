// Package desk starts the emulator of one service for its own tests.
package desk

import (
	"net/http/httptest"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox/core"
)

// Desk is an emulator whose clock moves only when the test advances it.
type Desk struct {
	T   *testing.T
	Hub *core.Hub
	On  core.Service
	URL string
}

// New serves an emulator until the test ends. Limits applies the rate limits of
// the service.
func New(t *testing.T, limits bool, emulator func(*core.Hub) core.Service) Desk {
	t.Helper()
	hub := core.NewHub(!limits)
	hub.Clock = core.NewClock()
	on := emulator(hub)
	server := httptest.NewServer(on)
	t.Cleanup(func() { hub.Close(); server.CloseClientConnections(); server.Close() })
	return Desk{t, hub, on, server.URL}
}

// Fault adds a fault of the service.
func (d Desk) Fault(f core.Fault) {
	f.Service = d.On.Name()
	d.Hub.AddFault(f)
}

// Act performs an action, which must be possible.
func (d Desk) Act(a core.Action) core.Reaction {
	d.T.Helper()
	r, err := d.On.Act(d.T.Context(), a)
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

// Eventually waits until ok returns true. It calls ok after each change.
func (d Desk) Eventually(what string, ok func() bool) {
	d.T.Helper()
	await.Until(d.T, what, ok, d.Hub.Changed)
}
