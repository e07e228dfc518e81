package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// A decider checks what a person does before it counts. A verdict is the reply to what
// does not count, and ends the checks.
type decider[T any] struct {
	name   string
	decide func(context.Context, *T) (*bridge.Verdict, error)
}

// checked runs deciders in their order, until one objects.
func checked[T any](ctx context.Context, all []decider[T], it *T) (*bridge.Verdict, error) {
	for _, d := range all {
		if v, err := d.decide(ctx, it); v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil //nolint:nilnil // no objection
}

// deciders returns what is checked of every click, in this order.
func (cl *clicks) deciders() []decider[admitted] {
	return []decider[admitted]{
		{"nod made the control, and it belongs to the card", cl.locate},
		{"the person may answer", cl.admitPerson},
		{"the chosen options exist", chosen},
		{"the card shows everything that it decides", cl.shown},
		{"the card shows the current terms", cl.outdated},
	}
}

// deciders returns what is checked of every decision, in this order. If the request was
// amended in the meantime, everything is checked again.
func (s *settler) deciders() []decider[attempt] {
	return []decider[attempt]{
		{"the terms are those that the person saw", s.sameTerms},
		{"the current config lets the person approve it", s.current},
		{"an edited input may be approved here", s.fits},
		{"earlier approvals still count", s.recounted},
		{"the person has given the proof that it requires", s.proven},
	}
}
