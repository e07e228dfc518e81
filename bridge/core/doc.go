// Package core opens interactions, resolves them with whoever is first, leases the work on
// their cards to one daemon at a time, and wakes waiting callers: it reads documents, asks
// package life for the next ones, and stores that in one change. It knows no room; what a
// room adds to such a change comes as conditions and as [Also]. Start with [Port], and follow
// a request through open.go, jobs.go, resolve.go and wait.go.
package core
