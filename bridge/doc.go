// Package bridge holds the core types of nod: requests, questions, approvals,
// decisions, responses, events and errors. It also has the rules that depend
// only on these values, and declares the port to chat platforms.
//
// A type belongs here if packages that do not import each other exchange it.
// The rules of a request belong in bridge/life and bridge/people, the delivery
// to people in bridge/engine, a single feature in bridge/rooms, the format of
// another system in bridge/dialect, the layout of a card in render, and a Redis
// key or script in broker/redis. The package does no I/O and imports none of
// these packages.
//
// An agent sends a [Request], which is an [Ask] with its transport options. An
// [Interaction] embeds the Ask. It adds the destinations and responders
// ([Placement]), the timing ([Schedule]), the position among the rounds
// ([Lineage]), the effect of the policy ([Governance]), and the mentions and
// notifications ([Attention]). A [Record] is an interaction with everything
// that has happened to it.
//
// An [Interaction] is one request to people. It is in exactly one [State]:
//
//	           ┌─ answered      a valid answer to an ask
//	           ├─ approved      an approval was given
//	           ├─ denied        an approval was refused
//	pending ───┼─ expired       the deadline passed first
//	           ├─ cancelled     the agent, its session or a person withdrew it
//	           ├─ superseded    a newer prompt took over its messages
//	           └─ undeliverable no one could be reached
//
// One change in the store (Resolve of bridge/core) makes the transition exactly once,
// for the first caller. Everything else follows from the stored state: waiting
// callers read the state, and outbox jobs update every posted message to match
// it.
//
// Chat platforms implement [Platform].
//
// If a process dies, the stored state is still complete. An interaction without
// posted messages has a posting job. A closed interaction whose messages still
// show controls has edit jobs. Jobs are leased, and any process takes a job
// over when its lease ends.
package bridge
