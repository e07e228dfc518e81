// Package cache limits what a process remembers, by number and by size. Its
// callers decide what they may remember.
package cache

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache holds values up to a number and a total size. The value that is not used
// for the longest time leaves first. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	values *simplelru.LRU[K, V]
	size   func(V) int // nil if sizes are not limited
	total  int
	limit  int
}

// New returns a cache of up to many values.
func New[K comparable, V any](many int) *Cache[K, V] { return Sized[K, V](many, 0, nil) }

// Sized returns a cache of up to many values, whose sizes add up to limit at the
// most. The size of a value must not change. It panics if many is below 1.
func Sized[K comparable, V any](many, limit int, size func(V) int) *Cache[K, V] {
	c := &Cache[K, V]{size: size, limit: limit}
	values, err := simplelru.NewLRU(many, func(_ K, v V) { c.total -= c.sizeOf(v) })
	if err != nil {
		panic(err) // only for a number below 1
	}
	c.values = values
	return c
}

func (c *Cache[K, V]) sizeOf(v V) int {
	if c.size == nil {
		return 0
	}
	return c.size(v)
}

// Get returns the value of a key, and reports whether there is one.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values.Get(k)
}

// Put sets the value of a key. The key has no value afterwards if the value is
// larger than the limit.
func (c *Cache[K, V]) Put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(k)
	c.add(k, v)
}

// PutNew sets the value of a key that has none.
func (c *Cache[K, V]) PutNew(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.values.Contains(k) {
		c.add(k, v)
	}
}

// Remove removes the value of a key, if there is one.
func (c *Cache[K, V]) Remove(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(k)
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values.Len()
}

func (c *Cache[K, V]) add(k K, v V) {
	size := c.sizeOf(v)
	if size > c.limit {
		return
	}
	c.total += size
	c.values.Add(k, v)
	for c.total > c.limit {
		c.values.RemoveOldest()
	}
}
