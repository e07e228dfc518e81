package proof

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// verifyJournal checks the order, the hashes, the seals and the counts of a
// journal.
func (c *auditChain) verifyJournal(partition int, chains auditChains, report *AuditReport) {
	slices.SortStableFunc(c.seals, func(a, b Seal) int {
		return cmp.Or(bridge.CompareEntries(a.Entry, b.Entry), trimmedFirst(a, b))
	})
	last, seals := c.startOfJournal(partition, chains, report)
	start, sealed := last.Entry, last
	report.Seals += len(c.seals)
	check := func(s Seal) {
		switch {
		case s.N > last.N:
			report.at(partition, s.Entry, "does not match its seal: "+strconv.FormatInt(s.N-last.N, 10)+" entries up to this one were removed")
		case s.N != last.N || s.Hash != last.Hash:
			report.at(partition, s.Entry, "does not match its seal: this entry or an earlier one was changed, moved or added")
		}
		sealed, last.N, last.Hash = s, s.N, s.Hash // one problem is reported once
	}
	for _, a := range c.entries {
		for ; len(seals) > 0 && bridge.CompareEntries(seals[0].Entry, a.Entry) < 0; seals = seals[1:] {
			check(seals[0])
		}
		if bridge.CompareEntries(a.Entry, last.Entry) <= 0 {
			report.at(partition, a.Entry, "is out of order, or there are two of it")
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
	c.verifyCounts(partition, start, sealed, after, report)
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

// startOfJournal returns the state before the first entry, and the seals that
// follow it.
func (c *auditChain) startOfJournal(partition int, chains auditChains, report *AuditReport) (Seal, []Seal) {
	if len(c.seals) == 0 {
		return Seal{}, nil
	}
	first := c.seals[0]
	for _, s := range c.seals[1:] {
		if s.Before != first.Before || s.Linked != first.Linked {
			report.at(partition, s.Entry, "has a seal with another start than the seals before it")
		}
	}
	old := chains[bridge.AuditPart{Partition: partition, Linked: true}]
	if end := old.end(); end < first.Linked {
		report.problem(partition, first.Linked, "was sealed but is missing: the end of the log before the journal was removed")
	} else if first.Linked > 0 {
		if h, known := old.hashAt(first.Linked); known && h != first.Before {
			report.problem(partition, first.Linked, "is not the entry that the journal follows: it or an earlier one was changed")
		}
	}
	if n := lastTrimmed(c.seals); n >= 0 {
		return c.seals[n], c.seals[n+1:]
	}
	return Seal{Hash: first.Before}, c.seals
}

// end returns the number of the last entry of a linked log, or of the last one
// that was trimmed if there are no others. It returns 0 for no log.
func (c *auditChain) end() int64 {
	switch {
	case c == nil:
		return 0
	case len(c.entries) > 0:
		return c.entries[len(c.entries)-1].N
	}
	if n := lastTrimmed(c.seals); n >= 0 {
		return c.seals[n].N
	}
	return 0
}

// hashAt returns the hash of a linked log up to entry n, if it is known.
func (c *auditChain) hashAt(n int64) (string, bool) {
	hash, known := "", len(c.entries) > 0 && c.entries[0].N <= 1
	at := int64(0)
	for _, s := range c.seals {
		if s.Trimmed && (len(c.entries) == 0 || s.N == c.entries[0].N-1) {
			hash, known, at = s.Hash, true, s.N
		}
	}
	if at == n && known {
		return hash, true
	}
	for _, a := range c.entries {
		if hash = HashAfter(a, hash); a.N == n {
			return hash, known
		}
	}
	return "", false
}

// verifyCounts checks that no entry was deleted, with what Redis counted. After
// is the number of entries after the last seal.
func (c *auditChain) verifyCounts(partition int, start string, sealed Seal, after int64, report *AuditReport) {
	if c.counts == nil || c.counts.Added == 0 {
		report.Uncounted++
		return
	}
	from := start
	if from == "" && len(c.entries) > 0 {
		from = c.entries[0].Entry
	}
	if d := c.counts.Deleted; bridge.CompareEntries(d, from) > 0 {
		report.at(partition, d, "was deleted, or an earlier one was")
	}
	if sealed.Added == 0 {
		return // nothing was sealed yet
	}
	if missing := c.counts.Added - sealed.Added - after; missing > 0 {
		report.at(partition, sealed.Entry, "is followed by fewer entries than were added ("+strconv.FormatInt(missing, 10)+" deleted before they were sealed)")
	}
}
