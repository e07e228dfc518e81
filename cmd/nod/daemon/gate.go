package daemon

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// bodyTime bounds how long a caller without a token takes to send a request.
	bodyTime = 10 * time.Second
	// openBodies is the number of callers without a token that may be sending
	// a body at a time.
	openBodies = 256
	maxRequest = 1 << 20 // bytes of a body
)

// slots hold a number of things at a time. When another one comes, the oldest
// has to go: whoever fills them slowly loses its own place first.
type slots struct {
	max int

	mu    sync.Mutex
	order list.List // of func(), the oldest first
}

// enter takes a slot. Evict is called if it is needed for another one, and
// leave gives it back.
func (s *slots) enter(evict func()) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if oldest := s.order.Front(); oldest != nil && s.order.Len() >= s.max {
		s.order.Remove(oldest).(func())() //nolint:errcheck,forcetypeassert // nothing else is in it
	}
	e := s.order.PushBack(evict)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.order.Remove(e)
	}
}

// gate accepts connections up to a number. Beyond it, the oldest connection
// that has not shown a valid token is closed, so that callers with a token are
// served however many others there are. If all have shown one, a new
// connection is closed.
type gate struct {
	net.Listener
	max int

	mu      sync.Mutex
	open    int
	waiting list.List // of *gated that have shown no token, the oldest first
}

// gated is a connection of a gate.
type gated struct {
	net.Conn
	gate  *gate
	entry *list.Element
	once  sync.Once
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	own := &gated{Conn: c, gate: g}
	own.entry = g.waiting.PushBack(own)
	g.open++
	var oldest *gated
	if g.open > g.max {
		oldest, _ = g.waiting.Front().Value.(*gated)
	}
	g.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // it is gone either way
	}
	return own, nil
}

// Close implements net.Conn.
func (c *gated) Close() error {
	c.once.Do(func() {
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		c.gate.open--
		c.remove()
	})
	return c.Conn.Close()
}

// remove takes the connection from those that may be closed for others.
func (c *gated) remove() {
	if c.entry != nil {
		c.gate.waiting.Remove(c.entry)
		c.entry = nil
	}
}

type gatedKey struct{}

// connContext makes the connection known to the handlers of its requests.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, gatedKey{}, c)
}

// proven notes that the connection of a request has shown a valid token.
func proven(r *http.Request) {
	if c, ok := r.Context().Value(gatedKey{}).(*gated); ok {
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		c.remove()
	}
}

// bounded limits the size of a body and the time to read it. The API allows
// callers with a valid token more time.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A writer that knows no deadlines is a test's.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		next.ServeHTTP(w, r)
	})
}

// queued bounds how many requests are read at a time whose sender is known
// only from their body, such as the callbacks of platforms.
func queued(s *slots, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		c := http.NewResponseController(w)
		leave := s.enter(func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
		var once sync.Once
		done := func() { once.Do(leave) }
		defer done()
		r.Body = &watched{r.Body, func(err error) {
			done()
			if errors.Is(err, io.EOF) {
				_ = c.SetReadDeadline(time.Time{}) // what it leads to may take longer
			}
		}}
		next.ServeHTTP(w, r)
	})
}

// watched is a body that calls done with the error that ends it.
type watched struct {
	io.ReadCloser
	done func(error)
}

// Read implements io.Reader.
func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.done(err)
	}
	return n, err
}
