// Package broker keeps interactions in Redis. It implements bridge.Store.
//
// The package has the format of what is stored, and the transitions that must
// happen in one step. Their meaning belongs in bridge/engine, which makes the
// values; the scripts read as little of them as possible. No other package names
// a key or a field.
//
//	keys.go      every key: what it holds, its type, and how long it lives
//	record.go    every field of a record
//	lua          a script for each transition, with its keys and arguments
//	open.go, settle.go, mark.go, vote.go    who calls the scripts
//	hub.go, await.go                        callers that wait
//	outbox.go                               jobs and deadlines
//
// # Keys
//
// Everything of one partition p carries the hash tag {p}, so that one script
// on one slot makes each transition; on a Cluster the partitions spread.
//
// # Waking
//
// Pub/sub wakes, keys decide. A waiter registers its daemon's channel in the
// record and reads the state in one script, then sleeps; one that opens and
// then waits registers with the opening. The settling script publishes the id
// to the registered channels, except for that of the daemon that settles, which
// wakes its own callers. Because a subscription can be silently dead, the event
// streams of the partitions that have waiters are
// read a few times per second as well, and after every resubscription each
// waiter's state is read again.
//
// # Speed
//
// Scripts and reads of many callers are sent together, through two connections
// at most, or one for each partition of a Cluster. A script call costs about
// 5 µs of Redis, most of it before the command runs, so they are few: data that
// is in the record is not stored in the event, a job that nobody has tried is
// a member of the outbox only, and what is pending is what has a deadline.
//
// # Failure
//
// Scripts check everything before they write, so a refused one leaves nothing
// half done. Every transition is named (id, nonce, fence): repeating it is
// harmless and returns the first result, so callers may retry after an error.
package broker
