package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TestParkedAtTheEnd checks that a parked call has its response before it counts
// as ended when the daemon stops.
func TestParkedAtTheEnd(t *testing.T) {
	t.Parallel()
	s := shared{parked: new(sync.WaitGroup)}
	var stop context.CancelFunc
	s.closing, stop = context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = s.wait(w, r, time.Minute, func(_, wait context.Context, done func(func() answer)) {
			go done(func() answer {
				<-wait.Done()
				return func(_ context.Context, w http.ResponseWriter) error { return write(w, http.StatusAccepted, "not yet") }
			})
		})
	}))
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
	time.Sleep(parkAfter + parkAfter/4)
	stop()
	if err := server.Config.Shutdown(t.Context()); err != nil { // as the daemon does
		t.Error(err)
	}
	s.parked.Wait()
	select {
	case got := <-status:
		if got != http.StatusAccepted {
			t.Errorf("the status is %d", got)
		}
	case <-time.After(5 * time.Second):
		t.Error("there is no response")
	}
}
