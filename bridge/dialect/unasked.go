package dialect

// Unasked describes a request of an agent that no person has decided through
// nod, because nod failed or cannot show it.
type Unasked struct {
	// Gate is set if the agent continues unless nod denies.
	Gate bool
	// Unshown is set if nod is available, but refused the agent's message.
	Unshown bool
	// Attended is set if someone may decide at the agent's own terminal, editor
	// or client.
	Attended bool
	// Stopped is set if a person has stopped the session, or if the state of
	// the session is unknown at a gate.
	Stopped bool
}

// Leaves reports whether the person at the agent's own terminal, editor or
// client decides on the request. Otherwise, nod refuses it with the reason. nod
// never answers it on behalf of a person. All entry points use this rule.
func (u Unasked) Leaves() bool { return u.Attended && !u.Stopped && (u.Unshown || !u.Gate) }
