package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// parking is a server whose calls wait until they are told what to answer.
type parking struct {
	*httptest.Server
	shared
	answers chan answer
	close   context.CancelFunc // the daemon stops
}

func newParking(t *testing.T) *parking {
	t.Helper()
	p := &parking{answers: make(chan answer)}
	p.parked, p.log = new(sync.WaitGroup), slog.New(slog.DiscardHandler)
	p.redact = func(s string) string { return s }
	p.closing, p.close = context.WithCancel(t.Context())
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = p.wait(w, r, time.Minute, func(_, wait context.Context, done func(func() answer)) {
			go done(func() answer {
				select {
				case a := <-p.answers:
					return a
				case <-wait.Done():
					return func(_ context.Context, w http.ResponseWriter) error { return write(w, http.StatusAccepted, "not yet") }
				}
			})
		})
	}))
	t.Cleanup(p.Server.Close)
	return p
}

// call begins a call, and returns once it is parked.
func (p *parking) call(t *testing.T) <-chan int {
	t.Helper()
	status := make(chan int, 1)
	go func() {
		resp, err := http.Post(p.URL, "", nil) //nolint:noctx // the server ends it
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	time.Sleep(parkAfter + parkAfter/4)
	return status
}

// TestParkedPanics checks that a parked call whose answer panics ends with its
// connection, and not with the daemon.
func TestParkedPanics(t *testing.T) {
	t.Parallel()
	p := newParking(t)
	status := p.call(t)
	p.answers <- func(context.Context, http.ResponseWriter) error { panic("no answer") }
	if got := <-status; got != 0 {
		t.Errorf("the status is %d", got)
	}
	p.parked.Wait()
	status = p.call(t)
	p.answers <- func(_ context.Context, w http.ResponseWriter) error { return write(w, http.StatusOK, "yes") }
	if got := <-status; got != http.StatusOK {
		t.Errorf("the status of the next call is %d", got)
	}
}

// TestParkedAtTheEnd checks that a parked call has its response before the daemon
// counts it as ended.
func TestParkedAtTheEnd(t *testing.T) {
	t.Parallel()
	p := newParking(t)
	status := p.call(t)
	p.close()
	p.parked.Wait()
	select {
	case got := <-status:
		if got != http.StatusAccepted {
			t.Errorf("the status is %d", got)
		}
	case <-time.After(5 * time.Second):
		t.Error("there is no response")
	}
}
