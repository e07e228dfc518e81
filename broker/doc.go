// Package broker stores the data of nod: documents with a seal, indexes over
// them, jobs, and a journal. It does not know the meaning of the data: the
// rules about interactions are in bridge/life, and the rules about other
// documents, such as grants and stops, in the rooms that own them. Start with
// Store in store.go.
//
// A [Change] holds everything that changes together. A store applies it
// completely or not at all. A rule reads documents, decides, and returns the
// change with the versions that it has read. If another change came first, the
// store applies nothing, and the rule starts again with the current documents.
//
//	rule reads ──▶ decides ──▶ Do(If versions, Put, Set, Request, Journal)
//	  ▲                           │ all of it            │ nothing: *Stale
//	  └──────── current documents ┴──────────────────────┘
//
// An index is a hint: code that uses one reads the document again. There is one
// exception: the condition Below counts the members of an index.
//
// Package memory implements Store in this process, and package redis in Redis.
package broker
