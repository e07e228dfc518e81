package sandbox

import (
	"net/http"
	"strconv"
	"time"
)

// Fault makes a service misbehave. Rules are tried in order; the first that
// matches and is not used up applies.
type Fault struct {
	Service string `json:"service"`          // slack, discord or telegram
	Method  string `json:"method,omitempty"` // Slack or Telegram method, or "POST /channels/…" of Discord; empty: any
	// Kind is one of: delay; drop (the request is not seen), drop_after (it is
	// carried out, the answer is lost), half (it is carried out, the answer
	// breaks off in the middle), rate_limit, error (HTTP Status);
	// event_drop, event_duplicate, event_delay (of what people do); mute
	// (connections stay, nothing is delivered), freeze (Discord's heartbeats
	// stay unanswered), refuse_connect, revoke (the token); absent (the bot is
	// not in the channels), no_permission (it may not post in them),
	// truncate (long texts and files lose their end), strip (messages lose
	// their rich text or file), missing_scope (Slack's scope Method),
	// missing_permission (Discord's permission Method, such as ATTACH_FILES),
	// endpoint (the Discord application
	// has an interactions endpoint), sessions
	// (few of its gateway sessions are left), skew (the service's clock is Delay ahead).
	Kind       string        `json:"kind"`
	Count      int           `json:"count,omitempty"`       // how often; 0: until removed
	Delay      time.Duration `json:"delay,omitempty"`       // nanoseconds; for delay kinds
	RetryAfter int           `json:"retry_after,omitempty"` // seconds; 0 with rate_limit: no header
	Status     int           `json:"status,omitempty"`
	used       int
}

// AddFault adds a rule.
func (s *Sandbox) AddFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// ClearFaults removes every rule.
func (s *Sandbox) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault returns the rule that applies to a request or event, and counts it.
func (s *Sandbox) fault(service, method string, kinds ...string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
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

// misbehave applies a request fault. It returns true if the request is done
// with. After is called once the request has been carried out.
func (s *Sandbox) misbehave(w http.ResponseWriter, r *http.Request, service, method string, limited func(retry int)) (done bool, writer http.ResponseWriter) {
	f := s.fault(service, method, "delay", "drop", "drop_after", "half", "rate_limit", "error")
	if f == nil {
		return false, w
	}
	switch f.Kind {
	case "delay":
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
		return false, w
	case "drop":
		hangUp(w)
		return true, w
	case "drop_after":
		return false, &deafWriter{ResponseWriter: w, header: http.Header{}}
	case "half":
		return false, &deafWriter{ResponseWriter: w, header: http.Header{}, half: true}
	case "rate_limit":
		limited(f.RetryAfter)
		return true, w
	}
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	http.Error(w, "<html>upstream error</html>", status)
	return true, w
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

// lose hangs up if the answer is to be lost.
func lose(w http.ResponseWriter) {
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
	hangUp(d.ResponseWriter)
}

func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// shortest is the shortest text that the fault truncate cuts.
const shortest = 60

// truncated is a value of which each long text has lost its second half.
func truncated(v any) any {
	switch x := v.(type) {
	case string:
		if r := []rune(x); len(r) > shortest {
			return string(r[:len(r)/2])
		}
	case []any:
		for n := range x {
			x[n] = truncated(x[n])
		}
	case object:
		for k := range x {
			if k != "value" { // of a control
				x[k] = truncated(x[k])
			}
		}
	}
	return v
}
