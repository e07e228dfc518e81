package observe_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/observe"
)

// spans is a collector that keeps the spans that it receives by OTLP over HTTP.
type spans struct {
	mu  sync.Mutex
	all []*trace.Span
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req collector.ExportTraceServiceRequest
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range req.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			s.all = append(s.all, ss.Spans...)
		}
	}
}

// in returns the spans of a trace by name.
func (s *spans) in(id string) map[string]*trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*trace.Span{}
	for _, x := range s.all {
		if hex.EncodeToString(x.TraceId) == id {
			out[x.Name] = x
		}
	}
	return out
}

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent  = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// TestTrace checks that all spans of a request are children of the span of the
// call that opened it, in the trace that the agent started, and that reads have
// no span.
func TestTrace(t *testing.T) {
	t.Parallel()
	got := &spans{}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	o, err := observe.New(t.Context(), "", server.URL+"/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	var carried string
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/{what}", func(w http.ResponseWriter, r *http.Request) {
		if s, ok := r.Context().Value(bridge.TraceKey{}).(string); ok && r.Method == http.MethodPost {
			carried = s
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	call := func(method, trace string) {
		r := httptest.NewRequest(method, "/v1/x", nil)
		if trace != "" {
			r.Header.Set("Traceparent", trace)
		}
		o.API(mux).ServeHTTP(httptest.NewRecorder(), r)
	}
	call(http.MethodGet, parent)
	call(http.MethodPost, "00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00") // not sampled
	call(http.MethodPost, parent)
	if !strings.HasPrefix(carried, "00-"+traceID+"-") || carried == parent {
		t.Fatalf("the request carries %q", carried)
	}

	fake := &fakeStore{rec: approval(bridge.StateApproved, 0), won: true}
	fake.rec.Interaction.Trace = carried
	if _, _, err := o.Store(fake).Resolve(t.Context(), life.Resolution{}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	o.Observe(bridge.Activity{Name: "post", Place: "chat", Trace: carried, Began: now})
	o.Observe(bridge.Activity{Name: "edit", Place: "chat", Trace: carried, Began: now, Err: bridge.ErrPaced})
	o.Observe(bridge.Activity{Name: "click", Place: "chat", Began: now})
	if err := o.Close(t.Context()); err != nil { // Close exports the remaining spans
		t.Fatal(err)
	}
	all := got.in(traceID)
	names := []string{}
	for name, s := range all {
		names = append(names, name)
		if name != "/v1/{what}" && hex.EncodeToString(s.ParentSpanId) != carried[36:52] {
			t.Errorf("the parent of %s is not the call", name)
		}
	}
	slices.Sort(names)
	if want := []string{"/v1/{what}", "post chat", "store resolve"}; !slices.Equal(names, want) || len(got.all) != len(want) {
		t.Fatalf("the spans are %q of %d, want %q", names, len(got.all), want)
	}
	if s := all["/v1/{what}"]; s.Status.GetCode() != trace.Status_STATUS_CODE_ERROR {
		t.Errorf("a call that failed has the status %s", s.Status)
	}
}

// TestTraceWithoutExport checks that a request stores the trace of its agent
// even if nod exports nothing.
func TestTraceWithoutExport(t *testing.T) {
	t.Parallel()
	var carried any
	h := newObserver(t).API(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carried = r.Context().Value(bridge.TraceKey{})
	}))
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if carried != nil {
		t.Errorf("a request without a trace carries %v", carried)
	}
	r.Header.Set("Traceparent", parent)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if carried != parent {
		t.Errorf("it carries %v", carried)
	}
}
