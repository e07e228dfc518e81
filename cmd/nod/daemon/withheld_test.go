package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestTextAlwaysFails checks that a service which fails at a text again and again,
// and takes others, shows the request without that text, lets no one approve it
// there, and shows it as soon as the service takes it. The outcome appears without
// the text too.
func TestTextAlwaysFails(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	breaks := func() {
		for _, service := range []string{"slack", "discord", "telegram"} {
			r.Sandbox.AddFault(sandbox.Fault{Service: service, Kind: "error", Status: 500, Text: "poison"})
		}
	}
	breaks()
	req := samples.Approval()
	req.Approval.Input = []byte(`{"command":"echo poison"}`)
	a := r.Ask(req)
	for _, service := range []string{"slack", "discord", "telegram"} {
		r.Eventually(service+" shows that there is a request", func() bool {
			return strings.Contains(a.Text(service), "Cannot be answered here")
		})
		if c := approving(service, r.Sandbox.Message(a.On(service))); len(c) > 0 {
			t.Errorf("%s offers %v", service, c)
		}
	}
	r.Sandbox.ClearFaults()
	for _, service := range []string{"slack", "discord", "telegram"} {
		r.Eventually(service+" shows the request", func() bool {
			return strings.Contains(a.Text(service), "poison") && len(approving(service, r.Sandbox.Message(a.On(service)))) > 0
		})
	}
	breaks()
	r.Press("ana", a.On("slack"), "Deny")
	a.Closed("Denied", "does not accept the text of this request")
}
