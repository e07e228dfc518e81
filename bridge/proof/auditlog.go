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

// AuditLine is one line of an exported log: an entry, or a seal.
type AuditLine struct {
	bridge.AuditEntry
	// Seal is a signed seal of the entry N. If it is empty, the line is an
	// entry.
	Seal string `json:"seal,omitempty"`
}

// AuditReport is the result of checking an exported log.
type AuditReport struct {
	Entries int64 `json:"entries"`
	Seals   int   `json:"seals"`
	// Unsealed is the number of entries after the last seal of their
	// partition. They are linked, but not signed yet.
	Unsealed int64 `json:"unsealed"`
	// Unproven is the number of entries of an earlier version, which wrote
	// no proofs.
	Unproven int64 `json:"unproven,omitempty"`
	// Problems describes what was removed, changed, reordered or forged.
	Problems []string `json:"problems"`
}

func (r *AuditReport) problem(partition int, n int64, what string) {
	r.Problems = append(r.Problems, "partition "+strconv.Itoa(partition)+", entry "+strconv.FormatInt(n, 10)+": "+what)
}

// maxAuditLine is the maximum length of a line, in bytes.
const maxAuditLine = 4 << 20

type auditChain struct {
	entries []bridge.AuditEntry
	seals   []Seal
}

// VerifyAudit checks an exported log with public keys, and that it contains the
// decisions of the given receipts. It returns an error only for input that it
// cannot parse.
func VerifyAudit(r io.Reader, keys JWKS, receipts ...Receipt) (AuditReport, error) {
	report := AuditReport{Problems: []string{}}
	chains := map[int]*auditChain{}
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
		c := chains[l.Partition]
		if c == nil {
			c = &auditChain{}
			chains[l.Partition] = c
		}
		if l.Seal == "" {
			c.entries = append(c.entries, l.AuditEntry)
			continue
		}
		s, err := keys.VerifySeal(l.Seal)
		if err != nil || s.Partition != l.Partition {
			report.problem(l.Partition, l.N, "invalid seal: "+bridge.PublicError(errors.Join(err)).Message)
			continue
		}
		c.seals = append(c.seals, s)
	}
	if err := lines.Err(); err != nil {
		return report, bridge.Wrap(bridge.CodeInvalid, err, "audit log")
	}
	seen := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(chains)) {
		chains[p].verify(p, &report)
		chains[p].verifyProofs(p, keys, seen, &report)
	}
	for _, r := range receipts {
		checkReceipt(chains, keys, r, &report)
	}
	return report, nil
}

// verify checks numbers, links and seals of one partition.
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
	proven := len(c.seals) > 0 && c.seals[0].Proven && (len(c.entries) == 0 || c.seals[0].N < c.entries[0].N)
	for _, a := range c.entries {
		ev, why := keys.EntryProblem(a, proven)
		switch {
		case why != "":
			report.problem(partition, a.N, why)
		case ev.Needed && !ev.Good:
			report.Unproven++
		}
		proven = proven || ev.Good
		if ev.unique != "" && seen[ev.unique] {
			report.problem(partition, a.N, "repeats an earlier entry")
		}
		seen[ev.unique] = true
	}
}

// checkReceipt checks that the log has the entry of a receipt.
func checkReceipt(chains map[int]*auditChain, keys JWKS, r Receipt, report *AuditReport) {
	if r.Audit == nil {
		for _, a := range chains[r.ID.Partition()].decisions(r.ID) {
			var resp bridge.Response
			if json.Unmarshal(a.Data, &resp) != nil || a.State != r.State {
				continue
			}
			if got, err := keys.VerifyReceipt(resp.Proof); err == nil && bytes.Equal(Stable(got), Stable(r)) {
				return
			}
		}
		report.Problems = append(report.Problems, "receipt of "+string(r.ID)+": the log has no entry with it")
		return
	}
	c := chains[r.Audit.Partition]
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
