// Package core keeps interactions: it opens them, resolves them with whoever is first,
// hands out the work on their cards, and wakes waiting callers. It reads documents,
// asks package life what becomes of them, and stores that in one change. It knows no
// rule itself, and no database. Start with interactions.go, and follow a request
// through open.go, jobs.go, resolve.go and wait.go.
package core
