package api

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// TestParkedAtTheEnd checks that a parked call has its response before it counts
// as ended when the daemon stops.
func TestParkedAtTheEnd(t *testing.T) {
	t.Parallel()
	s := shared{parked: new(sync.WaitGroup)}
	var stop context.CancelFunc
	s.closing, stop = context.WithCancel(t.Context())
	parked := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = s.wait(w, r, time.Minute, func(_, wait context.Context, done func(func() answer)) {
			go done(func() answer {
				<-wait.Done()
				return func(_ context.Context, w http.ResponseWriter) error { return write(w, http.StatusAccepted, "not yet") }
			})
		})
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			parked <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	status := make(chan int, 1)
	go func() {
		resp, err := http.Post(server.URL, "", nil) //nolint:noctx // the server ends it
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	await.Receive(t, "the parked call", parked)
	stop()
	if err := server.Config.Shutdown(t.Context()); err != nil { // as the daemon does
		t.Error(err)
	}
	s.parked.Wait()
	if got := await.Receive(t, "the response", status); got != http.StatusAccepted {
		t.Errorf("the status is %d", got)
	}
}
