// Package bridge is the domain of nod: what a human can be asked, what may
// come back, and the engine that carries one to the other.
//
// An [Interaction] is one thing a human is asked. It is in exactly one
// [State]:
//
//	           ┌─ answered      a valid answer to an ask
//	           ├─ approved      a yes to an approval
//	           ├─ denied        a no to an approval
//	pending ───┼─ expired       the deadline passed first
//	           ├─ cancelled     the agent, its session or an operator withdrew it
//	           ├─ superseded    a newer prompt took over its messages
//	           └─ undeliverable nobody could be reached
//
// The arrow is taken once, for ever, by one script in the store ([Store.Settle]),
// whoever asks first. Everything else follows from the stored state: waiters
// read it, outbox jobs bring every posted message in line with it.
//
// The package knows no chat service and no database. Chat services implement
// [Platform], the database implements [Store]; the [Engine] sits between.
//
// When a process dies: what the store holds is complete at each moment. An
// interaction whose messages were not posted has a posting job; a settled one
// whose messages still show buttons has edit jobs; jobs are leased and picked
// up by any process once the lease ends.
package bridge
