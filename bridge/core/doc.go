// Package core opens interactions, signs and stores the first answer of each,
// leases the work on their cards to one daemon at a time, and wakes waiting
// callers. It gets the new documents from package life, and does not know the
// rooms: their additions to a change come as conditions and as [Also]. Start
// with [Port], and follow a request through open.go, jobs.go, resolve.go and
// wait.go.
package core
