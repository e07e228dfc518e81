package render_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestPrivateSession checks that the message of a session shows nothing that the
// agent wrote if its route or a pending request is private.
func TestPrivateSession(t *testing.T) {
	t.Parallel()
	const secret = "SECRET"
	for _, x := range []struct {
		name                     string
		session, request, states bool
	}{{"private route", true, true, true}, {"private request", false, true, false}, {"public", false, false, true}} {
		i := bridge.Interaction{Agent: "ci", Ask: bridge.Ask{Kind: bridge.KindNotice, Presentation: bridge.PresentSession, Session: "s"}}
		i.Private = x.session
		v := bridge.View{Record: bridge.Record{Interaction: i, State: bridge.StateAnswered}, Session: &bridge.SessionView{}}
		if x.states {
			v.Session.Status = bridge.SessionStatus{State: bridge.SessionFinished, Title: secret, Step: secret, Waits: secret, Last: secret}
		} else {
			p := bridge.Interaction{Agent: "ci", Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: secret, Approval: &bridge.Approval{Tool: secret}}}
			p.Private = x.request
			v.Session.Pending = []bridge.Record{{Interaction: p, State: bridge.StatePending}}
		}
		c := render.NewCard(v, func(bridge.Question) bool { return false })
		shown := c.HeadText() + c.Notice + c.From + render.PlainText(c.Body)
		if leaks := strings.Contains(shown, secret); leaks != (x.name == "public") {
			t.Errorf("%s: the message is %q", x.name, shown)
		}
	}
}
