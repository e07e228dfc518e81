package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestReadOnlyDirectMessage checks that the mode of a direct message applies to
// that direct message only.
func TestReadOnlyDirectMessage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.To = append(route.To, "slack:U0ANA00001")
		c.Routes[bridge.DefaultRoute] = route
	}})
	a := r.Ask(rig.Approval())
	r.Command("ana", "slack", a.Messages[1].Channel, "/nod mute")
	r.Told("ana", "slack", sandbox.Reaction{}, "now read-only")
	place := func(n int) sandbox.Place {
		return sandbox.Place{Service: "slack", Channel: a.Messages[n].Channel, Message: a.Messages[n].Message}
	}
	r.Eventually("the direct message is read-only", func() bool { return len(sandbox.Controls("slack", r.Sandbox.Message(place(1)))) == 0 })
	if len(sandbox.Controls("slack", r.Sandbox.Message(place(0)))) == 0 {
		t.Error("the channel is read-only too")
	}
	r.Command("ana", "slack", "C0ONCALL02", "/nod mute") // on no route
	r.Told("ana", "slack", sandbox.Reaction{}, "Only responders")
}

// TestReadOnlyChannel checks that responders can make a channel read-only and
// undo that, and what happens to requests in the meantime.
func TestReadOnlyChannel(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			a := r.Ask(rig.Approval())
			at := a.On(s)
			p := r.Sandbox.Person
			says := func(who, words, want string) {
				t.Helper()
				r.Eventually(words+" is known", func() bool { // Discord learns it after the start
					reaction, err := p(who).Command(r.Ctx, s, at.Channel, words)
					return err == nil && reaction.Warning == ""
				})
				if s == "telegram" {
					r.Eventually("the answer to "+words, func() bool { return strings.Contains(rig.Chat(r, at.Channel), want) })
					return
				}
				r.Told(who, s, sandbox.Reaction{}, want)
			}
			says("mal", "/nod mute", "Only responders")
			says("ana", "/nod mute", "now read-only")
			r.Eventually("the card has no controls", func() bool { return len(a.Controls(s)) == 0 && strings.Contains(a.Text(s), "Read-only here") })
			av, err := r.Agent.Availability(r.Ctx, "", "")
			if err != nil || av.Available || av.Destinations[0].Reachable {
				t.Errorf("availability %+v, %v", av, err)
			}
			if rec, err := r.Agent.Open(r.Ctx, rig.Approval(), ""); err != nil || rec.State != bridge.StateUndeliverable || !strings.Contains(rec.Response.Reason, "read-only") {
				t.Errorf("a new request: %s, %v", rec.State, err)
			}
			says("ana", "/nod unmute", "answered in this channel again")
			r.Press("ana", at, "Run command")
			if got := a.End(); got.State != bridge.StateApproved {
				t.Errorf("state %s", got.State)
			}
		})
	}
}

// TestMutedAmongOthers checks that other channels still take responses if one
// is read-only, and that a click on an old control there is refused.
func TestMutedAmongOthers(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	a := r.Ask(rig.Approval())
	old := holding(r, a, "telegram", "Run command", "bo")
	if err := r.Person.SetReadOnly(r.Ctx, "telegram", a.On("telegram").Channel, true); err != nil {
		t.Fatal(err)
	}
	reaction, err := r.Sandbox.Act(r.Ctx, old)
	r.Told("bo", "telegram", person.Did(t, reaction, err), "read-only")
	a.Pending("slack")
	b := r.Ask(rig.Approval())
	if len(b.Controls("telegram")) != 0 || len(b.Controls("slack")) == 0 {
		t.Error("a new card does not follow the mode of its channel")
	}
	r.Press("ana", b.On("slack"), "Deny")
	b.Closed("Denied", "ana")
	if err := r.Agent.SetReadOnly(r.Ctx, "telegram", a.On("telegram").Channel, false); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an agent changes the mode: %v", err)
	}
}
