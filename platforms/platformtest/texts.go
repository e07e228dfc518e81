package platformtest

import (
	"fmt"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// texts contains the flows for requests with long or hostile text.
var texts = []flow{
	{"a long text is shown in full before it can be approved", func(r *Rig) {
		for _, lines := range []int{100, 900} {
			c := r.ask(longCommand(lines))
			shown := r.Shown(c.at())
			for n := range lines {
				if line := longLine(n); !strings.Contains(shown, line) {
					r.T.Fatalf("%q is not shown", line)
				}
			}
			r.Approve("ana", c.read().at())
			if got := c.end(); got.State != bridge.StateApproved {
				r.T.Errorf("state %s", got.State)
			}
			c.closed("ana")
		}
	}},
	{"a follow-up with a long text shows all of it", func(r *Rig) {
		c := r.ask(plan())
		r.Typed("ana", c.at(), "Request changes", "more detail")
		c.end()
		c.closed("more detail")
		next := plan()
		next.Questions[0].Plan = strings.Repeat("look at it\n\n", 2000) + "the last step"
		rec, err := r.Engine.Reprompt(r.Ctx, r.agent, c.Interaction.ID, next, "")
		if err != nil {
			r.T.Fatal(err)
		}
		c.Record.Interaction = rec.Interaction
		r.Eventually("the card shows the plan", func() bool { return r.Offers(c.at(), render.LabelApprove) || r.Offers(c.at(), person.Reads) })
		if shown := r.Shown(c.at()); !strings.Contains(shown, "the last step") {
			r.T.Errorf("the end is not shown: %.300s", shown)
		}
		r.Approve("ana", c.read().at())
		c.wantAnswer(bridge.JSONAnswer(`{"decision":"approve"}`))
	}},
	{"untrusted text is harmless", func(r *Rig) {
		c := r.ask(bridge.Request{Ask: bridge.Ask{
			Prompt: "@everyone @here <!channel> <@U0ANA00001> <@300000000000000001> @ana_tg " +
				"[bank](https://evil.example) [x](javascript:1) **b** `c` ```\n@everyone\n``` <b>x</b> \u202egnp\u200b",
			Questions: []bridge.Question{{ID: "q", Text: "@here <!here> _x_", Widget: bridge.WidgetButtons,
				Options: []bridge.Option{{Value: "b"}, {
					Value: "<!channel>", Label: "<!channel> @everyone :smile:", Description: "@everyone <@U0BO000002> *x*",
				}}}},
		}})
		c.harmless()
		if !strings.Contains(c.text(), "evil.example") {
			r.T.Errorf("the link does not show its address: %s", c.text())
		}
		if strings.ContainsAny(c.text(), "\u202e\u200b") {
			r.T.Errorf("control characters are shown: %q", c.text())
		}
		r.Press("ana", c.at(), "everyone")
		c.wantAnswer(bridge.TextAnswer("<!channel>"))
		c.closed("ana")
		c.harmless()
	}},
	{"the names of people are harmless", func(r *Rig) {
		c := r.ask(samples.Approval())
		hostile := bridge.Actor{Platform: bridge.PlatformAPI, User: "x", Person: "ana",
			Name: "@everyone <!here> <@U0BO000002>"}
		reply := bridge.Reply{Decision: bridge.DecideDeny, Reason: "@here <!channel>"}
		if _, err := r.Engine.Answer(r.Ctx, c.Interaction.ID, hostile, reply); err != nil {
			r.T.Fatal(err)
		}
		c.closed("Denied")
		c.harmless()
	}},
}

// longCommand returns an approval of a script with a number of lines.
func longCommand(lines int) bridge.Request {
	var b strings.Builder
	for n := range lines {
		b.WriteString(longLine(n) + "\n")
	}
	req := samples.Approval()
	req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, b.String())
	return req
}

func longLine(n int) string { return fmt.Sprintf("step %03d: rm -rf /data/%03d", n, n) }
