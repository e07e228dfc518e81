package bridge

// BatchDecisions are the decisions on offer for a batch as a unit. Tokens
// contain indexes into this list: only append to it.
var BatchDecisions = []Decision{DecideDeny, DecideOnce, DecideSession}

// All returns the decision of a control that decides a batch as a unit, or that
// opens the list of what it decides. It returns false for other controls.
func (c Control) All() (Decision, bool) {
	n := c.Option
	switch c.Action {
	case ActionAll:
	case ActionInput, ActionSubmit:
		n -= OptionAll
	default:
		return "", false
	}
	if n < 0 || n >= len(BatchDecisions) {
		return "", false
	}
	return BatchDecisions[n], true
}

// Terms returns the sum of the terms of a batch.
func Terms(batch []Record) byte {
	n := 0
	for _, r := range batch {
		n += r.Interaction.Terms
	}
	return byte(n)
}
