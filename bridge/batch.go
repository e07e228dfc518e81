package bridge

// BatchDecisions are the decisions on offer for a batch as a unit. Tokens
// contain indexes into this list: only append to it.
var BatchDecisions = []Decision{DecideDeny, DecideOnce, DecideSession}

// Terms returns the sum of the terms of a batch.
func Terms(batch []Record) byte {
	n := 0
	for _, r := range batch {
		n += r.Interaction.Terms
	}
	return byte(n)
}
