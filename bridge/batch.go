package bridge

// BatchDecisions are what can be decided for all of a batch at once. Their
// order is part of tokens: only append.
var BatchDecisions = []Decision{DecideDeny, DecideOnce, DecideSession}

// Terms is the sum of the terms of a batch.
func Terms(batch []Record) byte {
	n := 0
	for _, r := range batch {
		n += r.Interaction.Terms
	}
	return byte(n)
}
