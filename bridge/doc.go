// Package bridge is the domain of nod: the requests that people get, their
// responses, and the ports between the parts. Package bridge/engine carries
// requests to people and responses back.
//
// An [Interaction] is one thing a human is asked. It is in exactly one
// [State]:
//
//	           ┌─ answered      a valid answer to an ask
//	           ├─ approved      an approval was given
//	           ├─ denied        an approval was refused
//	pending ───┼─ expired       the deadline passed first
//	           ├─ cancelled     the agent, its session or an operator withdrew it
//	           ├─ superseded    a newer prompt took over its messages
//	           └─ undeliverable no one could be reached
//
// One script in the store ([Store.Settle]) takes the arrow once, for the first
// that asks. Everything else follows from the stored state: waiting callers read
// it, and outbox jobs bring every posted message in line with it.
//
// The package knows no chat platform and no database. Chat platforms implement
// [Platform], and the database implements [Store].
//
// If a process dies, the store is complete at each moment. An interaction whose
// messages were not posted has a posting job, and a settled one whose messages
// still show controls has edit jobs. Jobs are leased, and any process takes them
// over once the lease ends.
package bridge
