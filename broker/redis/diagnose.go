package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Limits and versions that Diagnose checks.
const (
	pings       = 20
	pingWarns   = 20 * time.Millisecond // each click takes a few round trips within 3 s
	clockWarns  = 5 * time.Second
	memoryWarns = 0.8 // of maxmemory
	// Older versions of Redis lack commands that the scripts use.
	oldestMajor, oldestMinor = 6, 2
	preferredMajor           = 7
)

// Diagnose checks whether Redis meets the requirements of the installation with
// a prefix. Waits is the number of replicas that must confirm a decision.
func Diagnose(ctx context.Context, client rdb.UniversalClient, prefix string, waits int) []bridge.Finding {
	r := &report{}
	if err := client.Ping(ctx).Err(); err != nil {
		public := bridge.PublicError(unavailable(ctx, silent(err)))
		detail := public.Message
		if _, answered := errors.AsType[rdb.Error](err); !answered { // otherwise, the message contains it
			detail += ": " + err.Error()
		}
		r.add("reach", bridge.FindingFailed, detail, cmp.Or(public.Hint, "start Redis, and check redis.url, the password and the network"))
		return r.findings
	}
	if err := try(ctx, client, cmp.Or(prefix, DefaultPrefix), waits); err != nil {
		public := bridge.PublicError(unavailable(ctx, silent(err)))
		r.add("works", bridge.FindingFailed, "no request can be stored: "+public.Message, public.Hint)
	} else {
		r.add("works", bridge.FindingOK, "nod has all the rights that it needs", "")
	}
	r.latency(ctx, client)
	each := func(ctx context.Context, c *rdb.Client) error { return r.server(ctx, c, waits) }
	if err := eachMaster(ctx, client, each); err != nil {
		r.add("info", bridge.FindingSkipped, "INFO is not allowed: "+err.Error(), "allow INFO for the Redis user of nod, or check version, persistence and eviction yourself")
	}
	return r.findings
}

type report struct{ findings []bridge.Finding }

// add adds each finding once, because the masters of a Cluster usually have the
// same findings.
func (r *report) add(check string, s bridge.FindingStatus, detail, fix string) {
	f := bridge.Finding{Check: "redis." + check, Status: s, Detail: detail, Fix: fix}
	if !slices.Contains(r.findings, f) {
		r.findings = append(r.findings, f)
	}
}

func (r *report) latency(ctx context.Context, client rdb.UniversalClient) {
	var took []time.Duration
	for range pings {
		began := time.Now()
		if client.Ping(ctx).Err() != nil {
			continue
		}
		took = append(took, time.Since(began))
	}
	if len(took) == 0 {
		r.add("latency", bridge.FindingFailed, "Redis stopped responding", "check the Redis log")
		return
	}
	slices.Sort(took)
	median := took[len(took)/2]
	detail := "a round trip takes " + median.Round(10*time.Microsecond).String()
	if median > pingWarns {
		r.add("latency", bridge.FindingWarning, detail, "run nod close to Redis: a click needs several round trips within 3 s")
		return
	}
	r.add("latency", bridge.FindingOK, detail, "")
}

// server checks one server with the output of INFO.
func (r *report) server(ctx context.Context, c *rdb.Client, waits int) error {
	info, err := c.InfoMap(ctx).Result()
	if err != nil {
		return err
	}
	get := func(section, key string) string { return info[section][key] }
	r.version(get)
	r.persistence(get)
	policy := get("Memory", "maxmemory_policy")
	used, _ := strconv.ParseFloat(get("Memory", "used_memory"), 64)
	most, _ := strconv.ParseFloat(get("Memory", "maxmemory"), 64)
	switch {
	case policy != "" && policy != "noeviction":
		r.add("eviction", bridge.FindingFailed, "maxmemory-policy is "+policy+": Redis may evict decisions", "run CONFIG SET maxmemory-policy noeviction, and set it in redis.conf")
	case most > 0 && used > memoryWarns*most:
		r.add("eviction", bridge.FindingWarning, fmt.Sprintf("%.0f of %.0f MiB are used; when the memory is full, nod cannot store new requests", used/(1<<20), most/(1<<20)), "raise maxmemory, or shorten retention")
	default:
		r.add("eviction", bridge.FindingOK, "Redis evicts nothing", "")
	}
	replicas, _ := strconv.Atoi(get("Replication", "connected_slaves"))
	connected := fmt.Sprintf("%d replicas are", replicas)
	if replicas == 1 {
		connected = "1 replica is"
	}
	switch {
	case replicas < waits:
		r.add("replicas", bridge.FindingFailed, fmt.Sprintf("redis.wait_replicas is %d, but %s connected: no decision can be stored", waits, connected), "connect the replicas, or lower redis.wait_replicas")
	case replicas > 0:
		r.add("replicas", bridge.FindingOK, connected+" connected", "")
	}
	now, err := c.Time(ctx).Result()
	if err != nil {
		return err
	}
	if off := time.Since(now).Abs().Round(time.Millisecond); off > clockWarns {
		r.add("clock", bridge.FindingWarning, "this clock differs by "+off.String()+" from the clock of Redis, which decides deadlines", "synchronize the clocks with NTP")
	} else {
		r.add("clock", bridge.FindingOK, "same as on this machine", "")
	}
	return nil
}

func (r *report) version(get func(section, key string) string) {
	version, name := get("Server", "redis_version"), "Redis "
	if v := get("Server", "valkey_version"); v != "" {
		version, name = v, "Valkey "
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	switch {
	case version == "":
		r.add("version", bridge.FindingSkipped, "the server does not report its version", "")
	case a < oldestMajor || a == oldestMajor && b < oldestMinor:
		r.add("version", bridge.FindingFailed, name+version+" is too old", "upgrade to 7 or newer; 6.2 is the oldest supported version")
	case a < preferredMajor:
		r.add("version", bridge.FindingWarning, name+version+" works; 7 or newer is recommended", "upgrade to 7 or newer")
	default:
		r.add("version", bridge.FindingOK, name+version, "")
	}
}

func (r *report) persistence(get func(section, key string) string) {
	aof, saved := get("Persistence", "aof_enabled") == "1", get("Persistence", "rdb_last_save_time")
	switch {
	case get("Persistence", "loading") == "1":
		r.add("persistence", bridge.FindingWarning, "Redis is loading its data", "wait until it has finished")
	case aof && get("Persistence", "aof_last_write_status") == "err":
		r.add("persistence", bridge.FindingFailed, "Redis cannot write the append-only file", "check the disk and the Redis log")
	case aof:
		r.add("persistence", bridge.FindingOK, "append-only file is on", "")
	case get("Persistence", "rdb_last_bgsave_status") == "err":
		r.add("persistence", bridge.FindingFailed, "the last snapshot failed", "check the disk and the Redis log")
	case saved == "":
		r.add("persistence", bridge.FindingSkipped, "the server does not report its persistence", "")
	default:
		r.add("persistence", bridge.FindingWarning, "the append-only file is off: a restart of Redis loses the decisions since the last snapshot, or all if there are no snapshots", "run CONFIG SET appendonly yes, and set it in redis.conf")
	}
}
