package core

import (
	"context"
	"net/http"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// none is a service that does not exist. Nothing is there, and no action is
// possible.
type none struct{ *Base }

// None returns a service with a name that no service has.
func None(h *Hub, name string) Service { return none{NewBase(h, name, nil)} }

func (n none) missing() error { return n.Errorf("there is no such service") }

func (n none) Act(context.Context, Action) (Reaction, error) { return Reaction{}, n.missing() }
func (n none) Pick(context.Context, string, Place, []string, string) (Reaction, error) {
	return Reaction{}, n.missing()
}
func (n none) Disconnect(int) error                             { return n.missing() }
func (n none) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
func (n none) AddChannel(int) string                            { return "" }
func (n none) States() []ChatState                              { return nil }
func (n none) Connections() int                                 { return 0 }
func (n none) Controls(raw.Object) []Control                    { return nil }
func (n none) Inputs(string) ([]Input, bool)                    { return nil, false }
