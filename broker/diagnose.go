package broker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// What Diagnose says of Redis.
const (
	pings       = 20
	pingWarns   = 20 * time.Millisecond // each press takes a few round trips, within 3 s
	clockWarns  = 5 * time.Second
	memoryWarns = 0.8 // of maxmemory
	// oldest and preferred versions; older ones lack what the scripts use.
	oldestMajor, oldestMinor = 6, 2
	preferredMajor           = 7
)

// Diagnose checks what nod needs of Redis. Waits is how many replicas a
// decision waits for.
func Diagnose(ctx context.Context, client redis.UniversalClient, waits int) []bridge.Finding {
	r := &report{}
	if err := client.Ping(ctx).Err(); err != nil {
		r.add("reach", bridge.FindingFailed, bridge.PublicError(unavailable(err)).Message+": "+err.Error(), "start Redis, and check redis.url, its password and the network in between")
		return r.findings
	}
	r.latency(ctx, client)
	each := func(ctx context.Context, c *redis.Client) error { return r.server(ctx, c, waits) }
	if err := eachMaster(ctx, client, each); err != nil {
		r.add("info", bridge.FindingSkipped, "INFO is not allowed: "+err.Error(), "allow it to nod's user, or check version, persistence and eviction yourself")
	}
	return r.findings
}

type report struct{ findings []bridge.Finding }

// add adds a finding, once: the masters of a Cluster are mostly alike.
func (r *report) add(check string, s bridge.FindingStatus, detail, fix string) {
	f := bridge.Finding{Check: "redis." + check, Status: s, Detail: detail, Fix: fix}
	if !slices.Contains(r.findings, f) {
		r.findings = append(r.findings, f)
	}
}

func (r *report) latency(ctx context.Context, client redis.UniversalClient) {
	var took []time.Duration
	for range pings {
		began := time.Now()
		if client.Ping(ctx).Err() != nil {
			continue
		}
		took = append(took, time.Since(began))
	}
	if len(took) == 0 {
		r.add("latency", bridge.FindingFailed, "Redis stopped answering", "look at its log")
		return
	}
	slices.Sort(took)
	median := took[len(took)/2]
	detail := "a round trip takes " + median.Round(10*time.Microsecond).String()
	if median > pingWarns {
		r.add("latency", bridge.FindingWarning, detail, "run nod near its Redis: a press needs several round trips within 3 s")
		return
	}
	r.add("latency", bridge.FindingOK, detail, "")
}

// server checks one server by its INFO.
func (r *report) server(ctx context.Context, c *redis.Client, waits int) error {
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
		r.add("eviction", bridge.FindingFailed, "maxmemory-policy is "+policy+": Redis may throw decisions away", "CONFIG SET maxmemory-policy noeviction, and in its configuration")
	case most > 0 && used > memoryWarns*most:
		r.add("eviction", bridge.FindingWarning, fmt.Sprintf("%.0f of %.0f MiB are used; when all is, nothing new can be asked", used/(1<<20), most/(1<<20)), "raise maxmemory, or shorten retention")
	default:
		r.add("eviction", bridge.FindingOK, "nothing is thrown away", "")
	}
	replicas, _ := strconv.Atoi(get("Replication", "connected_slaves"))
	switch {
	case replicas < waits:
		r.add("replicas", bridge.FindingFailed, fmt.Sprintf("redis.wait_replicas wants %d, and %d are connected: nothing can be decided", waits, replicas), "connect the replicas, or lower redis.wait_replicas")
	case replicas > 0:
		r.add("replicas", bridge.FindingOK, fmt.Sprintf("%d are connected", replicas), "")
	}
	now, err := c.Time(ctx).Result()
	if err != nil {
		return err
	}
	if off := time.Since(now).Abs().Round(time.Millisecond); off > clockWarns {
		r.add("clock", bridge.FindingWarning, "this clock is "+off.String()+" off that of Redis, which decides about deadlines", "set the clocks by NTP")
	} else {
		r.add("clock", bridge.FindingOK, "as this machine's", "")
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
		r.add("version", bridge.FindingSkipped, "the server does not say its version", "")
	case a < oldestMajor || a == oldestMajor && b < oldestMinor:
		r.add("version", bridge.FindingFailed, name+version+" is too old", "use 7 or newer; 6.2 is the oldest that works")
	case a < preferredMajor:
		r.add("version", bridge.FindingWarning, name+version+" works; 7 or newer is better", "upgrade it when you can")
	default:
		r.add("version", bridge.FindingOK, name+version, "")
	}
}

func (r *report) persistence(get func(section, key string) string) {
	aof, saved := get("Persistence", "aof_enabled") == "1", get("Persistence", "rdb_last_save_time")
	switch {
	case get("Persistence", "loading") == "1":
		r.add("persistence", bridge.FindingWarning, "Redis is loading its data", "wait")
	case aof && get("Persistence", "aof_last_write_status") == "err":
		r.add("persistence", bridge.FindingFailed, "the append-only file can not be written", "look at the disk and the log of Redis")
	case aof:
		r.add("persistence", bridge.FindingOK, "append-only file", "")
	case get("Persistence", "rdb_last_bgsave_status") == "err":
		r.add("persistence", bridge.FindingFailed, "the last snapshot failed", "look at the disk and the log of Redis")
	case saved == "":
		r.add("persistence", bridge.FindingSkipped, "the server does not say", "")
	default:
		r.add("persistence", bridge.FindingWarning, "there is no append-only file: a restart of Redis loses the decisions since its last snapshot, if it makes any", "CONFIG SET appendonly yes, and in its configuration")
	}
}
