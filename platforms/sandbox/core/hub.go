package core

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// Hub holds the state that the emulators of one sandbox share: the lock, change
// notification, faults and rate limits. Close ends every connection.
type Hub struct {
	sync.Mutex // guards all state of the hub and the emulators

	// Limits counts requests. The lock guards it.
	Limits Limiter
	// Recorder records accepted calls. If it is nil, nothing is recorded.
	Recorder *Recorder
	// Clock measures the deadlines of bots. It must not change after the first
	// call. A nil Clock is the system clock.
	Clock *Clock

	ctx      context.Context
	stop     context.CancelFunc
	client   *http.Client
	seq      int64
	revision int64
	changed  chan struct{} // closed and replaced at each change
	faults   []*Fault
}

// NewHub returns a hub. NoLimits turns off the services' rate limits.
func NewHub(noLimits bool) *Hub {
	ctx, stop := context.WithCancel(context.Background())
	return &Hub{
		Limits:   Limiter{off: noLimits, buckets: map[string]*bucket{}},
		Recorder: Recording(),
		ctx:      ctx, stop: stop, client: &http.Client{Timeout: 10 * time.Second}, changed: make(chan struct{}),
	}
}

// Close ends every connection.
func (h *Hub) Close() { h.stop() }

// Context returns a context that ends when the sandbox is closed.
func (h *Hub) Context() context.Context { return h.ctx }

// Touch announces a change that members see. The caller holds the lock.
func (h *Hub) Touch() {
	h.revision++
	close(h.changed)
	h.changed = make(chan struct{})
}

// Revision returns the number of changes. The caller holds the lock.
func (h *Hub) Revision() int64 { return h.revision }

// Next returns a number that it has not returned before. The caller holds the
// lock.
func (h *Hub) Next() int64 {
	h.seq++
	return h.seq
}

// Changed returns a channel that is closed at the next change.
func (h *Hub) Changed() <-chan struct{} {
	h.Lock()
	defer h.Unlock()
	return h.changed
}

// Wait blocks until ok returns true. It calls ok after each change, without the
// lock. It returns ctx.Err() if ctx ends first.
func (h *Hub) Wait(ctx context.Context, ok func() bool) error {
	for {
		ch := h.Changed()
		if ok() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ch:
		}
	}
}

// maxAnswer limits the response of a bot that Post reads, in bytes.
const maxAnswer = 1 << 20

// Post sends a body to the URL of a bot. It returns the response, with a closed
// body, and the content of the body.
func (h *Hub) Post(ctx context.Context, url string, header http.Header, body []byte) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = header
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp, answer, err
}

// Sleep waits for d. It reports false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
