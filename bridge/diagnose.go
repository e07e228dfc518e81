package bridge

import "context"

// Diagnoser is a Platform that can say what is wrong with its setup.
type Diagnoser interface {
	// Diagnose checks the account and the places that are needed. It shows
	// nothing to people, and takes nothing from a daemon that runs.
	Diagnose(context.Context, Needs) []Finding
}

// Needs are what the config wants of a platform.
type Needs struct {
	Destinations []Destination
	Emails       bool // accounts are recognized by their address
	Groups       bool // groups of the platform's own are looked up
}

// FindingStatus says how a check went.
type FindingStatus string

// The statuses.
const (
	FindingOK      FindingStatus = "ok"
	FindingWarning FindingStatus = "warning" // it works, but for something
	FindingFailed  FindingStatus = "failed"
	FindingSkipped FindingStatus = "skipped" // it can not be known from here
)

// Finding is the result of one check.
type Finding struct {
	Check  string        `json:"check"` // the platform and what was looked at, with a dot between
	Status FindingStatus `json:"status"`
	Detail string        `json:"detail,omitempty"` // what was found; no secret
	Fix    string        `json:"fix,omitempty"`    // what to do about it
}
