package redistest

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// ChaosSpan returns the time for which a test injects faults: short in `make
// test`, and the value of NOD_CHAOS in `make chaos`.
func ChaosSpan(t testing.TB, short time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv("NOD_CHAOS")
	if s == "" {
		return short
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("NOD_CHAOS: %v", err)
	}
	return d
}

// Proxy relays between clients and a server, and injects network faults. It
// ends with the test.
type Proxy struct {
	Addr     string
	listener net.Listener
	target   string

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	refuse  bool
	stalled bool // drops all data, while connections stay open
	delay   time.Duration
	noNews  bool // drops published messages
	done    sync.WaitGroup
	stopped bool
}

// StartProxy starts a proxy for a server.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), listener: l, target: target, conns: map[net.Conn]struct{}{}}
	p.done.Go(p.accept)
	t.Cleanup(func() {
		p.mu.Lock()
		p.stopped = true
		p.mu.Unlock()
		l.Close()
		p.Cut()
		p.done.Wait()
	})
	return p
}

// Cut resets every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // forces a reset instead of an orderly close
		}
		c.Close()
	}
}

// Refuse makes new connections fail, or accepts them again.
func (p *Proxy) Refuse(on bool) { p.set(func() { p.refuse = on }) }

// Stall drops all data in both directions while connections stay open. Turning
// it off resets the connections, because they have lost data.
func (p *Proxy) Stall(on bool) {
	p.set(func() { p.stalled = on })
	if !on {
		p.Cut()
	}
}

// Slow delays each chunk of data.
func (p *Proxy) Slow(d time.Duration) { p.set(func() { p.delay = d }) }

// Silence drops only published messages: subscriptions look healthy but receive
// nothing.
func (p *Proxy) Silence(on bool) { p.set(func() { p.noNews = on }) }

func (p *Proxy) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *Proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refuse := p.refuse || p.stopped
		p.mu.Unlock()
		out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.target)
		if err != nil || refuse {
			in.Close()
			if err == nil {
				out.Close()
			}
			continue
		}
		p.set(func() { p.conns[in], p.conns[out] = struct{}{}, struct{}{} })
		p.done.Go(func() { p.copy(out, in) })
		p.done.Go(func() { p.copy(in, out) })
	}
}

func (p *Proxy) copy(to, from net.Conn) {
	defer func() {
		to.Close()
		from.Close()
		p.set(func() { delete(p.conns, to); delete(p.conns, from) })
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		stalled, delay := p.stalled || p.noNews && bytes.Contains(buf[:n], []byte("\r\nmessage\r\n")), p.delay
		p.mu.Unlock()
		if stalled {
			continue
		}
		if delay > 0 {
			<-time.After(delay)
		}
		if _, err := io.Copy(to, bytes.NewReader(buf[:n])); err != nil {
			return
		}
	}
}
