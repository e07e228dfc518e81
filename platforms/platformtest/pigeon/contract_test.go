package pigeon

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestContract runs the part of the contract that holds for every platform.
func TestContract(t *testing.T) {
	t.Parallel()
	platformtest.RunSmall(t, platformtest.Harness{
		Name: Kind.Name, Channel: "loft-1", Elsewhere: "loft-2", Account: account, Post: "send", Edit: "send",
		Client: reader{}, Forge: forge{},
		New: func(s platformtest.Setup) (platformtest.Platform, error) {
			return newLoft("grain", platforms.Options{Name: Kind.Name, APIURL: s.URL + Kind.Sandbox}), nil
		},
	})
}

// reader reads the messages of a loft, which mention no one.
type reader struct{}

// Follows implements platformtest.Client.
func (reader) Follows(*platformtest.Rig, sandbox.Place, sandbox.Place) bool { return false }

// Mentions implements platformtest.Client.
func (reader) Mentions(map[string]any) string { return "" }

// Token implements platformtest.Client.
func (reader) Token(c sandbox.Control) string { return c.ID }

// Accepts implements platformtest.Client.
func (reader) Accepts(bridge.Widget, string) bool { return false }

// forge makes the requests of a loft.
type forge struct{}

// Click implements platformtest.Forge.
func (forge) Click(token string, at sandbox.Place, account string) string {
	body, err := json.Marshal(click{account, token, at.Channel, at.Message})
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// Sign implements platformtest.Forge.
func (forge) Sign(*platformtest.Rig, string, time.Time) http.Header {
	return http.Header{"Authorization": {"Bearer grain"}}
}

// Break implements platformtest.Forge.
func (forge) Break(*platformtest.Rig, string) map[string]http.Header {
	return map[string]http.Header{"another token": {"Authorization": {"Bearer corn"}}, "half of it": {"Authorization": {"Bearer gra"}}}
}
