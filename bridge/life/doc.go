// Package life holds the rules of an interaction: what it becomes when it is opened,
// answered, voted on, expires, is deferred or amended, and when its cards and its
// answer reach people and the agent. Each rule is a pure function of documents,
// input and time. It reads and stores nothing; package core does. Start with Turn in
// turn.go, and then resolve.go.
//
//	Docs.Begin(now) ──▶ Turn.Resolve(…) ──▶ Turn.Change() ──▶ Store.Do
//
// An interaction has three kinds of documents: its life, which changes with every
// answer; its body, which people see, and which only amendments change; and a card
// for each destination. A vote never rewrites a body, and a card that is posted at the
// same time makes it start again at most.
//
// What always holds:
//
//   - A final state stays final, with its response.
//   - Exactly one resolution wins, and it is in the journal.
//   - No job is requested for an interaction without documents.
//   - What people see changes only with an entry in the journal, or with an edit of
//     their messages.
package life
