package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// parkAfter is the time for which a waiting call keeps its connection in
	// net/http. Programs usually answer within that time, and people rarely do.
	parkAfter = time.Second
	// parkWrite is the time that a caller has to receive its response.
	parkWrite = 30 * time.Second
	// parkLinger is the time that a caller has to close its connection once it
	// has its response.
	parkLinger = 500 * time.Millisecond
)

// answer responds to a call that has waited. A nil answer means that the caller
// has disconnected. The context ends when the caller disconnects.
type answer func(ctx context.Context, w http.ResponseWriter) error

// refusal returns an answer that is an error.
func refusal(err error) answer {
	return func(context.Context, http.ResponseWriter) error { return err }
}

// parked is a call that waits. net/http holds three buffers, the request, and
// the stack of its handler for as long as the handler runs, and has no setting
// that releases them. A call that waits for longer than parkAfter takes over
// its connection, and its handler returns: only the connection and a goroutine
// that notices its end remain. The connection is closed after the response.
type parked struct {
	s            shared
	method, path string
	header       http.Header
	here         context.Context // done when the caller disconnects
	gone         context.CancelFunc
	still        func() bool     // returned by still
	until        context.Context // done when here is done, and at the end of the wait
	cancel       context.CancelFunc
	done         chan struct{} // closed at the end, unless the call was parked

	mu       sync.Mutex
	over     bool
	conn     net.Conn // nil unless the call was parked
	answer   answer   // set at the end
	panicked any
}

// wait starts work, which waits for at most the given time, and responds with
// its answer. Work gets two contexts: the first ends when the caller
// disconnects, and the second also ends at the end of the wait. Work must not
// keep the request or w. It returns immediately, and calls done exactly once,
// on another goroutine, with a function that prepares the answer.
func (s shared) wait(
	w http.ResponseWriter, r *http.Request, wait time.Duration,
	work func(here, wait context.Context, done func(func() answer)),
) error {
	requestRead(w)
	c := &parked{s: s, method: r.Method, path: r.URL.Path, header: w.Header(), done: make(chan struct{}), still: still(r.Context())}
	c.here, c.gone = context.WithCancel(context.WithoutCancel(r.Context()))
	c.until, c.cancel = s.waitContext(c.here, wait)
	follows := context.AfterFunc(r.Context(), c.gone)
	work(c.here, c.until, c.finish)
	if wait > parkAfter && r.ProtoMajor == 1 && r.ProtoMinor == 1 && r.Method != http.MethodHead {
		t := time.NewTimer(parkAfter)
		defer t.Stop()
		select {
		case <-c.done:
		case <-t.C:
			if c.park(w, follows) {
				return nil
			}
		}
	}
	<-c.done
	follows()
	if c.panicked != nil {
		panic(c.panicked) // net/http recovers the panics of its own goroutines only
	}
	if c.answer == nil {
		return nil
	}
	return c.answer(c.here, w)
}

// finish prepares the answer, and responds if the call was parked in the meantime.
func (c *parked) finish(prepare func() answer) {
	defer c.end()
	if c.answer = prepare(); c.answer != nil && c.still != nil && !c.still() {
		c.answer = refusal(errSignedOut)
	}
}

// end ends the work of a call, even after a panic.
func (c *parked) end() {
	c.panicked = recover()
	c.cancel()
	c.mu.Lock()
	c.over = true
	conn := c.conn
	c.mu.Unlock()
	if conn == nil {
		close(c.done) // the handler responds
		return
	}
	defer c.s.parked.Done()
	defer conn.Close()
	defer c.gone()
	if c.panicked == nil && c.answer != nil {
		c.respond(conn)
	}
	if c.panicked != nil {
		c.s.log.Error("a waiting call panicked", "method", c.method, "path", c.path, "panic", fmt.Sprint(c.panicked))
	}
}

// respond writes the answer to the connection. It recovers from a panic, which
// would otherwise end the process.
func (c *parked) respond(conn net.Conn) {
	defer func() { c.panicked = recover() }()
	w := &parkedWriter{conn: conn, header: c.header}
	if err := c.answer(c.here, w); err != nil && c.here.Err() == nil {
		c.s.fail(w, c.method, c.path, err)
	}
	if w.FlushError() != nil {
		return
	}
	// Unread bytes would make the kernel discard the response.
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(parkLinger))
	_, _ = io.CopyN(io.Discard, conn, maxBody)
}

// park takes over the connection. It returns false if the handler has to wait,
// because the wait is over or the connection cannot be taken over.
func (c *parked) park(w http.ResponseWriter, follows func() bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	// A Shutdown of the server does not wait for a connection that was taken
	// over, so the call must be counted before the takeover.
	c.s.parked.Add(1)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		c.s.parked.Done()
		return false
	}
	follows() // the context of the request ends with its handler
	c.conn = conn
	go c.listen(conn)
	return true
}

// listen notices when the caller disconnects. It drops data that the caller
// sends in the meantime: a caller that sends another request before it has its
// response has to send that request again on a new connection. A caller that
// sends too much data counts as disconnected.
func (c *parked) listen(conn net.Conn) {
	var b [64]byte
	for rest := maxBody; rest > 0; {
		n, err := conn.Read(b[:])
		if err != nil {
			break
		}
		rest -= n
	}
	c.gone()
}

// parkedWriter is the http.ResponseWriter of a parked call. It sends the
// complete response at once.
type parkedWriter struct {
	conn   net.Conn
	header http.Header
	code   int
	body   bytes.Buffer
	sent   bool
	err    error
}

// Header implements http.ResponseWriter.
func (w *parkedWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *parkedWriter) WriteHeader(code int) { w.code = cmp.Or(w.code, code) }

// Write implements http.ResponseWriter.
func (w *parkedWriter) Write(b []byte) (int, error) {
	if w.sent {
		return 0, http.ErrContentLength
	}
	return w.body.Write(b)
}

// FlushError sends the response, for http.ResponseController.
func (w *parkedWriter) FlushError() error {
	if w.sent {
		return w.err
	}
	w.sent = true
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	resp := http.Response{
		StatusCode: cmp.Or(w.code, http.StatusOK), ProtoMajor: 1, ProtoMinor: 1, Close: true,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}
	_ = w.conn.SetWriteDeadline(time.Now().Add(parkWrite))
	out := bufio.NewWriter(w.conn)
	if w.err = resp.Write(out); w.err == nil {
		w.err = out.Flush()
	}
	return w.err
}
