// Package core opens interactions, resolves each with the first answer, leases the work on
// their cards to one daemon at a time, and wakes waiting callers. It reads documents, gets
// the new ones from package life, and stores them in one change. It does not know the rooms:
// what a room adds to a change comes as conditions and as [Also]. Start with [Port], and
// follow a request through open.go, jobs.go, resolve.go and wait.go.
package core
