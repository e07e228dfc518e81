// Package core implements bridge.Store on a broker.Store. It opens
// interactions, resolves them with the first valid response, leases the work on
// their cards to one daemon at a time, and wakes waiting callers. For each of
// these, it reads documents, calls a rule of package life, and stores the
// result in one change. The documents of grants, sessions, links, passkeys and
// the audit log have their rules here. Start with interactions.go, and follow a
// request through open.go, jobs.go, resolve.go and wait.go.
package core
