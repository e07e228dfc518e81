// Package bridge holds the nouns of nod: requests, questions, approvals,
// decisions, responses, events and errors, with the rules that need nothing but
// the values themselves. It also declares the ports to chat platforms and to the
// database.
//
// A type belongs here if packages that do not know each other exchange it. What
// acts on requests belongs in bridge/engine, another system's format in
// bridge/dialect, the look of a card in render, and a key or a script of Redis
// in broker. The package does no I/O and imports none of these.
//
// An agent sends a [Request], which is an [Ask] with how it is sent. An
// [Interaction] embeds the Ask, and adds where it is shown ([Placement]), how
// long it waits ([Schedule]), its place among the rounds ([Lineage]) and what
// the policy made of it ([Governance]). A [Record] is an interaction with what
// has happened to it.
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
// Chat platforms implement [Platform], and the database implements [Store].
//
// If a process dies, the store is complete at each moment. An interaction whose
// messages were not posted has a posting job, and a settled one whose messages
// still show controls has edit jobs. Jobs are leased, and any process takes them
// over once the lease ends.
package bridge
