package core

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// What becomes of an event that a bot does not take.
var (
	ErrNoReceiver = errors.New("nobody is connected to receive it")
	ErrNoAnswer   = errors.New("no answer within 3 seconds")
)

// Fault makes a service misbehave. Rules are tried in order; the first that
// matches and is not used up applies.
type Fault struct {
	Service string `json:"service"`          // name of the service
	Method  string `json:"method,omitempty"` // method or route as the service names it; empty: any
	// Kind is one of: delay; drop (the request is not seen), drop_after (it is
	// carried out, the answer is lost), half (it is carried out, the answer
	// breaks off in the middle), rate_limit, error (HTTP Status);
	// event_drop, event_duplicate, event_delay (of what people do); mute
	// (connections stay, nothing is delivered), refuse_connect, revoke (the
	// token); absent (the bot is not in the channels), no_permission (it may not
	// post in them), truncate (long texts and files lose their end), strip
	// (messages lose their rich text or file), skew (the service's clock is
	// Delay ahead). Emulators have more kinds of their own.
	Kind       string        `json:"kind"`
	Count      int           `json:"count,omitempty"`       // how often; 0: until removed
	Delay      time.Duration `json:"delay,omitempty"`       // nanoseconds; for delay kinds
	RetryAfter int           `json:"retry_after,omitempty"` // seconds; 0 with rate_limit: no header
	Status     int           `json:"status,omitempty"`
	used       int
}

// AddFault adds a rule.
func (h *Hub) AddFault(f Fault) {
	h.Lock()
	defer h.Unlock()
	h.faults = append(h.faults, &f)
}

// ClearFaults removes every rule.
func (h *Hub) ClearFaults() {
	h.Lock()
	defer h.Unlock()
	h.faults = nil
}

// Fault returns the rule that applies to a request or event of a service, and
// counts it. It returns nil if there is none.
func (h *Hub) Fault(service, method string, kinds ...string) *Fault {
	h.Lock()
	defer h.Unlock()
	for _, f := range h.faults {
		if f.Service != service || (f.Method != "" && f.Method != method) || (f.Count > 0 && f.used >= f.Count) {
			continue
		}
		for _, k := range kinds {
			if f.Kind == k {
				f.used++
				return f
			}
		}
	}
	return nil
}

// Fault returns the rule that applies to a request or event, and counts it. It
// returns nil if there is none.
func (b *Base) Fault(method string, kinds ...string) *Fault {
	return b.Hub.Fault(b.name, method, kinds...)
}

// Has reports whether a rule of a kind applies to everything, and counts it.
func (b *Base) Has(kind string) bool { return b.Fault("", kind) != nil }

// Named returns the methods that the rules of a kind name. The caller holds the
// lock.
func (b *Base) Named(kind string) []string {
	var out []string
	for _, f := range b.faults {
		if f.Service == b.name && f.Kind == kind {
			out = append(out, f.Method)
		}
	}
	return out
}

// Misbehave applies a request fault. It returns nil if the request is done
// with, and otherwise what the answer is to be written to. Lose is called once
// the request has been carried out.
func (b *Base) Misbehave(
	w http.ResponseWriter, r *http.Request, method string, limited func(retry int),
) http.ResponseWriter {
	f := b.Fault(method, "delay", "drop", "drop_after", "half", "rate_limit", "error")
	if f == nil {
		return w
	}
	switch f.Kind {
	case "delay":
		Sleep(r.Context(), f.Delay)
		return w
	case "drop":
		hangUp()
	case "drop_after":
		return &deafWriter{ResponseWriter: w, header: http.Header{}}
	case "half":
		return &deafWriter{ResponseWriter: w, header: http.Header{}, half: true}
	case "rate_limit":
		limited(f.RetryAfter)
		return nil
	}
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	http.Error(w, "<html>upstream error</html>", status)
	return nil
}

// Event applies the faults of what people do. It returns how often the event
// is to be delivered, or why it is not: dropping are the kinds that lose it.
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

// deafWriter lets a request be carried out and loses its answer, or half of it.
type deafWriter struct {
	http.ResponseWriter
	header http.Header
	half   bool
	status int
	body   []byte
}

func (d *deafWriter) Header() http.Header    { return d.header }
func (d *deafWriter) WriteHeader(status int) { d.status = status }
func (d *deafWriter) Write(b []byte) (int, error) {
	if d.half {
		d.body = append(d.body, b...)
	}
	return len(b), nil
}

// Lose hangs up if the answer that was written is to be lost.
func Lose(w http.ResponseWriter) {
	d, ok := w.(*deafWriter)
	if !ok {
		return
	}
	if d.half {
		d.ResponseWriter.Header().Set("Content-Type", d.header.Get("Content-Type"))
		d.ResponseWriter.Header().Set("Content-Length", strconv.Itoa(len(d.body)))
		d.ResponseWriter.WriteHeader(max(d.status, http.StatusOK))
		_, _ = d.ResponseWriter.Write(d.body[:len(d.body)/2]) // the client may have left
		_ = http.NewResponseController(d.ResponseWriter).Flush()
	}
	hangUp()
}

func hangUp() { panic(http.ErrAbortHandler) }

// shortest is the shortest text that the fault truncate cuts.
const shortest = 60

// Truncated returns a value of which each long text has lost its second half.
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
			if k != "value" { // of a control
				x[k] = Truncated(x[k])
			}
		}
	}
	return v
}
