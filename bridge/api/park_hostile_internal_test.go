package api

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// parkingLot is a server whose calls are parked until release is closed.
type parkingLot struct {
	*httptest.Server
	release chan struct{}
	calls   sync.WaitGroup // see Options.Parked
	left    chan struct{}  // receives for each caller whose disconnection was noticed
	parked  chan struct{}  // receives for each call that was parked
	log     bytes.Buffer   // may be read when calls is at zero
}

func newParkingLot(t *testing.T, a answer) *parkingLot {
	t.Helper()
	p := &parkingLot{release: make(chan struct{}), left: make(chan struct{}, 100), parked: make(chan struct{}, 100)}
	s := shared{
		closing: t.Context(), parked: &p.calls, redact: func(text string) string { return text },
		log: slog.New(slog.NewTextHandler(&p.log, nil)),
	}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.Copy(io.Discard, r.Body)
		err := s.wait(w, r, time.Minute, func(here, until context.Context, done func(func() answer)) {
			go done(func() answer {
				select {
				case <-p.release:
				case <-until.Done():
				}
				if here.Err() != nil {
					p.left <- struct{}{}
					return nil
				}
				return a
			})
		})
		if err != nil {
			s.fail(w, r.Method, r.URL.Path, err)
		}
	}))
	p.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateHijacked {
			p.parked <- struct{}{}
		}
	}
	p.Start()
	t.Cleanup(p.Server.Close)
	return p
}

// await waits until n more calls are parked.
func (p *parkingLot) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		await.Receive(t, "a parked call", p.parked)
	}
}

// call sends a text to the server.
func (p *parkingLot) call(t *testing.T, text string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

const parkedCall = "POST / HTTP/1.1\r\nHost: nod\r\nContent-Length: 2\r\n\r\n{}"

// TestParkedPanics checks that an answer that panics ends only its own call, after
// it was parked as before, and leaves no call that a shutdown would wait for.
func TestParkedPanics(t *testing.T) {
	t.Parallel()
	p := newParkingLot(t, func(context.Context, http.ResponseWriter) error { panic("hostile record") })
	c := p.call(t, parkedCall)
	p.await(t, 1)
	close(p.release)
	if raw, err := io.ReadAll(c); err != nil || len(raw) > 0 {
		t.Errorf("%q, %v", raw, err)
	}
	p.calls.Wait()
	if !strings.Contains(p.log.String(), "hostile record") {
		t.Errorf("logged %q", p.log.String())
	}
}

// TestParkedHostile checks calls of clients that send too much or too little, leave
// halfway or do not read. Each that reads gets one complete response.
func TestParkedHostile(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	p := newParkingLot(t, func(_ context.Context, w http.ResponseWriter) error { return write(w, http.StatusCreated, large) })
	readers := map[string]net.Conn{
		"usual":         p.call(t, parkedCall),
		"HTTP/1.0":      p.call(t, "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}"),
		"closes":        p.call(t, strings.Replace(parkedCall, "Host", "Connection: close\r\nHost", 1)),
		"pipelines":     p.call(t, parkedCall+strings.Repeat(parkedCall, 50)),
		"sends garbage": p.call(t, parkedCall+strings.Repeat("\x00\r\n", 10_000)),
		"later garbage": p.call(t, parkedCall),
	}
	leaving, blocked := p.call(t, parkedCall), p.call(t, parkedCall)
	p.await(t, len(readers)+1) // all but the one with HTTP/1.0
	leaving.Close()
	await.Receive(t, "the disconnection of a parked caller", p.left)
	if _, err := io.WriteString(readers["later garbage"], strings.Repeat("GET ", 10_000)); err != nil {
		t.Fatal(err)
	}
	close(p.release)
	for name, c := range readers {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusCreated || string(raw) != fmt.Sprintf("%q\n", large) || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v, %d bytes, %v", name, resp.Status, len(raw), err)
		}
	}
	blocked.Close()
	p.calls.Wait()
}

// TestWebSocketPanics checks that an answer that panics on a WebSocket is logged and
// does not end the process.
func TestWebSocketPanics(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	c := &wsConn{}
	c.s.log = slog.New(slog.NewTextHandler(&logged, nil))
	var wg sync.WaitGroup
	wg.Go(func() {
		defer c.contain()
		panic("hostile record")
	})
	wg.Wait()
	if !strings.Contains(logged.String(), "hostile record") {
		t.Errorf("logged %q", logged.String())
	}
}
