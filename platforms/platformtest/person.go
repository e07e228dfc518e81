package platformtest

import (
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Must fails the test if an action was impossible, not answered or not recorded.
func (r *Rig) Must(reaction sandbox.Reaction, err error) sandbox.Reaction {
	r.T.Helper()
	if r.failing {
		return person.Answered(r.T, reaction, err)
	}
	return person.Did(r.T, reaction, err)
}

// unrecorded runs do while the sink of the test fails, so people read that nod
// did not record their actions.
func (r *Rig) unrecorded(do func()) {
	r.failing = true
	defer func() { r.failing = false }()
	do()
}

// Press clicks a control.
func (r *Rig) Press(who string, at sandbox.Place, label string) sandbox.Reaction {
	r.T.Helper()
	r.Has(at, label)
	return r.Must(r.Sandbox.Person(who).Press(r.Ctx, at, label))
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
	return person.Form(
		func() (sandbox.Reaction, error) { return p.Press(r.Ctx, at, label) },
		func(modal string) (sandbox.Reaction, error) { return p.Fill(r.Ctx, r.Harness.Name, modal, fields...) })
}

// Refill submits a form that is still open.
func (r *Rig) Refill(who, modal string, fields ...[]string) sandbox.Reaction {
	r.T.Helper()
	return r.Must(r.Sandbox.Person(who).Fill(r.Ctx, r.Harness.Name, modal, fields...))
}

// Pick chooses options of an input on the card itself, and submits them.
func (r *Rig) Pick(who string, at sandbox.Place, labels []string, submit string) sandbox.Reaction {
	r.T.Helper()
	return r.Must(r.Sandbox.Person(who).Pick(r.Ctx, at, labels, submit))
}
