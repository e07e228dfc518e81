package bridge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxVariants limits the options of one kind that an agent offers.
const maxVariants = 9

// varied lists the decisions that an agent may offer several times under
// different names, because it remembers approvals itself.
var varied = []Decision{DecideDeny, DecideDenyAlways, DecideOnce, DecideSession, DecideAlways}

// Variant returns the n-th option of a decision, counted from 1. The first
// option is the decision itself. The second option of always is always:2.
func (d Decision) Variant(n int) Decision {
	if n <= 1 {
		return d
	}
	return d + Decision(":"+strconv.Itoa(n))
}

// Kind returns a decision without the number of its variant.
func (d Decision) Kind() Decision { return Decision(kindOfVariant(string(d))) }

// Kind returns a scope without the number of its variant.
func (s Scope) Kind() Scope { return Scope(kindOfVariant(string(s))) }

// Number returns the number of the variant of a scope, counted from 1.
func (s Scope) Number() int {
	_, n, _ := strings.Cut(string(s), ":")
	number, err := strconv.Atoi(n)
	if err != nil {
		return 1
	}
	return number
}

func kindOfVariant(s string) string {
	kind, _, _ := strings.Cut(s, ":")
	return kind
}

// known reports whether an approval may offer a decision.
func (a *Approval) known(d Decision) bool {
	if d.Kind() == d {
		return slices.Contains(allDecisions, d)
	}
	for n := 2; n <= maxVariants; n++ {
		if d == d.Kind().Variant(n) {
			return a.AgentRemembers && slices.Contains(varied, d.Kind())
		}
	}
	return false
}

// orderDecisions compares decisions by their kind, and then by their number.
func orderDecisions(x, y Decision) int {
	return cmp.Or(slices.Index(allDecisions, x.Kind())-slices.Index(allDecisions, y.Kind()), strings.Compare(string(x), string(y)))
}

// denied returns the scope of a denial: the variant of the decision, if any.
func (d Decision) denied() Scope {
	_, number, varied := strings.Cut(string(d), ":")
	switch {
	case d.Kind() == DecideDenyAlways && varied:
		return ScopeAlways + Scope(":"+number)
	case d.Kind() == DecideDenyAlways:
		return ScopeAlways
	case varied:
		return ScopeOnce + Scope(":"+number)
	}
	return ""
}

// OptionName returns the agent's name for a decision. It returns "" unless the
// agent offers several decisions of its kind.
func (r Ask) OptionName(d Decision) string {
	same := 0
	for _, other := range r.Decisions() {
		if other.Kind() == d.Kind() {
			same++
		}
	}
	if same < 2 {
		return ""
	}
	return r.Approval.ScopeNotes[Scope(d)]
}
