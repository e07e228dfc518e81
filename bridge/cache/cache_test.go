package cache

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestLimits checks that a cache stays within its limits and counts exactly,
// whatever is put and removed.
func TestLimits(t *testing.T) {
	t.Parallel()
	const many, limit = 50, 1000
	r := rand.New(rand.NewPCG(1, 2))
	sizes := []int{0, 1, 20, limit / 3, limit - 1, limit, limit + 1}
	c := Sized[string](many, limit, func(size int) int { return size })
	for range 20_000 {
		k, size := strconv.Itoa(r.IntN(2*many)), sizes[r.IntN(len(sizes))]
		switch r.IntN(5) {
		case 0:
			c.Remove(k)
			if _, ok := c.Get(k); ok {
				t.Fatal("a removed value is there")
			}
		case 1:
			before, had := c.Get(k)
			c.PutNew(k, size)
			if after, ok := c.Get(k); had && after != before || !had && ok != (size <= limit) {
				t.Fatalf("%d became %d when %d was put as new", before, after, size)
			}
		default:
			c.Put(k, size)
			if got, ok := c.Get(k); ok != (size <= limit) || ok && got != size {
				t.Fatalf("%d put, %d found: %v", size, got, ok)
			}
		}
		sum := 0
		for _, v := range c.values.Values() {
			sum += v
		}
		if sum != c.total || sum > limit || c.Len() > many {
			t.Fatalf("%d values with a size of %d, counted %d", c.Len(), sum, c.total)
		}
	}
}

// TestOldestLeaves checks that the value that was not used for the longest time
// leaves first.
func TestOldestLeaves(t *testing.T) {
	t.Parallel()
	c := New[int, string](2)
	c.Put(1, "one")
	c.Put(2, "two")
	c.Get(1)
	c.Put(3, "three")
	if _, ok := c.Get(2); ok || c.Len() != 2 {
		t.Error("the value that was not used is still there")
	}
	if v, ok := c.Get(1); !ok || v != "one" {
		t.Error("the value that was used has left")
	}
}
