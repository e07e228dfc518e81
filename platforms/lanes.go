package platforms

import "sync"

// Lanes keeps the order of work: work with the same key runs one after another, in
// the order in which it entered. The zero value is ready for use. Lanes is safe for
// concurrent use.
type Lanes struct {
	mu   sync.Mutex
	last map[string]chan struct{} // end of the newest work of a key
}

// Enter adds work to the lane of a key. It returns a function that waits for
// the earlier work of the lane, and a function that ends the work. The caller
// must call both. Work with an empty key waits for nothing.
func (l *Lanes) Enter(key string) (wait, leave func()) {
	if key == "" {
		return func() {}, func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[string]chan struct{}{}
	}
	before, end := l.last[key], make(chan struct{})
	l.last[key] = end
	wait = func() {
		if before != nil {
			<-before
		}
	}
	leave = func() {
		close(end)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.last[key] == end {
			delete(l.last, key)
		}
	}
	return wait, leave
}
