package api_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/client"
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
