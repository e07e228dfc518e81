// Package broker keeps what nod stores: documents with a seal, indexes over them,
// jobs, and a journal. It does not know what any of them means: the rules are pure
// functions in bridge/life and in the rooms. Start with Store in store.go.
//
// Everything that changes together is one [Change], which a store applies at once or
// not at all. A rule reads documents, decides, and returns the change with the
// versions that it has read. If another change came first, the store applies nothing, and
// the rule starts again from the current documents.
//
//	rule reads ──▶ decides ──▶ Do(If versions, Put, Set, Request, Journal)
//	  ▲                           │ all of it            │ nothing: *Stale
//	  └──────── current documents ┴──────────────────────┘
//
// An index is a hint: code that acts on one reads the document again.
//
// Package memory implements Store in this process, and package redis in Redis.
package broker
