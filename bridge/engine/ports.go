package engine

import "github.com/nodbridge/nod/bridge"

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
