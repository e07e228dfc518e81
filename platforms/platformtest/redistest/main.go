package redistest

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// quiet discards what the client prints: many tests make a server unreachable.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// redialer is the client's own: it looks once a second whether its pool is closed by
// now.
const redialer = "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"

// Main runs the tests of a package whose stores are on Redis. It ends the shared
// server, and fails if goroutines are left.
func Main(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { Close(); os.Exit(code) }), goleak.IgnoreAnyFunction(redialer))
}
