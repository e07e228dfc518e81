package proof

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// AuditLine is one line of an exported log: an entry, a seal, or the counts of
// a journal.
type AuditLine struct {
	bridge.AuditEntry
	// Seal is a signed seal. If it is empty and the type is not "counts", the
	// line is an entry.
	Seal string `json:"seal,omitempty"`
	// Added and Deleted are the counts of a journal; see [bridge.AuditCounts].
	Added   int64  `json:"added,omitempty"`
	Deleted string `json:"deleted,omitempty"`
}

// IsEntry reports whether the line is an entry of the audit log: no seal, no
// counts, and no event.
func (l AuditLine) IsEntry() bool {
	return l.Seal == "" && !l.isCounts() && l.Type != bridge.AuditEvent
}

// isCounts reports whether the line has the counts of a journal. An entry, whose
// type someone may have written, does not.
func (l AuditLine) isCounts() bool {
	return l.Type == auditCounts && l.Seal == "" && l.Entry == "" && l.N == 0
}

// auditCounts is the type of a line with the counts of a journal.
const auditCounts bridge.AuditType = "counts"

// CountsLine returns the line with the counts of a journal. It must have been
// read after the seals and before the entries of an export.
func CountsLine(partition int, c bridge.AuditCounts) AuditLine {
	return AuditLine{AuditEntry: bridge.AuditEntry{Partition: partition, Type: auditCounts}, Added: c.Added, Deleted: c.Deleted}
}

// EntryLine returns the line with an entry. Of an event, it has only the ID. Data
// that is not JSON, which no daemon writes, becomes a string, so that the rest of
// the log can be exported and verified.
func EntryLine(e bridge.AuditEntry) AuditLine {
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		e.Data, _ = json.Marshal(string(e.Data)) // a string can be encoded
	}
	if e.Type == bridge.AuditEvent {
		e = bridge.AuditEntry{Partition: e.Partition, Entry: e.Entry, Type: e.Type}
	}
	return AuditLine{AuditEntry: e}
}

// AuditReport is the result of checking an exported log.
type AuditReport struct {
	Entries int64 `json:"entries"`
	Seals   int   `json:"seals"`
	// Unsealed is the number of entries after the last seal of their log.
	Unsealed int64 `json:"unsealed"`
	// Uncounted is the number of journals without counts. In those, it is not
	// found that an entry was deleted before it was sealed.
	Uncounted int `json:"uncounted,omitempty"`
	// Unproven is the number of entries of an earlier version, which wrote
	// no proofs.
	Unproven int64 `json:"unproven,omitempty"`
	// Problems describes what was removed, changed, reordered or forged.
	Problems []string `json:"problems"`
}

func (r *AuditReport) problem(partition int, n int64, what string) {
	r.at(partition, strconv.FormatInt(n, 10), what)
}

// at adds a problem of an entry with an ID or a number.
func (r *AuditReport) at(partition int, entry, what string) {
	r.Problems = append(r.Problems, "partition "+strconv.Itoa(partition)+", entry "+entry+": "+what)
}

// maxAuditLine is the maximum length of a line, in bytes.
const maxAuditLine = 4 << 20

// auditChain is one log of a partition.
type auditChain struct {
	entries []bridge.AuditEntry
	seals   []Seal
	counts  *AuditLine
}

// auditChains are the logs of an export.
type auditChains map[bridge.AuditPart]*auditChain

func (cs auditChains) of(part bridge.AuditPart) *auditChain {
	c := cs[part]
	if c == nil {
		c = &auditChain{}
		cs[part] = c
	}
	return c
}

// add adds a line to its log.
func (cs auditChains) add(l AuditLine, keys JWKS, report *AuditReport) {
	part := bridge.AuditPart{Partition: l.Partition, Linked: l.Entry == "" && !l.isCounts()}
	c := cs.of(part)
	switch {
	case l.isCounts():
		if c.counts != nil {
			report.problem(l.Partition, 0, "is followed by other counts than those before")
		}
		c.counts = &l
	case l.Seal == "":
		c.entries = append(c.entries, l.AuditEntry)
	default:
		s, err := keys.VerifySeal(l.Seal)
		if err != nil || s.Partition != l.Partition {
			report.problem(l.Partition, l.N, "invalid seal: "+bridge.PublicError(errors.Join(err)).Message)
			return
		}
		part.Linked = s.Entry == ""
		c = cs.of(part)
		c.seals = append(c.seals, s)
	}
}

// VerifyAudit checks an exported log with public keys, and that it contains the
// decisions of the given receipts. It returns an error only for input that it
// cannot parse.
func VerifyAudit(r io.Reader, keys JWKS, receipts ...Receipt) (AuditReport, error) {
	report := AuditReport{Problems: []string{}}
	chains := auditChains{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxAuditLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var l AuditLine
		if err := oneReading.DecodeKnown(bytes.TrimSpace(lines.Bytes()), &l); err != nil {
			return report, bridge.Errorf(bridge.CodeInvalid, "line %d: %v", n, err)
		}
		chains.add(l, keys, &report)
	}
	if err := lines.Err(); err != nil {
		return report, bridge.Wrap(bridge.CodeInvalid, err, "audit log")
	}
	seen := map[string]bool{}
	for _, part := range slices.SortedFunc(maps.Keys(chains), inOrder) {
		c := chains[part]
		if part.Linked {
			c.verify(part.Partition, &report)
		} else {
			c.verifyJournal(part.Partition, chains, &report)
		}
		c.verifyProofs(part.Partition, keys, seen, &report)
	}
	for _, r := range receipts {
		checkReceipt(chains, keys, r, &report)
	}
	return report, nil
}

// inOrder orders logs by partition, the linked one first.
func inOrder(a, b bridge.AuditPart) int {
	if a.Partition != b.Partition || a.Linked == b.Linked {
		return a.Partition - b.Partition
	}
	if a.Linked {
		return -1
	}
	return 1
}

// verify checks numbers, links and seals of a linked log.
func (c *auditChain) verify(partition int, report *AuditReport) {
	report.Entries += int64(len(c.entries))
	report.Seals += len(c.seals)
	slices.SortStableFunc(c.seals, func(a, b Seal) int { return int(a.N - b.N) })
	last, known, seals := c.start(partition, report)
	sealed := int64(0)
	for k, a := range c.entries {
		if a.N != last.N+1 {
			report.problem(partition, a.N, "is out of order: entry "+strconv.FormatInt(last.N+1, 10)+" was removed or moved")
		}
		if (k > 0 || known) && a.Link != LinkAfter(a, last.Link) {
			report.problem(partition, a.N, "was changed, or the entry before it was")
		}
		last.N, last.Link, last.Hash = a.N, a.Link, HashAfter(a, last.Hash)
		for len(seals) > 0 && seals[0].N <= a.N {
			s := seals[0]
			seals = seals[1:]
			if known && s.contradicts(last) {
				report.problem(partition, a.N, "does not match its seal: this entry or an earlier one was changed")
			}
			sealed = max(sealed, s.N)
		}
	}
	for _, s := range seals {
		report.problem(partition, s.N, "was sealed but is missing: the end of the log was removed")
	}
	if n := int64(len(c.entries)); n > 0 {
		report.Unsealed += min(n, last.N-sealed)
	}
}

// start returns the state before the first entry, whether its link and hash are
// known, and the seals that follow it.
func (c *auditChain) start(partition int, report *AuditReport) (last Seal, known bool, seals []Seal) {
	switch {
	case len(c.entries) == 0: // all of them outlived their retention
		return Seal{}, true, c.seals[1+lastTrimmed(c.seals):]
	case c.entries[0].N <= 1:
		return Seal{}, true, c.seals
	}
	first := c.entries[0].N // older entries were removed after their retention
	n := slices.IndexFunc(c.seals, func(s Seal) bool { return s.Trimmed && s.N == first-1 })
	if n < 0 {
		report.problem(partition, first, "is not the first entry: the entries before it were removed")
		return Seal{N: first - 1}, false, c.seals
	}
	return c.seals[n], true, c.seals[n+1:]
}

// contradicts reports whether a seal of the same entry as another one has other
// hashes.
func (s Seal) contradicts(other Seal) bool {
	return s.N == other.N && (s.Hash != other.Hash || s.Link != other.Link)
}

// lastTrimmed returns the index of the last seal that was made when older
// entries were removed, or -1.
func lastTrimmed(seals []Seal) int {
	for n := len(seals) - 1; n >= 0; n-- {
		if seals[n].Trimmed {
			return n
		}
	}
	return -1
}

// verifyProofs checks that a daemon wrote each entry about an action, and that
// no entry is repeated. Entries of an earlier version have no proof. They must
// come before all entries with one.
func (c *auditChain) verifyProofs(partition int, keys JWKS, seen map[string]bool, report *AuditReport) {
	proven := false
	if len(c.seals) > 0 && c.seals[0].Proven {
		s := c.seals[0]
		proven = len(c.entries) == 0 || s.Entry == "" && s.N < c.entries[0].N ||
			s.Entry != "" && bridge.CompareEntries(s.Entry, c.entries[0].Entry) < 0
	}
	for _, a := range c.entries {
		if a.Type == bridge.AuditEvent {
			continue
		}
		ev, why := keys.EntryProblem(a, proven)
		switch {
		case why != "":
			report.at(partition, name(a), why)
		case ev.Needed && !ev.Good:
			report.Unproven++
		}
		proven = proven || ev.Good
		if ev.unique != "" && seen[ev.unique] {
			report.at(partition, name(a), "repeats an earlier entry")
		}
		seen[ev.unique] = true
	}
}

// name returns the ID or the number of an entry.
func name(a bridge.AuditEntry) string {
	if a.Entry != "" {
		return a.Entry
	}
	return strconv.FormatInt(a.N, 10)
}

// checkReceipt checks that the log has the entry of a receipt.
func checkReceipt(chains auditChains, keys JWKS, r Receipt, report *AuditReport) {
	if r.Audit == nil {
		for _, linked := range []bool{true, false} {
			for _, a := range chains[bridge.AuditPart{Partition: r.ID.Partition(), Linked: linked}].decisions(r.ID) {
				var resp bridge.Response
				if json.Unmarshal(a.Data, &resp) != nil || a.State != r.State {
					continue
				}
				if got, err := keys.VerifyReceipt(resp.Proof); err == nil && bytes.Equal(Stable(got), Stable(r)) {
					return
				}
			}
		}
		report.Problems = append(report.Problems, "receipt of "+string(r.ID)+": the log has no entry with it")
		return
	}
	c := chains[bridge.AuditPart{Partition: r.Audit.Partition, Linked: true}]
	if c != nil {
		n := slices.IndexFunc(c.entries, func(a bridge.AuditEntry) bool { return a.N == r.Audit.N })
		if n >= 0 && c.entries[n].Link == r.Audit.Link && c.entries[n].ID == r.ID && c.entries[n].State == r.State {
			return
		}
	}
	report.problem(r.Audit.Partition, r.Audit.N, "does not match the receipt of "+string(r.ID))
}

// decisions returns the entries with the outcome of an interaction.
func (c *auditChain) decisions(id bridge.ID) []bridge.AuditEntry {
	if c == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.entries), func(a bridge.AuditEntry) bool { return a.Type != bridge.AuditDecision || a.ID != id })
}
