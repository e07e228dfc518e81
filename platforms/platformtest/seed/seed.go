// Package seed makes random tests repeatable.
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// variable is the environment variable that repeats a run.
const variable = "NOD_TEST_SEED"

// Of returns the seed of a test, and logs it. It is a random one, or the value of
// NOD_TEST_SEED.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv(variable); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
	}
	t.Logf("the seed is %d; set %s to repeat this run", seed, variable)
	return seed
}

// Rand returns random numbers that follow from the seed of a test. It is safe for
// concurrent use.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(&source{pcg: rand.NewPCG(Of(t), 0)})
}

// source is a source for several goroutines.
type source struct {
	mu  sync.Mutex
	pcg *rand.PCG
}

// Uint64 implements rand.Source.
func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.Uint64()
}
