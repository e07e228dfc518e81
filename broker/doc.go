// Package broker keeps what nod stores: documents with a seal, indexes over them,
// jobs, and a journal. It does not know what any of them means: the rules about
// interactions are in bridge/life, and those about other documents, such as grants and
// stops, in bridge/core. Start with Store in store.go.
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
// An index is a hint: code that acts on one reads the document again. The condition
// Below is the exception: it counts the members. So is the index of late answers, which
// alone says which of them an agent has not acknowledged.
//
// Package memory implements Store in this process, and package redis in Redis.
package broker
