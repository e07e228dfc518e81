package platformtest

import (
	"strings"
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// together contains the flows with several people.
var together = []flow{
	{"of those who click at the same moment, one wins", func(r *Rig) {
		for range 5 {
			c := r.ask(samples.Approval()).read()
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

// count returns the number of messages in a channel that contain all the words.
func (r *Rig) count(at sandbox.Place, words ...string) int {
	n := 0
	for _, m := range r.Hands.Messages(at.Service, at.Channel) {
		if says(sandbox.Texts(m), words) {
			n++
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
