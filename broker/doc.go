// Package broker keeps interactions in Redis. It implements bridge.Store.
//
// The package defines the format of what is stored, and the transitions that
// must happen in one step. Their meaning belongs in bridge/engine, which makes
// the values; the scripts read as little of them as possible. No other package
// names a key or a field.
//
//	broker.go    a Broker, composed of one part for each port
//	core.go      what the parts share
//	keys.go      every key: what it holds, its type, and how long it lives
//	record.go    every field of a record
//	lua          a script for each transition, with its keys and arguments
//	history.go   lists of ended requests, from the event streams
//	open.go, settle.go, mark.go, vote.go    the callers of the scripts
//	hub.go, await.go, deferred.go           callers that wait
//	catchup.go                              events and states that they missed
//	outbox.go, deadlines.go                 jobs and deadlines
//	line.go, turns.go                       the order and the pace of messages
//
// # Keys
//
// All keys carry the same hash tag, so that each transition is one script, with
// whatever belongs to it. A Cluster carries many installations, each in a slot of
// its own.
//
// # Waking
//
// Pub/sub only wakes; the keys decide. A waiter registers its daemon's channel
// in the record and reads the state in one script, then sleeps. A caller that
// opens and then waits registers with the opening. The settling script
// publishes the ID to the registered channels, except for the channel of the
// daemon that settles, which wakes its own callers. Because a subscription can
// stall without an error, the journal is also read a few times per second while
// callers wait, and a sweep reads the states of some of the interactions that they
// wait for each second. The number that it reads does not grow with the number of
// callers. After every resubscription, it reads all of them, at a limited rate.
//
// # Speed
//
// Scripts and reads of many callers are sent together, through at most two
// connections. A script call costs Redis about 5 µs, most of it before the command
// runs, so nod makes few calls:
// data that is in the record is not stored in the event, a job that no one has
// tried is only a member of the outbox, and an interaction is pending if it has
// a deadline.
//
// When requests expire, the records that callers of this process wait for are read
// in the same pipeline, and decoded elsewhere. Few of these scripts run at the same
// time, because the calls of others wait for each.
//
// The verifier checks settlements after a possible failover, because Redis loses
// the end of what it has accepted.
//
// # Failure
//
// Scripts check everything before they write, so a refused one leaves nothing
// half done. Every transition has a name (ID, nonce, fence): repeating it is
// harmless and returns the first result, so callers may retry after an error.
package broker
