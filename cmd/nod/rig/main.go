package rig

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/nodbridge/nod/cmd/nod/daemon"
)

// Main runs the tests of a package that uses rigs, and fails if one of them
// leaves a goroutine running.
func Main(m *testing.M) {
	daemon.QuietRedis()
	goleak.VerifyTestMain(m,
		// A goroutine of the Redis client, which checks once a second whether
		// its pool is closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), // idle connections of http.DefaultClient
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
	)
}
