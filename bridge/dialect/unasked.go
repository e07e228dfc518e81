package dialect

// Unasked describes a request of an agent that no person has decided through
// nod, because nod failed or cannot show it.
type Unasked struct {
	// Gate is set if the agent does what it asks for unless nod decides.
	Gate bool
	// Unshown is set if nod works, and refused what the agent sent.
	Unshown bool
	// Attended is set if someone may decide at the agent's own terminal, editor
	// or client.
	Attended bool
	// Stopped is set if a person has stopped the session, or if that is not known
	// at a gate.
	Stopped bool
}

// Leaves reports whether the request is left to whoever is at the agent's own
// terminal, editor or client. Otherwise it is refused with the reason. It is
// never answered in the name of a person. All entry points use this rule.
func (u Unasked) Leaves() bool { return u.Attended && !u.Stopped && (u.Unshown || !u.Gate) }
