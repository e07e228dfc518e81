// Package core implements bridge.Store on a broker.Store. It opens interactions, resolves
// them with whoever is first, leases the work on their cards to one daemon at a time, and
// wakes waiting callers: it reads documents, asks package life what becomes of them, and
// stores that in one change. The documents of grants, sessions, links, passkeys and the
// audit log have their rules here. Start with interactions.go, and follow a request through
// open.go, jobs.go, resolve.go and wait.go.
package core
