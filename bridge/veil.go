package bridge

import (
	"slices"
)

// Redactor hides credentials. It is safe for concurrent use.
type Redactor interface {
	// Redact returns the text with what is secret masked, else as it is.
	Redact(string) string
	// Secret reports whether a field of that name holds what is secret.
	Secret(name string) bool
}

// hiddenConfirm is what a person types to approve what they cannot see whole.
const hiddenConfirm = "hidden"

// GuardHidden takes away every way to approve by one click, and every standing
// approval, because a part of what is executed is hidden.
func (i *Interaction) GuardHidden() {
	a := i.Approval
	if i.Batch = 0; a.Confirm == "" {
		a.Confirm = hiddenConfirm
	}
	a.WithoutEdit()
	a.Scopes = []Scope{ScopeOnce}
	if len(a.Decisions) > 0 {
		a.Decisions = slices.DeleteFunc(slices.Clone(a.Decisions), func(d Decision) bool { return d.Approves() && d != DecideOnce })
		if !slices.Contains(a.Decisions, DecideOnce) {
			a.Decisions = append(a.Decisions, DecideOnce)
		}
	}
}
