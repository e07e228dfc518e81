// Package broker keeps interactions in Redis. It implements bridge.Store.
//
// # Keys
//
// Everything of one partition p carries the hash tag {p}, so that one script
// on one slot makes each transition; on a Cluster the partitions spread.
//
//	nod:{p}:i:<id>        hash    the record
//	nod:{p}:k:<a>/<key>   string  idempotency key → id|digest
//	nod:{p}:dl            zset    deadlines of pending interactions, ms
//	nod:{p}:out           zset    due times of jobs, ms
//	nod:{p}:jobs          hash    the jobs that were worked on
//	nod:{p}:dead          list    jobs given up, newest first, at most 1000
//	nod:{p}:ev            stream  events
//	nod:{p}:open          hash    pending requests of agents that are limited
//	nod:r:<agent>:<min>   string  requests of an agent in a minute
//	nod:{p}:au, :aus      stream  audit log, and its signed seals
//	nod:{p}:auh           hash    how far both are
//	nod:{p}:all           zset    ids by creation, ms
//	nod:{p}:s:<a>/<s>     zset    ids of a session
//	nod:{p}:d:<id>        hash    drafts
//	nod:{p}:g:<a>/<s>     hash    grants
//	nod:n:<key>           string  notes
//	nod:l:<name>          string  leases
//	nod:links             hash    accounts that people linked
//	nod:conf              string  number of partitions
//	nod:key, nod:sign     string  token key, signing key
//	nod:wake:<node>       channel of a daemon
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
