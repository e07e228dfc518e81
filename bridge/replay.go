package bridge

import (
	"encoding/json"
	"slices"
)

// Replay rebuilds records from their events. The zero value is ready to use.
type Replay struct {
	order   []ID
	records map[ID]*Record
}

// Add applies the next event. The events of a session must be added in order.
// Events of an interaction that was opened before the first event are ignored.
func (p *Replay) Add(e Event) error {
	if p.records == nil {
		p.records = map[ID]*Record{}
	}
	if e.Type == EventRequest {
		r := &Record{State: StatePending}
		if err := json.Unmarshal(e.Data, &r.Interaction); err != nil {
			return Wrap(CodeInvalid, err, "event %s of %s", e.Type, e.InteractionID)
		}
		r.Interaction.Stated = Times{r.Interaction.Created, r.Interaction.Deadline}
		// These are times of the store's clock.
		r.Interaction.Deadline = e.Timestamp.Add(r.Interaction.Deadline.Sub(r.Interaction.Created))
		r.Interaction.Created = e.Timestamp
		if p.records[e.InteractionID] == nil {
			p.order = append(p.order, e.InteractionID)
		}
		p.records[e.InteractionID] = r
		return nil
	}
	r := p.records[e.InteractionID]
	if r == nil {
		return nil
	}
	if err := r.apply(e); err != nil {
		return Wrap(CodeInvalid, err, "event %s of %s", e.Type, e.InteractionID)
	}
	return nil
}

func (r *Record) apply(e Event) error {
	switch e.Type {
	case EventResponse:
		r.Response = &Response{}
		if err := json.Unmarshal(e.Data, r.Response); err != nil {
			return err
		}
		r.State = e.State
	case EventPosted, EventFailed:
		return r.applyDelivery(e)
	case EventDelivered:
		r.Delivered = e.Timestamp
	case EventQueued:
		r.Queued = e.Timestamp
	case EventJoined:
		r.Joined++
	case EventWidened:
		return r.applyChange(e)
	case EventVoted:
		var v Vote
		if err := json.Unmarshal(e.Data, &v); err != nil {
			return err
		}
		r.Votes = append(slices.DeleteFunc(r.Votes, func(was Vote) bool { return was.Actor.Same(v.Actor) }), v)
	case EventReprompted:
		return json.Unmarshal(e.Data, &r.Next)
	case EventCompleted:
		r.Completion = &Completion{}
		return json.Unmarshal(e.Data, r.Completion)
	}
	return nil
}

// applyChange replaces the interaction with its changed form, which keeps its
// times.
func (r *Record) applyChange(e Event) error {
	created, deadline := r.Interaction.Created, r.Interaction.Deadline
	if err := json.Unmarshal(e.Data, &r.Interaction); err != nil {
		return err
	}
	r.Interaction.Stated = Times{r.Interaction.Created, r.Interaction.Deadline}
	r.Interaction.Created, r.Interaction.Deadline = created, deadline
	return nil
}

func (r *Record) applyDelivery(e Event) error {
	var d Delivery
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	if d.Message != nil {
		if r.Messages == nil {
			r.Messages = map[int]MessageRef{}
		}
		r.Messages[d.Destination] = *d.Message
		return nil
	}
	if r.Failures == nil {
		r.Failures = map[int]string{}
	}
	r.Failures[d.Destination] = d.Reason
	return nil
}

// Records returns the records after the events so far, in the order in which
// they were opened.
func (p *Replay) Records() []Record {
	out := make([]Record, 0, len(p.order))
	for _, id := range p.order {
		out = append(out, *p.records[id])
	}
	return out
}
