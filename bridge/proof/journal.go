package proof

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// verify checks the order, the hashes, the seals and the counts of the journal.
func (c *auditChain) verify(report *AuditReport) {
	slices.SortStableFunc(c.seals, func(a, b Seal) int {
		return cmp.Or(bridge.CompareEntries(a.Entry, b.Entry), trimmedFirst(a, b))
	})
	last, seals := c.start()
	start, sealed := last.Entry, last
	report.Seals += len(c.seals)
	check := func(s Seal) {
		switch {
		case s.N > last.N:
			report.problem(s.Entry, "does not match its seal: "+strconv.FormatInt(s.N-last.N, 10)+" entries up to this one were removed")
		case s.N != last.N || s.Hash != last.Hash:
			report.problem(s.Entry, "does not match its seal: this entry or an earlier one was changed, moved or added")
		}
		sealed, last.N, last.Hash = s, s.N, s.Hash // report each problem only once
	}
	for _, a := range c.entries {
		for ; len(seals) > 0 && bridge.CompareEntries(seals[0].Entry, a.Entry) < 0; seals = seals[1:] {
			check(seals[0])
		}
		if bridge.CompareEntries(a.Entry, last.Entry) <= 0 {
			report.problem(a.Entry, "is out of order or duplicated")
		}
		if last.Entry = a.Entry; a.Type != bridge.AuditEvent {
			report.Entries++
			last.N, last.Hash = last.N+1, HashAfter(a, last.Hash)
		}
	}
	for _, s := range seals {
		check(s)
	}
	after := int64(0)
	for _, a := range c.entries {
		if bridge.CompareEntries(a.Entry, sealed.Entry) > 0 {
			if after++; a.Type != bridge.AuditEvent {
				report.Unsealed++
			}
		}
	}
	c.verifyCounts(start, sealed, after, report)
}

// trimmedFirst orders two seals of the same entry.
func trimmedFirst(a, b Seal) int {
	switch {
	case a.Trimmed == b.Trimmed:
		return 0
	case a.Trimmed:
		return -1
	}
	return 1
}

// start returns the state before the first entry, and the remaining seals.
func (c *auditChain) start() (Seal, []Seal) {
	n := lastTrimmed(c.seals)
	if n < 0 {
		return Seal{}, c.seals
	}
	return c.seals[n], c.seals[n+1:]
}

// lastTrimmed returns the index of the last seal that was created by a trim, or
// -1.
func lastTrimmed(seals []Seal) int {
	for n := len(seals) - 1; n >= 0; n-- {
		if seals[n].Trimmed {
			return n
		}
	}
	return -1
}

// verifyCounts uses the counts of Redis to check that no entry was deleted.
// After is the number of entries after the last seal.
func (c *auditChain) verifyCounts(start string, sealed Seal, after int64, report *AuditReport) {
	if c.counts == nil || c.counts.Added == 0 {
		report.Uncounted = true
		return
	}
	from := start
	if from == "" && len(c.entries) > 0 {
		from = c.entries[0].Entry
	}
	if d := c.counts.Deleted; bridge.CompareEntries(d, from) > 0 {
		report.problem(d, "was deleted, or an earlier one was")
	}
	if sealed.Added == 0 {
		return // nothing was sealed yet
	}
	if missing := c.counts.Added - sealed.Added - after; missing > 0 {
		report.problem(sealed.Entry, "is followed by fewer entries than were added ("+strconv.FormatInt(missing, 10)+" deleted before they were sealed)")
	}
}
