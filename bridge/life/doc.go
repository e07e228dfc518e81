// Package life holds the rules of an interaction. The rules determine the new
// state of an interaction when it is opened, answered, voted on, deferred or
// amended, and when it expires. They also determine when cards are updated and
// when the agent gets its answer. Each rule is a pure function of documents,
// input and time. The package does not read or store anything; package core
// does. Start with Turn in turn.go, and then read resolve.go.
//
//	Docs.Begin(now) ──▶ Turn.Resolve(…) ──▶ Turn.Change() ──▶ Store.Do
//
// An interaction has three kinds of documents: a life, which changes with every
// answer; a body, which people see and which only amendments change; and a card for
// each destination. A vote never rewrites a body. If a card is posted at the
// same time, the vote is only retried.
//
// These invariants hold:
//
//   - A final state stays final, with its response.
//   - Exactly one resolution wins, and it is in the journal.
//   - No job is requested for an interaction without documents.
//   - What people see changes only with an entry in the journal, or with an edit of
//     their messages.
package life
