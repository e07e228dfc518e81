package redis

import (
	"context"
	"errors"
	"strings"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// allowIt is the hint for a missing right. Redis words the error differently if
// a script needs the right. Redis 7.2 and Valkey use yet another wording.
const allowIt = "allow it to the user in redis.url; docs/operate/redis.md has the ACL rule that nod needs"

// refusals lists the beginnings of the errors that Redis returns for commands
// of nod, with the fix for each. If a script causes the error, Redis 6 puts
// this text in the middle of its own error.
var refusals = []struct{ start, hint string }{
	{"OOM", "raise maxmemory, and keep the eviction policy noeviction"},
	{"NOPERM", allowIt},
	{"The user executing the script can't", allowIt},
	{"ACL failure in script", allowIt},
	{"READONLY", "connect nod to the master: this is a replica; with Sentinel, set master_name in redis.url"},
	{"MOVED", "set redis.cluster to true: this is a node of a Cluster"},
	{"CROSSSLOT", "set redis.cluster to true: this is a node of a Cluster"},
	{"CLUSTERDOWN", "wait until all slots of the Cluster have a master, or see CLUSTER INFO"},
	{"MASTERDOWN", "connect nod to the master: this replica has lost it"},
	{"NOREPLICAS", "connect as many replicas as min-replicas-to-write requires"},
	{"MISCONF", "free disk space, or see the log of Redis: Redis cannot write to its disk"},
	{"LOADING", "wait until Redis has loaded its data"},
	{"BUSY", "wait, or run SCRIPT KILL: a script of another program blocks Redis"},
	{"NOAUTH", "set redis.password or NOD_REDIS_PASSWORD"},
	{"WRONGPASS", "check the user in redis.url, and redis.password"},
	{"WRONGTYPE", "set another redis.prefix: another program uses keys under this one"},
	{"max number of clients", "raise maxclients of Redis"},
	{"unknown command", "upgrade Redis to 6.2 or newer, or allow the command: some services rename or remove it"},
	{"syntax error", "upgrade Redis to 6.2 or newer"},
}

// transact sends commands. Redis runs all of them or none. If Redis refuses one
// of them, only the reply to that command contains the reason. The other
// replies say only that nothing was run.
func transact(ctx context.Context, client rdb.UniversalClient, queue func(rdb.Pipeliner) error) error {
	cmds, err := client.TxPipelined(ctx, queue)
	for _, cmd := range cmds {
		if own := cmd.Err(); own != nil && (err == nil || errors.Is(err, rdb.Nil) || rdb.HasErrorPrefix(err, "EXECABORT ")) {
			err = own
		}
	}
	if errors.Is(err, rdb.Nil) {
		return nil
	}
	return unavailable(ctx, err)
}

// maxRefusal is the maximum length of an error text of Redis, in bytes. Longer
// texts are truncated.
const maxRefusal = 200

// unavailable adds a code to errors of Redis, and a hint to its error replies.
// If ctx has ended, a context error passes unchanged. Otherwise, such an error
// is a timeout of the client, for example while it opens a connection.
func unavailable(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return err
	case bridge.ErrorCode(err) != bridge.CodeInternal:
		return err
	}
	answer, answered := errors.AsType[rdb.Error](err)
	if !answered {
		return bridge.Wrap(bridge.CodeUnavailable, err, "redis is unreachable")
	}
	text, _, failed := strings.Cut(answer.Error(), ", on @user_script")
	if at := strings.LastIndex(text, " script: "); failed && at >= 0 {
		text = text[:at] // the hash of the script follows
	}
	if len(text) > maxRefusal {
		text = strings.ToValidUTF8(text[:maxRefusal], "") + "…"
	}
	text = strings.TrimSuffix(text, ".")
	refused := bridge.Errorf(bridge.CodeUnavailable, "redis refuses: %s", text)
	for _, r := range refusals {
		if strings.HasPrefix(strings.TrimPrefix(text, "ERR "), r.start) || strings.Contains(text, "-"+r.start+" ") || strings.Contains(r.start, " ") && strings.Contains(text, r.start) {
			return refusal{refused.WithHint("%s", r.hint), answer}
		}
	}
	return refusal{refused, answer}
}

// refusal is an error reply of Redis. Its text is the text of the reply.
type refusal struct {
	public *bridge.Error
	answer rdb.Error
}

func (r refusal) Error() string   { return r.public.Error() }
func (r refusal) Unwrap() []error { return []error{r.public, r.answer} }
