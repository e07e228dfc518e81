package rig

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// Main runs the tests of a package that uses rigs, and fails if a rig leaves a
// goroutine running. It removes the binary that the tests have built.
func Main(m *testing.M) {
	daemon.QuietRedis()
	goleak.VerifyTestMain(m,
		goleak.Cleanup(func(code int) {
			redistest.Close()
			if buildDir != "" {
				_ = os.RemoveAll(buildDir) // leftovers are in the directory for temporary files
			}
			os.Exit(code)
		}),
		// This goroutine of the Redis client checks once a second whether its
		// pool is closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), // idle connections of http.DefaultClient
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
	)
}
