package platformtest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// together contains the flows with several requests or several people.
var together = []flow{
	{"a batch is decided one by one", func(r *Rig) {
		all := r.batch(3)
		r.Press("ana", all[0].at(), all[0].label("Run"))
		if got := all[0].end(); got.State != bridge.StateApproved {
			r.T.Errorf("the first is %s", got.State)
		}
		for _, c := range all[1:] {
			if rec, err := r.Engine.Get(r.Ctx, c.Interaction.ID); err != nil || rec.State != bridge.StatePending {
				r.T.Errorf("another one is %s, %v", rec.State, err)
			}
			c.elsewhere("bo", bridge.Reply{Decision: bridge.DecideDeny})
		}
		all[0].closed("of 3 decided")
	}},
	{"a batch is decided at once", func(r *Rig) {
		all := r.batch(4)
		all[2].elsewhere("bo", bridge.Reply{Decision: bridge.DecideDeny})
		r.Says(all[0].at(), "Denied")
		text := r.Decide("ana", all[0].at(), "Run all 3…")
		for word, listed := range map[string]bool{"make step1": true, "make step3": false, "make step4": true} {
			if strings.Contains(text, word) != listed {
				r.T.Errorf("%s listed: %t\n%s", word, !listed, text)
			}
		}
		for k, c := range all {
			want := bridge.StateApproved
			if k == 2 {
				want = bridge.StateDenied
			}
			if got := c.end(); got.State != want {
				r.T.Errorf("number %d is %s", k+1, got.State)
			}
		}
		all[0].closed("4 of 4 decided")
	}},
	{"of those who click at the same moment, one wins", func(r *Rig) {
		for range 5 {
			c := r.ask(approval()).read()
			labels := map[string]string{"ana": render.LabelRun, "bo": render.LabelDeny, "cy": render.LabelRun}
			var clicks []sandbox.Action
			for who, label := range labels {
				clicks = append(clicks, c.holding(label, who))
			}
			var wg sync.WaitGroup
			for _, click := range clicks {
				wg.Go(func() { r.act(click) })
			}
			wg.Wait()
			got := c.end()
			approved := got.State == bridge.StateApproved
			if by := got.Response.Actor.Person; approved != (labels[by] == render.LabelRun) {
				r.T.Errorf("%s by %s", got.State, by)
			}
			c.closed(got.Response.Actor.Person)
		}
	}},
}

// label returns the label of a control of one approval in a batch. Platforms
// number the controls or have a row for each approval.
func (c Card) label(label string) string {
	c.r.T.Helper()
	for _, control := range c.controls() {
		if control.Label == label+" 1" {
			return control.Label
		}
	}
	return label // of the first row
}

// batch opens a number of approvals of one session and waits until one message
// shows all of them. The first card is the first in the message.
func (r *Rig) batch(n int) []Card {
	r.T.Helper()
	session := newSession()
	var out []Card
	for k := range n {
		req := approval(bridge.ScopeOnce, bridge.ScopeSession)
		req.Session, req.Batch = session, bridge.Duration(400*time.Millisecond)
		req.Approval.Input = fmt.Appendf(nil, `{"command":"make step%d"}`, k+1)
		rec, err := r.Engine.Open(r.Ctx, r.agent, req, "")
		if err != nil {
			r.T.Fatal(err)
		}
		out = append(out, Card{rec, r})
	}
	first := r.posted(out[0].Interaction.ID)
	for k := range out {
		out[k].Messages = first.Messages
		r.Says(first.at(), fmt.Sprintf("make step%d", k+1))
	}
	if got := r.count(first.at(), session, "make step"); got != 1 {
		r.T.Errorf("%d messages for one batch", got)
	}
	return out
}

// count returns the number of messages in a channel that contain all the words.
func (r *Rig) count(at sandbox.Place, words ...string) int {
	n := 0
	st := r.Sandbox.State()
	for _, chats := range [][]sandbox.ChatState{st.Slack.Channels, st.Discord.Channels, st.Telegram.Chats} {
		for _, chat := range chats {
			if chat.ID != at.Channel {
				continue
			}
			for _, m := range chat.Messages {
				if says(sandbox.Texts(m), words) {
					n++
				}
			}
		}
	}
	return n
}

func says(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
