package redistest

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// quiet discards the client's own log, because many tests make a server
// unreachable.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// redialer is a goroutine of the client: it checks once a second whether its
// pool is closed.
const redialer = "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"

// Main runs the tests of a package with stores in Redis. It ends the shared
// server, and fails if goroutines are left.
func Main(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { Close(); os.Exit(code) }), goleak.IgnoreAnyFunction(redialer))
}
