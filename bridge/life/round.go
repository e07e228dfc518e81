package life

import (
	"github.com/nodbridge/nod/bridge"
)

// follow makes a new interaction the next round of the previous one.
func (out *Opened) follow(o *Opening, t *Turn) {
	if o.Previous == nil {
		return
	}
	prev := o.Previous.Begin(t.now, t.retention)
	prev.applyDeadline()
	prev.Life.Next, prev.changedLife = t.ID, true
	prev.editAll(closeDelay) // no further card may be created in the meantime
	if o.Interaction.Root != "" {
		for n, c := range prev.Cards {
			if c.Message == nil {
				continue
			}
			ref := *c.Message
			t.show(n, func(c *Card) { c.Message = &ref })
			delete(t.Life.Failures, n)
		}
	}
	if prev.pending() {
		prev.resolve(o.Superseded, t.now, "reprompt")
	} else if o.Interaction.Root == "" {
		prev.bump() // the messages of the previous round show that a follow-up exists
	}
	prev.event(bridge.EventReprompted, prev.state(), data(string(t.ID)))
	out.Others = append(out.Others, prev)
	if o.Interaction.Root == "" {
		return
	}
	root := prev
	if o.Root != nil && o.Root.ID != prev.ID {
		root = o.Root.Begin(t.now, t.retention)
		out.Others = append(out.Others, root)
	}
	root.Life.Head, root.changedLife = t.ID, true
	root.keepUntil(t.Body.Deadline.Add(bridge.MaxTimeout + t.retention)) // the first round names the round that the messages show
}
