package daemon

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	store "github.com/nodbridge/nod/broker/redis"
)

const (
	// examineEvery is the interval at which a daemon checks the settings of
	// Redis.
	examineEvery = time.Minute
	// examineTime is the maximum duration of a check.
	examineTime = 20 * time.Second
	// ownFiles is the number of open files that a daemon needs for purposes
	// other than callers, such as its connections to Redis and to platforms.
	ownFiles = 256
)

// connectionsWithin returns the number of caller connections that a limit of
// open files permits. A daemon at this limit cannot accept connections.
func connectionsWithin(files int) int { return max(files-ownFiles, files/2) }

// examineRedis logs problems with the settings of Redis, such as an eviction
// policy that loses decisions, until ctx ends. It logs the start and the end of
// each problem once.
func (d *Daemon) examineRedis(ctx context.Context) {
	was := map[string]bool{}
	for {
		limited, cancel := context.WithTimeout(ctx, examineTime)
		findings := store.Diagnose(limited, d.redis, d.config.Redis.Prefix, d.config.Redis.WaitReplicas)
		cancel()
		if ctx.Err() != nil {
			return
		}
		now := map[string]bool{}
		for _, f := range findings {
			if f.Status != bridge.FindingFailed && f.Status != bridge.FindingWarning {
				continue
			}
			now[f.Check] = true
			if !was[f.Check] {
				d.log.Warn("redis needs attention", "check", f.Check, "detail", f.Detail, "fix", f.Fix)
			}
		}
		for check := range was {
			if !now[check] {
				d.log.Info("redis needs no attention anymore", "check", check)
			}
		}
		was = now
		if !bridge.Pause(ctx, examineEvery) {
			return
		}
	}
}
