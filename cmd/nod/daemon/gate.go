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

	"github.com/nodbridge/nod/bridge/api"
)

const (
	// bodyTime is the time that a caller without a token has to send a request.
	bodyTime = 10 * time.Second
	// openBodies is the number of callers without a token that may send a body
	// at the same time.
	openBodies = 256
	maxRequest = 1 << 20 // size limit of a body, in bytes
)

// slots holds a limited number of items. If it is full, a new item evicts the
// oldest one, so that slow senders lose their own slots first.
type slots struct {
	max int

	mu    sync.Mutex
	order list.List // elements are func(), oldest first
}

// enter takes a slot. The returned function frees the slot. If another item
// needs the slot, evict is called.
func (s *slots) enter(evict func()) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if oldest := s.order.Front(); oldest != nil && s.order.Len() >= s.max {
		s.order.Remove(oldest).(func())() //nolint:errcheck,forcetypeassert // the list has only such functions
	}
	e := s.order.PushBack(evict)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.order.Remove(e)
	}
}

// gate limits the number of connections. At the limit, it closes the oldest
// connection without a valid token, so that callers with a token are always
// served. If every connection has a valid token, it closes the new connection.
type gate struct {
	net.Listener
	max int

	mu      sync.Mutex
	open    int
	waiting list.List // elements are *gated without a token, oldest first
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
		_ = oldest.Close() // the connection is dropped in any case
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

// remove takes the connection off the list of connections that the gate may
// close.
func (c *gated) remove() {
	if c.entry != nil {
		c.gate.waiting.Remove(c.entry)
		c.entry = nil
	}
}

type gatedKey struct{}

// connContext gives the handlers of a connection's requests access to the
// connection.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, gatedKey{}, c)
}

// proven records that a request on the connection contained a valid token.
func proven(r *http.Request) {
	if c, ok := r.Context().Value(gatedKey{}).(*gated); ok {
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		c.remove()
	}
}

// bounded limits the size of a body and the time to read it. The API gives more
// time to callers with a valid token.
func (d *Daemon) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// Only the response writers of tests do not support deadlines.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d.bodyTime))
			r.Body = http.MaxBytesReader(w, r.Body, max(maxRequest, api.MaxBody(r.URL.Path)))
		}
		next.ServeHTTP(w, r)
	})
}

// queued limits the number of concurrent requests whose sender is only known
// from the body, such as callbacks of platforms.
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
				_ = c.SetReadDeadline(time.Time{}) // handling the request may take longer
			}
		}}
		next.ServeHTTP(w, r)
	})
}

// watched is a body that passes its final error to done.
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
