// Package seed makes random tests repeatable.
package seed

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// variable is the environment variable that sets the seed of every test: a
// number, or "any" for a random seed in each run.
const variable = "NOD_TEST_SEED"

// Of returns the seed of a test, and logs it. Without NOD_TEST_SEED, the seed
// is derived from the name of the test, so that a test which passed does not
// fail by chance. "make fuzz" tries other seeds.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed := named(t.Name())
	switch s := os.Getenv(variable); s {
	case "":
	case "any":
		seed = rand.Uint64()
	default:
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
	}
	t.Logf("the seed is %d; set %s to repeat this run", seed, variable)
	return seed
}

// named returns the seed that is derived from a name.
func named(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// Rand returns a source of random numbers with the seed of a test. It is safe
// for concurrent use.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(&source{pcg: rand.NewPCG(Of(t), 0)})
}

// Own returns a source of random numbers for one of several goroutines of a
// test. Its numbers depend on the seed of the test and on a name, but not on the
// order in which the goroutines run. It is not safe for concurrent use.
func Own(seed uint64, name string) *rand.Rand { return rand.New(rand.NewPCG(seed, named(name))) }

// source is a random source that several goroutines can use.
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
