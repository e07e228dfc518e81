package bridge

import "context"

// Diagnoser is a Platform that can check its own setup.
type Diagnoser interface {
	// Diagnose checks the account and the required destinations. It shows
	// nothing to people and does not interfere with a running daemon.
	Diagnose(context.Context, Needs) []Finding
}

// Needs lists the requirements of the configuration for a platform.
type Needs struct {
	Destinations []Destination
	Emails       bool     // accounts are recognized by their email address
	Groups       []string // the platform's own groups that the config uses, in the platform's format
	Accounts     []string // accounts of people that are used
}

// FindingStatus is the result of a check.
type FindingStatus string

// The statuses.
const (
	FindingOK      FindingStatus = "ok"
	FindingWarning FindingStatus = "warning" // the check works with a limitation
	FindingFailed  FindingStatus = "failed"
	FindingSkipped FindingStatus = "skipped" // nod cannot check it
)

// Finding is the result of one check.
type Finding struct {
	Check  string        `json:"check"` // platform and subject, separated by a dot
	Status FindingStatus `json:"status"`
	Detail string        `json:"detail,omitempty"` // the result, without secrets
	Fix    string        `json:"fix,omitempty"`    // how to fix the problem
}
