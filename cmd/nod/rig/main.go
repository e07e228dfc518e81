package rig

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/nodbridge/nod/cmd/nod/daemon"
)

// Main runs the tests of a package that uses rigs, and fails them if one leaves
// a goroutine behind.
func Main(m *testing.M) {
	daemon.QuietRedis()
	goleak.VerifyTestMain(m,
		// The Redis client's own: it looks once a second whether its pool is closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), // idle connections of http.DefaultClient
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
	)
}
