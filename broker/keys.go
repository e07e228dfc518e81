package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// keys builds the names of all keys. No other code does: scripts are passed
// their keys.
//
// Every key of one partition p carries the hash tag {p}, so that it is in one
// slot of a Cluster. A key without a TTL stays until it is deleted.
type keys struct{ prefix string }

func (k keys) in(partition int, rest string) string {
	return k.prefix + ":{" + strconv.Itoa(partition) + "}:" + rest
}

// Interactions.

// record is a hash with the fields of recordFields. It lives for the retention
// after the deadline.
func (k keys) record(id bridge.ID) string { return k.recordIn(id.Partition(), id) }

// recordIn is the record of an interaction in a known partition. With an empty
// ID, it names no record.
func (k keys) recordIn(p int, id bridge.ID) string { return k.in(p, "i:"+string(id)) }

// draft is a hash with the draft of each account, as JSON, and the account
// whose draft the card of each destination shows. It lives for draftKeep after
// the last change.
func (k keys) draft(id bridge.ID) string { return k.in(id.Partition(), "d:"+string(id)) }

// idem is a string, id|digest: the interaction that was opened under an
// idempotency key. Its name is a hash, because an idempotency key may hold a
// credential. It lives as long as the record.
func (k keys) idem(p int, agent, key string) string {
	return k.in(p, "kh:"+agent+"/"+hashed(key))
}

// plainIdem is the same string under the idempotency key itself. Older versions
// wrote it; nod only reads it.
func (k keys) plainIdem(p int, agent, key string) string {
	return k.in(p, "k:"+agent+"/"+key)
}

// duplicate is a string, the ID of the pending request that duplicates in its
// session join, by a hash of the question. It lives until the deadline.
func (k keys) duplicate(p int, agent, session, route, hash string) string {
	return k.in(p, "tw:"+agent+"/"+session+"/"+route+"/"+hash)
}

// batch is a list of IDs: the approvals that one message will show, in order.
// It lives for the window in which more can be added.
func (k keys) batch(p int, agent, session, route string) string {
	return k.in(p, "b:"+agent+"/"+session+"/"+route)
}

// all is a sorted set of every ID by creation, in ms. Tidy removes IDs that
// have outlived their retention.
func (k keys) all(p int) string { return k.in(p, "all") }

// session is a sorted set of the IDs of a session by creation, in ms. It lives
// as long as the longest record that it can name.
func (k keys) session(p int, agent, session string) string {
	return k.in(p, "s:"+agent+"/"+session)
}

// deadlines is a sorted set of the pending IDs by deadline, in ms.
func (k keys) deadlines(p int) string { return k.in(p, "dl") }

// open is a hash with the number of pending requests of each limited agent.
func (k keys) open(p int) string { return k.in(p, "open") }

// Delivery.

// outbox is a sorted set of jobs, kind:interaction:destination, by the time
// when each is due, in ms.
func (k keys) outbox(p int) string { return k.in(p, "out") }

// jobs is a hash with the state of each job that a worker has leased:
// attempt|fence|generation|created|leased_until.
func (k keys) jobs(p int) string { return k.in(p, "jobs") }

// dead is a list of the dead letters, as JSON, newest first, at most 1000.
func (k keys) dead(p int) string { return k.in(p, "dead") }

// events is a stream of the events. Tidy trims it.
func (k keys) events(p int) string { return k.in(p, "ev") }

// nodes is a sorted set of the channels of the daemons that have callers, by
// the time when each counts as stopped, in ms.
func (k keys) nodes(p int) string { return k.in(p, "nodes") }

// late is a stream of the late answers that were not acknowledged. Tidy trims
// it.
func (k keys) late(p int) string { return k.in(p, "late") }

// clients is a sorted set of the front ends of a session by the time when each
// counts as disconnected, in ms. It lives for twice bridge.PresenceTTL.
func (k keys) clients(p int, session string) string { return k.in(p, "c:"+session+":all") }

// ableClients is the same set for the front ends that can answer.
func (k keys) ableClients(p int, session string) string { return k.in(p, "c:"+session+":able") }

// wake is the channel on which a daemon receives the IDs that its callers wait
// for.
func (k keys) wake(node string) string { return k.prefix + ":wake:" + node }

// Audit log.

// audit is a stream of the entries. Only TrimAudit trims it.
func (k keys) audit(p int) string { return k.in(p, "au") }

// auditHead is a hash with the number and the link of the last entry (n, l),
// the last seal and the ID of the entry that it covers (seal, cur), and the
// seal up to which the log was trimmed (trim).
func (k keys) auditHead(p int) string { return k.in(p, "auh") }

// seals is a stream of the signed seals (s), each with the ID of the entry that
// it covers (c). The ID of a seal is the number of that entry.
func (k keys) seals(p int) string { return k.in(p, "aus") }

// unused is passed for a key that the script does not use in this call.
func (k keys) unused(p int) string { return k.in(p, "-") }

// Grants.

// grants is a hash of grants, as JSON, by their keys. It lives for
// bridge.AlwaysGrantTTL after the last grant.
func (k keys) grants(p int, agent, session string) string {
	return k.in(p, "g:"+agent+"/"+session)
}

// grantOwners is a sorted set of the agents and sessions that have grants in a
// partition, by the time when the last grant of each expires, in ms.
func (k keys) grantOwners(p int) string { return k.in(p, "go") }

// given is a string that marks that a request has given a grant. It lives for
// bridge.AlwaysGrantTTL, so that the grant cannot be given twice.
func (k keys) given(p int, origin bridge.ID, grant string) string {
	return k.in(p, "gx:"+string(origin)+"/"+grant)
}

// remembered is a hash of the scopes that a tool remembers, by the hash of a
// key that the tool chooses. It lives for bridge.SessionGrantTTL or
// AlwaysGrantTTL.
func (k keys) remembered(p int, agent, session string) string {
	return k.in(p, "t:"+agent+"/"+session)
}

// Keys outside the partitions.

// note is a string with a TTL of its own.
func (k keys) note(key string) string { return k.prefix + ":n:" + key }

// lease is a string, the holder, with a TTL of its own.
func (k keys) lease(name string) string { return k.prefix + ":l:" + name }

// rate is a string, the number of requests of an agent in a minute. It lives
// for two minutes.
func (k keys) rate(agent string, minute int64) string {
	return k.prefix + ":r:" + agent + ":" + strconv.FormatInt(minute, 10)
}

// links is a hash of the linked accounts, as JSON, by platform/user.
func (k keys) links() string { return k.prefix + ":links" }

// conf is a string, the number of partitions.
func (k keys) conf() string { return k.prefix + ":conf" }

// daemons is a hash of the running daemons, each with the fingerprint of its
// keys and the time of its last Announce in ms. It lives for announcedFor.
func (k keys) daemons() string { return k.prefix + ":daemons" }

// keysID is a string, the fingerprint of the keys that the deployment signs
// with.
func (k keys) keysID() string { return k.prefix + ":keyid" }

// signingKey is a string, the seed of the key that signs receipts, in hex. It
// exists only if the deployment keeps that key in Redis.
func (k keys) signingKey() string { return k.prefix + ":sign" }

// tokenKey is a string, the key that signs controls, in hex.
func (k keys) tokenKey() string { return k.prefix + ":key" }

// every matches all keys, in the syntax of SCAN.
func (k keys) every() string { return globEscape(k.prefix) + ":*" }

// wakes matches the channels of all daemons.
func (k keys) wakes() string { return globEscape(k.wake("")) + "*" }

// OutboxPattern matches the outboxes of all partitions under a prefix, in the
// syntax of KEYS.
func OutboxPattern(prefix string) string {
	return globEscape(prefix) + ":{*}:out"
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(s)
}

// hashed returns the name under which a caller's key is stored. The key itself
// may hold a credential.
func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
