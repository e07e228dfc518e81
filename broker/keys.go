package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// keys builds every key name; see the package comment for what they hold.
type keys struct{ prefix string }

func (k keys) in(partition int, rest string) string {
	return k.prefix + ":{" + strconv.Itoa(partition) + "}:" + rest
}

func (k keys) record(id bridge.ID) string { return k.in(id.Partition(), "i:"+string(id)) }
func (k keys) draft(id bridge.ID) string  { return k.in(id.Partition(), "d:"+string(id)) }

// idem is named by a hash: an idempotency key may hold a credential.
func (k keys) idem(p int, agent, key string) string {
	return k.in(p, "kh:"+agent+"/"+hashed(key))
}

// plainIdem is where older versions kept it. It is only read.
func (k keys) plainIdem(p int, agent, key string) string {
	return k.in(p, "k:"+agent+"/"+key)
}
func (k keys) session(p int, agent, session string) string {
	return k.in(p, "s:"+agent+"/"+session)
}
func (k keys) grants(p int, agent, session string) string {
	return k.in(p, "g:"+agent+"/"+session)
}

// grantOwners are the agents and sessions that have grants in a partition, by
// when the last of them ends.
func (k keys) grantOwners(p int) string { return k.in(p, "go") }

func (k keys) deadlines(p int) string { return k.in(p, "dl") }
func (k keys) outbox(p int) string    { return k.in(p, "out") }
func (k keys) jobs(p int) string      { return k.in(p, "jobs") }
func (k keys) dead(p int) string      { return k.in(p, "dead") }
func (k keys) events(p int) string    { return k.in(p, "ev") }
func (k keys) nodes(p int) string     { return k.in(p, "nodes") }
func (k keys) late(p int) string      { return k.in(p, "late") }
func (k keys) audit(p int) string     { return k.in(p, "au") }
func (k keys) auditHead(p int) string { return k.in(p, "auh") }
func (k keys) seals(p int) string     { return k.in(p, "aus") }
func (k keys) open(p int) string      { return k.in(p, "open") }
func (k keys) clients(p int, session string) string {
	return k.in(p, "c:"+session)
}
func (k keys) all(p int) string        { return k.in(p, "all") }
func (k keys) note(key string) string  { return k.prefix + ":n:" + key }
func (k keys) lease(key string) string { return k.prefix + ":l:" + key }
func (k keys) wake(node string) string { return k.prefix + ":wake:" + node }
func (k keys) conf() string            { return k.prefix + ":conf" }
func (k keys) rate(agent string, minute int64) string {
	return k.prefix + ":r:" + agent + ":" + strconv.FormatInt(minute, 10)
}
func (k keys) keysID() string     { return k.prefix + ":keyid" }
func (k keys) daemons() string    { return k.prefix + ":daemons" }
func (k keys) links() string      { return k.prefix + ":links" }
func (k keys) signingKey() string { return k.prefix + ":sign" }
func (k keys) tokenKey() string   { return k.prefix + ":key" }

// hashed stands for a key of a caller, which may hold a credential.
func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
