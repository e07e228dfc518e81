package proof

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// AuditLine is one line of an exported log: an entry, a seal, or the counts of
// the journal.
type AuditLine struct {
	bridge.AuditEntry
	// Seal is a signed seal. If it is empty and the type is not "counts", the
	// line is an entry.
	Seal string `json:"seal,omitempty"`
	// Added and Deleted are the counts of the journal; see [bridge.AuditCounts].
	Added   int64  `json:"added,omitempty"`
	Deleted string `json:"deleted,omitempty"`
}

// IsEntry reports whether the line is an entry of the audit log: no seal, no
// counts, and no event.
func (l AuditLine) IsEntry() bool {
	return l.Seal == "" && !l.isCounts() && l.Type != bridge.AuditEvent
}

// isCounts reports whether the line contains the counts of the journal. An
// entry does not, even if someone has changed its type.
func (l AuditLine) isCounts() bool {
	return l.Type == auditCounts && l.Seal == "" && l.Entry == ""
}

// auditCounts is the type of a line with the counts of the journal.
const auditCounts bridge.AuditType = "counts"

// CountsLine returns the line with the counts of the journal. Read the counts
// after the seals and before the entries of an export.
func CountsLine(c bridge.AuditCounts) AuditLine {
	return AuditLine{AuditEntry: bridge.AuditEntry{Type: auditCounts}, Added: c.Added, Deleted: c.Deleted}
}

// EntryLine returns the line with an entry. For an event, the line contains
// only the ID. Invalid JSON, which no daemon writes, becomes a string, so that
// the rest of the log can be exported and verified.
func EntryLine(e bridge.AuditEntry) AuditLine {
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		e.Data, _ = json.Marshal(string(e.Data)) // a string always marshals
	}
	if e.Type == bridge.AuditEvent {
		e = bridge.AuditEntry{Entry: e.Entry, Type: e.Type}
	}
	return AuditLine{AuditEntry: e}
}

// AuditReport is the result of checking an exported log.
type AuditReport struct {
	Entries int64 `json:"entries"`
	Seals   int   `json:"seals"`
	// Unsealed is the number of entries after the last seal.
	Unsealed int64 `json:"unsealed"`
	// Uncounted means that the log contains no counts, so the deletion of an
	// entry before its seal is not detected.
	Uncounted bool `json:"uncounted,omitempty"`
	// Problems describes the entries that were removed, changed, reordered or
	// forged.
	Problems []string `json:"problems"`
}

// problem adds a problem with an entry. If entry is empty, the problem concerns
// the complete log.
func (r *AuditReport) problem(entry, what string) {
	if entry != "" {
		what = "entry " + entry + ": " + what
	}
	r.Problems = append(r.Problems, what)
}

// maxAuditLine is the maximum length of a line, in bytes.
const maxAuditLine = 4 << 20

// auditChain is the journal in an export.
type auditChain struct {
	entries []bridge.AuditEntry
	seals   []Seal
	counts  *AuditLine
}

func (c *auditChain) add(l AuditLine, keys JWKS, report *AuditReport) {
	switch {
	case l.isCounts():
		if c.counts != nil {
			report.problem("", "duplicate line of counts")
		}
		c.counts = &l
	case l.Seal == "":
		c.entries = append(c.entries, l.AuditEntry)
	default:
		s, err := keys.VerifySeal(l.Seal)
		if err != nil {
			report.problem(l.Entry, "invalid seal: "+bridge.PublicError(err).Message)
			return
		}
		c.seals = append(c.seals, s)
	}
}

// VerifyAudit checks an exported log with public keys. It also checks that the
// log contains the decisions of the given receipts. It returns an error only
// for input that it cannot parse.
func VerifyAudit(r io.Reader, keys JWKS, receipts ...Receipt) (AuditReport, error) {
	report := AuditReport{Problems: []string{}}
	chain := &auditChain{}
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
		chain.add(l, keys, &report)
	}
	if err := lines.Err(); err != nil {
		return report, bridge.Wrap(bridge.CodeInvalid, err, "audit log")
	}
	if len(chain.entries)+len(chain.seals) > 0 || chain.counts != nil {
		chain.verify(&report)
		chain.verifyProofs(keys, &report)
	}
	for _, r := range receipts {
		if !chain.has(r, keys) {
			report.Problems = append(report.Problems, "receipt of "+string(r.ID)+": the log has no entry with this receipt")
		}
	}
	return report, nil
}

// verifyProofs checks that a daemon wrote each entry about an action, and that
// no entry is repeated.
func (c *auditChain) verifyProofs(keys JWKS, report *AuditReport) {
	seen := map[string]bool{}
	for _, a := range c.entries {
		if a.Type == bridge.AuditEvent {
			continue
		}
		unique, why := keys.EntryProblem(a)
		if why != "" {
			report.problem(a.Entry, why)
		}
		if unique != "" && seen[unique] {
			report.problem(a.Entry, "repeats an earlier entry")
		}
		seen[unique] = true
	}
}

// has reports whether the log contains the decision of a receipt.
func (c *auditChain) has(r Receipt, keys JWKS) bool {
	return slices.ContainsFunc(c.entries, func(a bridge.AuditEntry) bool {
		var resp bridge.DecisionEntry
		if a.Type != bridge.AuditDecision || a.ID != r.ID || a.State != r.State || json.Unmarshal(a.Data, &resp) != nil {
			return false
		}
		got, err := keys.VerifyReceipt(resp.Receipt)
		return err == nil && bytes.Equal(Stable(got), Stable(r))
	})
}
