package await

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Random returns random numbers for a test. It logs their seed, and takes it from
// NOD_TEST_SEED to repeat a run.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("NOD_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("NOD_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
