package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// keys builds the names of all keys. No other code does: scripts are passed
// their keys. There is one group of methods per kind of record.
//
// All keys of an installation carry the same hash tag, so that they are in one
// slot of a Cluster, and one script can use any of them. A key without a TTL
// stays until it is deleted.
type keys struct {
	space
	requestKeys
	deliveryKeys
	auditKeys
	grantKeys
	sharedKeys
}

func newKeys(prefix string) keys {
	s := space{prefix}
	return keys{s, requestKeys{s}, deliveryKeys{s}, auditKeys{s}, grantKeys{s}, sharedKeys{s}}
}

// space is the part of Redis under a prefix.
type space struct{ prefix string }

func (s space) in(rest string) string { return s.prefix + ":{" + s.prefix + "}:" + rest }

// requestKeys are the keys of requests, and of the indexes that find them.
type requestKeys struct{ space }

// record is a hash with the fields of recordFields. It lives for the retention
// after the deadline. With an empty ID, it names no record.
func (k requestKeys) record(id bridge.ID) string { return k.in("i:" + string(id)) }

// draft is a hash with the draft of each account, as JSON, and the account
// whose draft the card of each destination shows. It lives for draftKeep after
// the last change.
func (k requestKeys) draft(id bridge.ID) string { return k.in("d:" + string(id)) }

// call is a string, id|digest: the last interaction that was opened under the
// name of a call. retry is a string, its ID, under the name of the retries of a
// caller. Names are hashes, because an idempotency key may hold a credential.
// Both live as long as the record.
func (k requestKeys) call(name string) string  { return k.in("kc:" + name) }
func (k requestKeys) retry(name string) string { return k.in("kr:" + name) }

// duplicate is a string, the ID of the pending request that duplicates in its
// session join, by a hash of the question. It lives until the deadline.
func (k requestKeys) duplicate(agent, session, route, hash string) string {
	return k.in("tw:" + agent + "/" + session + "/" + route + "/" + hash)
}

// session is a sorted set of the IDs of a session by creation, in ms. It lives
// as long as the longest record that it can name.
func (k requestKeys) session(agent, session string) string {
	return k.in("s:" + agent + "/" + session)
}

// deadlines is a sorted set of the pending IDs by deadline, in ms.
func (k requestKeys) deadlines() string { return k.in("dl") }

// open is a hash with the number of pending requests of each limited agent.
func (k requestKeys) open() string { return k.in("open") }

// deliveryKeys are the keys of jobs, messages, and callers that wait.
type deliveryKeys struct{ space }

// outbox is a sorted set of jobs, kind:interaction:destination, by the time
// when each is due, in ms.
func (k deliveryKeys) outbox() string { return k.in("out") }

// jobs is a hash with the state of each job that a worker has leased:
// attempt|fence|generation|created|leased_until.
func (k deliveryKeys) jobs() string { return k.in("jobs") }

// dead is a list of the dead letters, as JSON, newest first, at most 1000.
func (k deliveryKeys) dead() string { return k.in("dead") }

// nodes is a sorted set of the channels of the daemons that have callers, by
// the time when each counts as stopped, in ms.
func (k deliveryKeys) nodes() string { return k.in("nodes") }

// late is a stream of the late answers that were not acknowledged. Tidy trims
// it.
func (k deliveryKeys) late() string { return k.in("late") }

// steering is a hash with a message of a person for a session; see
// lua/inbox.lua. It lives for twice bridge.SteeringTTL, or for steeringKept after
// its author knows what became of it. With an empty ID, it names no message.
func (k deliveryKeys) steering(id string) string { return k.in("m:" + id) }

// waiting is a list of the IDs of a session's messages that no agent has taken.
func (k deliveryKeys) waiting(agent, session string) string {
	return k.in("mq:" + agent + "/" + session)
}

// steeringReader is a hash with the reader of a session's messages.
func (k deliveryKeys) steeringReader(agent, session string) string {
	return k.in("mr:" + agent + "/" + session)
}

// steeringKey is a string, the ID of the first message of a key.
func (k deliveryKeys) steeringKey(agent, session, key string) string {
	return k.in("mk:" + hashed(agent+"/"+session+"/"+key))
}

// untold is a sorted set of the IDs of messages by the time when their authors
// must be told something, in ms.
func (k deliveryKeys) untold() string { return k.in("mt") }

// lastSteering is a hash with the time and number of the last message.
func (k deliveryKeys) lastSteering() string { return k.in("mn") }

// clients is a sorted set of the front ends of a session by the time when each
// counts as disconnected, in ms. It lives for twice bridge.PresenceTTL.
func (k deliveryKeys) clients(session string) string { return k.in("c:" + session + ":all") }

// ableClients is the same set for the front ends that can answer.
func (k deliveryKeys) ableClients(session string) string { return k.in("c:" + session + ":able") }

// wake is the channel on which a daemon receives the IDs that its callers wait
// for.
func (k deliveryKeys) wake(node string) string { return k.prefix + ":wake:" + node }

// auditKeys are the keys of the journal, which has the events and the audit log.
type auditKeys struct{ space }

// journal is a stream of the events and of the entries of the audit log; see
// journal in lua/base.lua, and lua/audit.lua. Its oldest entries are removed;
// see lua/archive.lua.
func (k auditKeys) journal() string { return k.in("ev") }

// journalHead is a hash with the last seal and the ID of the entry that it covers
// (seal, cur), the seal up to which the audit log was trimmed and the ID of its
// entry (trim, start), and the ID up to which the journal has no trimmed entries
// (gone).
func (k auditKeys) journalHead() string { return k.in("jh") }

// archive is a stream of the entries of the audit log that are older than the
// events in the journal, as they were in the journal.
func (k auditKeys) archive() string { return k.in("ja") }

// journalSeals is a stream of the signed seals (s), each with the ID of the
// entry that it covers (c), which is also the ID of the seal.
func (k auditKeys) journalSeals() string { return k.in("js") }

// grantKeys are the keys of grants, of stopped and of reported sessions, and of
// approvals that tools remember.
type grantKeys struct{ space }

// grants is a hash of grants, as JSON, by their keys. It lives for
// bridge.AlwaysGrantTTL after the last grant.
func (k grantKeys) grants(agent, session string) string {
	return k.in("g:" + agent + "/" + session)
}

// grantOwners is a sorted set of the agents and sessions that have grants, by the
// time when the last grant of each expires, in ms.
func (k grantKeys) grantOwners() string { return k.in("go") }

// given is a string that marks that a request has given a grant. It lives for
// bridge.AlwaysGrantTTL, so that the grant cannot be given twice.
func (k grantKeys) given(origin bridge.ID, grant string) string {
	return k.in("gx:" + string(origin) + "/" + grant)
}

// stopped is a hash of the stopped sessions, as JSON, by agent and session. It
// has no TTL, because a session stays stopped until a person resumes it.
func (k grantKeys) stopped() string { return k.in("stop") }

// report is a hash with the status of a session that its agent reported; see
// report.lua. It lives for bridge.ReportedTTL after the last report.
func (k grantKeys) report(agent, session string) string {
	return k.in("rep:" + agent + "/" + session)
}

// reported is a sorted set of the reported sessions, by agent and session, by
// the time of the last report in ms. It has at most bridge.MaxReported members.
func (k grantKeys) reported() string { return k.in("reps") }

// remembered is a hash of the scopes that a tool remembers, by the hash of a
// key that the tool chooses. It lives for bridge.SessionGrantTTL or
// AlwaysGrantTTL.
func (k grantKeys) remembered(agent, session string) string {
	return k.in("t:" + agent + "/" + session)
}

// sharedKeys are the keys of everything else.
type sharedKeys struct{ space }

// note is a string with a TTL of its own.
func (k sharedKeys) note(key string) string { return k.in("n:" + key) }

// lease is a string, the holder, with a TTL of its own.
func (k sharedKeys) lease(name string) string { return k.in("l:" + name) }

// line is a list of the IDs of the cards of one agent that a destination will
// show, in order. It lives for ten minutes after the last opening.
func (k sharedKeys) line(line string) string { return k.in("line:" + hashed(line)[:16]) }

// turns are the keys of a rate limit of a platform, which live for a day after
// the last call: a hash with its state, see lua/turn.lua, and sorted sets of
// the turns by time, of the posts and of the edits that wait by their order, and
// of all that wait by the time when each asks again. All limits of a platform
// are in one slot of a Cluster.
func (k sharedKeys) turns(platform, line string) []string {
	of := k.in("turns:" + platform + ":" + line + ":")
	return []string{of + "s", of + "t", of + "p", of + "e", of + "a"}
}

// rate is a string, the number of requests of an agent in a minute. It lives
// for two minutes.
func (k sharedKeys) rate(agent string, minute int64) string {
	return k.in("r:" + agent + ":" + strconv.FormatInt(minute, 10))
}

// probe are keys that exist only while probe.lua runs.
func (k sharedKeys) probe() []string {
	return []string{k.in("try:h"), k.in("try:z"), k.in("try:x"), k.in("try:l"), k.in("try:s")}
}

// links is a hash of the linked accounts, as JSON, by platform/user.
func (k sharedKeys) links() string { return k.in("links") }

// passkeys is a hash of the public keys of people, as JSON, by their IDs.
// Revoked keys stay, because they verify earlier signatures.
func (k sharedKeys) passkeys() string { return k.in("passkeys") }

// installation is a string, the document about the installation as JSON; see
// installation.go. It has no hash tag, because each version of nod must find it.
func (k sharedKeys) installation() string { return k.prefix + ":conf" }

// daemons is a hash of the running daemons, each with the fingerprint of its
// keys and the time of its last Announce in ms. It lives for announcedFor.
func (k sharedKeys) daemons() string { return k.in("daemons") }

// keysID is a string, the fingerprint of the keys that the deployment signs
// with.
func (k sharedKeys) keysID() string { return k.in("keyid") }

// signingKey is a string, the seed of the key that signs receipts, in hex. It
// exists only if the deployment keeps that key in Redis.
func (k sharedKeys) signingKey() string { return k.in("sign") }

// tokenKey is a string, the key that signs controls, in hex.
func (k sharedKeys) tokenKey() string { return k.in("key") }

// Outbox returns the keys of the outbox under a prefix: of the times when jobs are
// due, and of their states.
func Outbox(prefix string) (due, states string) {
	k := newKeys(prefix)
	return k.outbox(), k.jobs()
}

// hashed returns the name under which a caller's key is stored. The key itself
// may hold a credential.
func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
