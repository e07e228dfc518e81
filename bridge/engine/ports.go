package engine

import (
	"log/slog"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Ports holds the ports of a store separately, so that each part gets only
// those that it uses.
type Ports struct {
	Openings  bridge.Openings
	Records   bridge.Records
	Outcomes  bridge.Outcomes
	Outbox    bridge.Outbox
	Deadlines bridge.Deadlines
	Drafts    bridge.Drafts
	Notes     bridge.Notes
	Leases    bridge.Leases
	Grants    bridge.Grants
	Stops     bridge.Stops
	Reports   bridge.Reports
	Memory    bridge.Memory
	Mailbox   bridge.Mailbox
	Steerings bridge.Steerings
	Presence  bridge.Presence
	Audit     bridge.AuditLog
	Links     bridge.Links
	Limits    bridge.Limits
}

func portsOf(s bridge.Store) Ports {
	return Ports{
		Openings: s, Records: s, Outcomes: s, Outbox: s, Deadlines: s, Drafts: s, Notes: s, Leases: s,
		Grants: s, Stops: s, Reports: s, Memory: s, Mailbox: s, Steerings: s, Presence: s, Audit: s, Links: s, Limits: s,
	}
}

// Proven returns the ports of a store with records and audit entries that are proven
// with a signer's keys. With a nil signer, nothing
// is proven. A nil log discards output.
func Proven(s bridge.Store, signer *proof.Signer, log *slog.Logger) Ports {
	prover := proof.NewProver(signer)
	if prover == nil {
		return portsOf(s)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return portsOf(s).proven(prover, log)
}

// proven returns the ports with decorators that create and check proofs.
func (p Ports) proven(prover *proof.Prover, log *slog.Logger) Ports {
	v := verifier{prover, log}
	records := provenRecords{p.Records, v}
	p.Openings = provenOpenings{p.Openings, v}
	p.Outcomes = provenOutcomes{p.Outcomes, records, v}
	p.Records = records
	p.Mailbox = provenMailbox{p.Mailbox, v}
	p.Audit = provenAudit{p.Audit, v}
	return p
}

type provenOpenings struct {
	bridge.Openings
	verifier
}

type provenRecords struct {
	bridge.Records
	verifier
}

type provenOutcomes struct {
	bridge.Outcomes
	records provenRecords
	verifier
}

type provenMailbox struct {
	bridge.Mailbox
	verifier
}

type provenAudit struct {
	bridge.AuditLog
	verifier
}
