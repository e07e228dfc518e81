package measure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// httpCallers is the number of concurrent callers in the row over HTTP.
const httpCallers = 64

// cyclesOverHTTP compares cycles of agents over the HTTP API with cycles of the
// core in the same run. Both leave the cards out: the requests wait
// for their grace period.
func cyclesOverHTTP(ctx context.Context, b *harness) ([]figures, error) {
	other, err := b.cycles(ctx, httpCallers)
	if err != nil {
		return nil, err
	}
	value, err := b.cyclesOverHTTP(ctx, "http")
	b.keepCost(0)
	return []figures{{value, other}}, err
}

// cyclesOverHTTP returns the cycles per second of agents over the HTTP API.
func (b *harness) cyclesOverHTTP(ctx context.Context, prefix string) (float64, error) {
	s, err := b.install(ctx, prefix, toOnePlatform)
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return 0, err
	}
	return b.repeat(ctx, httpCallers, s.cycle)
}

// cycle opens a request, waits for it in a separate call, and answers it, like
// an agent and a person do over HTTP.
func (s *installation) cycle(ctx context.Context) error {
	rec, err := s.agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Deploy version 2 to production?", Grace: bridge.Duration(time.Minute),
		Approval: &bridge.Approval{Tool: "deploy", Input: []byte(`{"command":"kubectl apply -f v2.yaml"}`)},
	}}, "")
	if err != nil {
		return err
	}
	id := rec.Interaction.ID
	settled := make(chan error, 1)
	time.AfterFunc(settleAfter, func() {
		_, err := s.ana.Respond(ctx, id, bridge.Reply{Decision: bridge.DecideOnce})
		settled <- err
	})
	rec, err = s.agent.Wait(ctx, id)
	if err = errors.Join(err, <-settled); err == nil && rec.State != bridge.StateApproved {
		err = bridge.Errorf(bridge.CodeInternal, "a cycle ended %s", rec.State)
	}
	return err
}

var httpRows = []row{{"memory of the daemon per caller that waits over HTTP", "KiB", limited, 1, true}}

const (
	mostHTTP    = 16   // KiB
	waitingHTTP = 2000 // fewer if --pending is less, because each caller uses two files
)

// parkedAfter is the time after which a daemon releases the resources that a
// waiting call does not need.
const parkedAfter = 2 * time.Second

// callersOverHTTP measures the memory of a daemon per waiting caller. Each
// caller waits in the call that opened its request. The result includes the
// callers' sockets, which are in the same process, but not their clients.
func callersOverHTTP(ctx context.Context, b *harness) ([]figures, error) {
	return b.callers(ctx, (*installation).waiting)
}

// callers measures the memory of a daemon for each caller that open connects.
func (b *harness) callers(
	ctx context.Context, open func(*installation, context.Context) (net.Conn, error),
) ([]figures, error) {
	s, err := b.install(ctx, "waiting", nil)
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	n := min(b.pending, waitingHTTP)
	before := inUse()
	conns := make([]net.Conn, 0, n)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for range n {
		c, err := open(s, ctx)
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	for {
		ids, err := s.Store().Pending(ctx, "", "")
		if err != nil {
			return nil, err
		}
		if len(ids) >= n {
			break
		}
		if !bridge.Pause(ctx, b.span/10) {
			return nil, ctx.Err()
		}
	}
	bridge.Pause(ctx, b.span+parkedAfter)
	return []figures{{(inUse() - before) / float64(n) / 1024, mostHTTP}}, ctx.Err()
}

// waiting sends a request without a client library, and returns its connection.
func (s *installation) waiting(ctx context.Context) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return nil, err
	}
	const body = `{"prompt":"Deploy version 2 to production?","grace":"1m","approval":{"tool":"deploy","input":{"command":"kubectl apply -f v2.yaml"}}}`
	_, err = fmt.Fprintf(c, "POST /v1/interactions?wait=5m HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.token, len(body), body)
	return c, err
}

// inUse returns the memory of this process that is in use, in bytes.
func inUse() float64 {
	for range 5 { // each collection halves the size of a stack
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
