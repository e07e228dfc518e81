package observe

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/felixge/httpsnoop"
	"github.com/prometheus/client_golang/prometheus"
)

// API counts the requests to h, and traces requests that open or answer an
// interaction. If a handler takes over the connection, its request ends when
// the connection is closed.
func (o *Observer) API(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := o.tracer.request(r)
		if ctx != r.Context() {
			r = r.WithContext(ctx)
		}
		o.inFlight.Inc()
		taken, code := false, http.StatusOK
		defer func() {
			if !taken {
				o.inFlight.Dec()
			}
		}()
		finish := func(route string, code int) {
			o.request(route, code).Inc()
			end(route, code)
		}
		h.ServeHTTP(httpsnoop.Wrap(w, httpsnoop.Hooks{
			WriteHeader: statusHook(&code),
			Hijack: func(next httpsnoop.HijackFunc) httpsnoop.HijackFunc {
				return func() (net.Conn, *bufio.ReadWriter, error) {
					conn, buffers, err := next()
					if err != nil {
						return conn, buffers, err
					}
					taken = true
					route := routeOf(r)
					return &takenConn{Conn: conn, code: http.StatusOK, ended: func(code int) {
						o.inFlight.Dec()
						finish(route, code)
					}}, buffers, nil
				}
			},
		}), r)
		if !taken {
			finish(routeOf(r), code)
		}
	})
}

// routeCode is a route and the status of a response.
type routeCode struct {
	route string
	code  int
}

// request returns the counter of the requests to a route with a status. The
// number of counters is limited, because the code defines all routes and
// statuses.
func (o *Observer) request(route string, code int) prometheus.Counter {
	key := routeCode{route, code}
	if c, ok := o.counted.Load(key); ok {
		return c.(prometheus.Counter) //nolint:forcetypeassert // the map holds nothing else
	}
	c := o.requests.WithLabelValues(route, strconv.Itoa(code))
	o.counted.Store(key, c)
	return c
}

// routeOf returns the route of a request that was handled.
func routeOf(r *http.Request) string {
	if r.Pattern == "" || r.Pattern == "/" {
		return "unknown"
	}
	return r.Pattern
}

// statusHook records the first final status of a response.
func statusHook(code *int) func(httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
	written := false
	return func(next httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
		return func(status int) {
			next(status)
			if !written && status >= http.StatusOK {
				*code, written = status, true
			}
		}
	}
}

// takenConn is a connection that a handler has taken over. It reads the status
// from the first bytes that the handler writes, if they are a response.
type takenConn struct {
	net.Conn
	mu    sync.Mutex
	wrote bool
	code  int
	ended func(code int) // nil after the connection is closed
}

// statusLine is the start of a response.
const statusLine = "HTTP/1.1 "

// Write implements net.Conn.
func (c *takenConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if !c.wrote {
		c.wrote = true
		if rest, ok := bytes.CutPrefix(b, []byte(statusLine)); ok && len(rest) >= 3 {
			if code, err := strconv.Atoi(string(rest[:3])); err == nil {
				c.code = code
			}
		}
	}
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *takenConn) Close() error {
	c.mu.Lock()
	ended, code := c.ended, c.code
	c.ended = nil
	c.mu.Unlock()
	if ended != nil {
		ended(code)
	}
	return c.Conn.Close()
}
