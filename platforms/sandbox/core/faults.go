package core

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Errors of the delivery of an event.
var (
	ErrNoReceiver = errors.New("no bot is connected")
	ErrNoAnswer   = errors.New("no answer within 3 seconds")
)

// Fault is a rule that makes a service misbehave. The hub checks rules in
// order, and applies the first matching rule that is not used up.
type Fault struct {
	Service string `json:"service"`          // name of the service
	Method  string `json:"method,omitempty"` // method or route, in the notation of the service; any if empty
	// Kind is one of these, or a kind of one emulator:
	//   - delay
	//   - drop: the request is lost
	//   - drop_after: the request takes effect, but its answer is lost
	//   - half: the request takes effect, but only half of its answer arrives
	//   - rate_limit
	//   - error: the service's own answer with Error, or else with Status
	//   - page: an HTML page with Status, of a proxy in front of the service
	//   - event_drop, event_duplicate, event_delay: for the actions of members
	//   - mute: connections stay open, but nothing is delivered
	//   - refuse_connect
	//   - revoke: the token is refused
	//   - absent: the bot is not in the channels
	//   - no_permission: the bot may not post in the channels
	//   - truncate: long texts and files lose their second half
	//   - strip: messages lose their rich text or file
	//   - privacy_off: the bot receives every message of its groups
	//   - skew: the service's clock is ahead by Delay
	Kind       string        `json:"kind"`
	Text       string        `json:"text,omitempty"`        // only requests whose body contains this text
	Count      int           `json:"count,omitempty"`       // number of times it applies; zero means until removed
	Delay      time.Duration `json:"delay,omitempty"`       // nanoseconds; for delay kinds
	RetryAfter int           `json:"retry_after,omitempty"` // seconds; zero sends no header
	Status     int           `json:"status,omitempty"`
	Error      string        `json:"error,omitempty"` // error code from the documentation of the service
	used       int
	removed    chan struct{}
}

// AddFault adds a rule.
func (h *Hub) AddFault(f Fault) {
	h.Lock()
	defer h.Unlock()
	f.removed = make(chan struct{})
	h.faults = append(h.faults, &f)
}

// ClearFaults removes every rule, and ends the delays of requests.
func (h *Hub) ClearFaults() {
	h.Lock()
	defer h.Unlock()
	for _, f := range h.faults {
		close(f.removed)
	}
	h.faults = nil
}

// Fault returns the rule that applies to a request or event of a service, and
// counts its use. It returns nil if no rule applies.
func (h *Hub) Fault(service, method string, kinds ...string) *Fault {
	return h.fault(service, method, nil, kinds...)
}

func (h *Hub) fault(service, method string, body []byte, kinds ...string) *Fault {
	h.Lock()
	defer h.Unlock()
	for _, f := range h.faults {
		if f.Service == service && (f.Method == "" || f.Method == method) && (f.Count <= 0 || f.used < f.Count) &&
			bytes.Contains(body, []byte(f.Text)) && slices.Contains(kinds, f.Kind) {
			f.used++
			return f
		}
	}
	return nil
}

// Fault returns the rule that applies to a request or event, and counts its
// use. It returns nil if no rule applies.
func (b *Base) Fault(method string, kinds ...string) *Fault {
	return b.Hub.Fault(b.name, method, kinds...)
}

// Has reports whether a rule of a kind applies to everything, and counts its
// use.
func (b *Base) Has(kind string) bool { return b.Fault("", kind) != nil }

// Named returns the Method of every rule of a kind. The caller holds the lock.
func (b *Base) Named(kind string) []string {
	var out []string
	for _, f := range b.faults {
		if f.Service == b.name && f.Kind == kind {
			out = append(out, f.Method)
		}
	}
	return out
}

// Misbehave applies a request fault. It returns nil if it has answered the
// request. Otherwise, the caller writes the answer to the returned writer and
// then calls Lose.
func (b *Base) Misbehave(
	w http.ResponseWriter, r *http.Request, method string, limited func(retry int), failed func(status int, name string),
) http.ResponseWriter {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		hangUp()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f := b.fault(b.name, method, body, "delay", "drop", "drop_after", "half", "rate_limit", "error", "page")
	if f == nil {
		return w
	}
	switch f.Kind {
	case "delay":
		select {
		case <-time.After(f.Delay):
		case <-f.removed:
		case <-r.Context().Done():
		}
		return w
	case "drop":
		hangUp()
	case "drop_after":
		return &partialWriter{ResponseWriter: w, header: http.Header{}}
	case "half":
		return &partialWriter{ResponseWriter: w, header: http.Header{}, half: true}
	case "rate_limit":
		limited(f.RetryAfter)
		return nil
	}
	status := cmp.Or(f.Status, http.StatusInternalServerError)
	if f.Kind == "error" {
		failed(status, f.Error)
		return nil
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html>upstream error</html>") // the client may have disconnected
	return nil
}

// Event applies the faults of members' actions. It returns the number of times
// to deliver the event, or an error if the event is lost. Dropping lists the
// kinds of faults that lose it.
func (b *Base) Event(ctx context.Context, dropping ...string) (times int, err error) {
	if b.Fault("", dropping...) != nil {
		return 0, ErrNoAnswer
	}
	if f := b.Fault("", "event_delay"); f != nil && !Sleep(ctx, f.Delay) {
		return 0, ctx.Err()
	}
	if b.Has("event_duplicate") {
		return 2, nil
	}
	return 1, nil
}

// partialWriter drops the response to a request, or half of it.
type partialWriter struct {
	http.ResponseWriter
	header http.Header
	half   bool
	status int
	body   []byte
}

func (d *partialWriter) Header() http.Header    { return d.header }
func (d *partialWriter) WriteHeader(status int) { d.status = status }
func (d *partialWriter) Write(b []byte) (int, error) {
	if d.half {
		d.body = append(d.body, b...)
	}
	return len(b), nil
}

// Lose closes the connection if a fault drops the response.
func Lose(w http.ResponseWriter) {
	d, ok := w.(*partialWriter)
	if !ok {
		return
	}
	if d.half {
		d.ResponseWriter.Header().Set("Content-Type", d.header.Get("Content-Type"))
		d.ResponseWriter.Header().Set("Content-Length", strconv.Itoa(len(d.body)))
		d.ResponseWriter.WriteHeader(max(d.status, http.StatusOK))
		_, _ = d.ResponseWriter.Write(d.body[:len(d.body)/2]) // the client may have disconnected
		_ = http.NewResponseController(d.ResponseWriter).Flush()
	}
	hangUp()
}

func hangUp() { panic(http.ErrAbortHandler) }

// shortest is the maximum length of a text that the fault truncate does not cut.
const shortest = 60

// Truncated returns a value without the second half of each long text.
func Truncated(v any) any {
	switch x := v.(type) {
	case string:
		if r := []rune(x); len(r) > shortest {
			return string(r[:len(r)/2])
		}
	case []any:
		for n := range x {
			x[n] = Truncated(x[n])
		}
	case raw.Object:
		for k := range x {
			if k != "value" { // the value of a control
				x[k] = Truncated(x[k])
			}
		}
	}
	return v
}
