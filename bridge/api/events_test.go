package api_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// halting returns one event per read, and its second read fails.
type halting struct {
	api.Reader
	reads *atomic.Int32
}

func (h halting) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	if h.reads.Add(1) == 2 {
		return nil, "", errors.New("the store is unreachable")
	}
	batch, at, err := h.Reader.Events(ctx, cursor, f)
	if err == nil && len(batch) > 1 {
		batch, at = batch[:1], batch[0].Cursor
	}
	return batch, at, err
}

// TestHistoryIsWhole checks that a stream sends the complete history, each
// event once, if the store fails in the middle.
func TestHistoryIsWhole(t *testing.T) {
	t.Parallel()
	s := newServerReading(t, func(r api.Reader) api.Reader { return halting{r, new(atomic.Int32)} })
	c := client.New(s.URL, "agent", nil)
	var want, got []bridge.ID
	for range 3 {
		rec, err := c.Open(t.Context(), bridge.Request{Ask: bridge.Ask{Prompt: "?", Session: "s"}}, "")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, rec.Interaction.ID)
	}
	err := c.History(t.Context(), "0", "s", func(e bridge.Event) error {
		if e.Type == bridge.EventRequest {
			got = append(got, e.InteractionID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

// TestForgedRecordInHistory checks that a request which does not verify does not hold up the
// events of other requests for people.
func TestForgedRecordInHistory(t *testing.T) {
	t.Parallel()
	var store *stored.Store
	s := newServerReading(t, func(r api.Reader) api.Reader { store, _ = r.(*stored.Store); return r })
	rec, err := client.New(s.URL, "agent", nil).Open(t.Context(), bridge.Request{Ask: bridge.Ask{Prompt: "?", Session: "s"}}, "")
	if err == nil {
		_, err = store.Mark(t.Context(), rec.Interaction.ID, life.Posted{Ref: bridge.MessageRef{Channel: "C", Message: "1"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	store.Keys.Use([][]byte{[]byte("key")}) // nothing that is stored has a seal
	if err := client.New(s.URL, "bo", nil).History(t.Context(), "0", "", func(bridge.Event) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestStreamBegins checks that a stream says where it begins, before any event,
// and asks proxies not to hold it back.
func TestStreamBegins(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for after, id := range map[string]string{"": "", "?after=0": "0"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/events"+after, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer agent")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		var begin []string
		for lines.Scan() && lines.Text() != "" {
			begin = append(begin, lines.Text())
		}
		if len(begin) != 2 || begin[0] != ": nod events" || len(begin[1]) <= len("id: ") || !strings.HasPrefix(begin[1], "id: "+id) {
			t.Errorf("%s: the stream begins with %q", after, begin)
		}
		if h := resp.Header; h.Get("X-Accel-Buffering") != "no" || !strings.Contains(h.Get("Cache-Control"), "no-transform") {
			t.Errorf("%s: the headers are %v", after, h)
		}
	}
}

// TestEventsAfterRestart checks that a client misses no event if the daemon restarts
// before the first one.
func TestEventsAfterRestart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	cutOff, began := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cut := calls.Add(1) == 1
		if !cut {
			<-began // the event happens while no daemon runs
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, s.URL+r.URL.String(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		if cut {
			begin := make([]byte, 1000)
			n, _ := resp.Body.Read(begin)
			_, _ = w.Write(begin[:n])
			_ = http.NewResponseController(w).Flush()
			close(cutOff)
			panic(http.ErrAbortHandler)
		}
		_ = http.NewResponseController(w).Flush()
		for {
			part := make([]byte, 1000)
			n, err := resp.Body.Read(part)
			_, _ = w.Write(part[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(front.Close)
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	c := client.New(front.URL, "agent", nil)
	told := errors.New("told")
	go func() {
		await.Receive(t, "the end of the first stream", cutOff)
		if _, err := client.New(s.URL, "agent", nil).Open(ctx, bridge.Request{Ask: bridge.Ask{Prompt: "?", Session: "s"}}, ""); err != nil {
			t.Error(err)
		}
		close(began)
	}()
	err := c.Events(ctx, "", "", func(e bridge.Event) error {
		if e.Type == bridge.EventRequest {
			return told
		}
		return nil
	})
	if !errors.Is(err, told) {
		t.Errorf("the event is lost: %v", err)
	}
	cancel()
}
