package platformtest

import (
	"context"
	"sync"

	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Insist performs an action of a person, and fails the test if it is impossible.
func (r *Rig) Insist(who string, do func() (sandbox.Reaction, error)) sandbox.Reaction {
	r.T.Helper()
	return r.Must(r.insist(who, do))
}

// insist performs an action of a person. In a rig with an engine, it is repeated
// in the background as well.
func (r *Rig) insist(who string, do func() (sandbox.Reaction, error)) (sandbox.Reaction, error) {
	seen := person.Unrecorded(r.Sandbox, who, r.Harness.Name)
	reaction, err := person.Insist(patience, do)
	if err == nil && r.Engine != nil {
		ctx, cancel := context.WithTimeout(r.Ctx, patience)
		var wg sync.WaitGroup
		r.T.Cleanup(func() { cancel(); wg.Wait() })
		wg.Go(func() { person.Again(ctx, r.Sandbox, who, r.Harness.Name, seen, do) })
	}
	return reaction, err
}

// Press clicks a control.
func (r *Rig) Press(who string, at sandbox.Place, label string) sandbox.Reaction {
	r.T.Helper()
	r.Has(at, label)
	return r.Insist(who, func() (sandbox.Reaction, error) { return r.Sandbox.Person(who).Press(r.Ctx, at, label) })
}

// Fill clicks a control of a message, and submits the form that it opens.
func (r *Rig) Fill(who string, at sandbox.Place, label string, fields ...[]string) sandbox.Reaction {
	r.T.Helper()
	return r.Must(r.TryFill(who, at, label, fields...))
}

// TryFill is Fill for values that the form itself may refuse.
func (r *Rig) TryFill(who string, at sandbox.Place, label string, fields ...[]string) (sandbox.Reaction, error) {
	r.T.Helper()
	r.Has(at, label)
	p := r.Sandbox.Person(who)
	return r.insist(who, person.Form(patience,
		func() (sandbox.Reaction, error) { return p.Press(r.Ctx, at, label) },
		func(modal string) (sandbox.Reaction, error) { return p.Fill(r.Ctx, r.Harness.Name, modal, fields...) }))
}

// Refill submits a form that is still open.
func (r *Rig) Refill(who, modal string, fields ...[]string) sandbox.Reaction {
	r.T.Helper()
	return r.Insist(who, func() (sandbox.Reaction, error) {
		return r.Sandbox.Person(who).Fill(r.Ctx, r.Harness.Name, modal, fields...)
	})
}

// Pick chooses options of an input on the card itself, and submits them.
func (r *Rig) Pick(who string, at sandbox.Place, labels []string, submit string) sandbox.Reaction {
	r.T.Helper()
	return r.Insist(who, func() (sandbox.Reaction, error) { return r.Sandbox.Person(who).Pick(r.Ctx, at, labels, submit) })
}
