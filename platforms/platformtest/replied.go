package platformtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// replied contains the flows in which people answer a request with a reply to
// its card. They run on services that support such replies.
var replied = []flow{
	{"a reply to a card is the answer", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetText)).read()
		r.Has(c.at(), render.LabelAnswer) // the only control that leads to the answer
		if strings.Contains(strings.ToLower(c.text()), "reply to this message") {
			r.T.Errorf("the card names two ways to answer: %s", c.text())
		}
		r.Reply("ana", c.at(), "by a reply")
		c.wantAnswer(bridge.TextAnswer("by a reply"))
		c.closed("ana", "by a reply")
		r.Reply("bo", c.at(), "too late")
		c.privately("bo", "ana")
	}},
	{"a reply of someone else has no effect", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetText)).read()
		r.Reply("mal", c.at(), "from mal")
		c.privately("mal", "Nothing was recorded")
		c.pending()
		r.Reply("ana", c.at(), "from ana")
		c.wantAnswer(bridge.TextAnswer("from ana"))
	}},
	{"a bad reply is refused", func(r *Rig) {
		req := samples.One(bridge.WidgetNumber)
		req.Questions[0].Max = new(9.0)
		c := r.ask(req).read()
		r.Reply("ana", c.at(), "12")
		r.replied("Reply to the card again")
		c.pending()
		r.Reply("ana", c.at(), "7")
		c.wantAnswer(bridge.JSONAnswer("7"))
	}},
	{"a reply to a card never answers its follow-up", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetText)).read()
		r.Reply("ana", c.at(), "first")
		c.end()
		c.closed("first")
		next := bridge.Request{Ask: bridge.Ask{Prompt: "And now?", Error: "that was not enough"}}
		rec, err := r.Engine.Reprompt(r.Ctx, r.agent, c.Interaction.ID, next, "")
		if err != nil {
			r.T.Fatal(err)
		}
		c.Record.Interaction = rec.Interaction
		r.Says(c.at(), "that was not enough")
		r.Reply("bo", c.at(), "for the first question")
		c.privately("bo", "again")
		c.pending()
	}},
	{"a reply to an approval decides nothing", func(r *Rig) {
		c := r.ask(samples.Approval()).read()
		r.Reply("ana", c.at(), "yes")
		r.Press("ana", c.at(), render.LabelDeny)
		if got := c.end(); got.State != bridge.StateDenied {
			r.T.Errorf("state %s", got.State)
		}
	}},
	{"a reply finds an option of a long list", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetSelect, cities()...)).read()
		r.Reply("ana", c.at(), "Nowhere")
		r.replied(`No option starts with "Nowhere"`)
		r.Reply("ana", c.at(), "city 1")
		r.replied("11 options start with this text: City 1 and more, City 10")
		c.pending()
		r.Reply("ana", c.at(), "city 23")
		r.Has(c.at(), "City 23")
		r.Reply("mal", c.at(), "City 2")
		c.privately("mal", "Nothing was recorded")
		r.Press("ana", c.at(), "OK")
		c.wantAnswer(bridge.TextAnswer("v23"))
	}},
	{"a reply does not answer what one click answers", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetButtons, cities()...)).read()
		r.Reply("ana", c.at(), "City 23")
		r.Has(c.at(), "City 23")
		c.pending()
		r.Press("ana", c.at(), "City 23")
		c.wantAnswer(bridge.TextAnswer("v23"))
	}},
}

// replied waits until the chat says words.
func (r *Rig) replied(words string) {
	r.T.Helper()
	r.Eventually("the chat says "+words, func() bool { return r.Replied(r.Harness.Name, words) })
}

// privately waits until a person's private chat contains words, and checks that
// no message after the card does.
func (c Card) privately(who, words string) {
	r := c.r
	r.T.Helper()
	said := func(chat string, after int) bool {
		return slices.ContainsFunc(r.Hands.Messages(r.Harness.Name, chat), func(m map[string]any) bool {
			id, _ := m["message_id"].(float64)
			return int(id) > after && strings.Contains(sandbox.Texts(m), words)
		})
	}
	r.Eventually(who+" is told "+words, func() bool { return said(r.account(who), 0) })
	card, err := strconv.Atoi(c.at().Message)
	if err != nil || said(r.Harness.Channel, card) {
		r.T.Errorf("everyone reads what is only for %s", who)
	}
}

// cities returns the options of a long list.
func cities() []bridge.Option {
	var out []bridge.Option
	for n := range 26 {
		out = append(out, bridge.Option{Value: fmt.Sprintf("v%d", n), Label: fmt.Sprintf("City %d", n)})
	}
	out[1].Label = "City 1 and more"
	return out
}
