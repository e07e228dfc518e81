package observe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/observe"
)

func newObserver(t *testing.T) *observe.Observer {
	t.Helper()
	o, err := observe.New(t.Context(), "1.2.3", "")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// scrape returns all metrics in the format that Prometheus reads.
func scrape(t *testing.T, o *observe.Observer) string {
	t.Helper()
	w := httptest.NewRecorder()
	o.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("the metrics respond with %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// check compares samples, which are named with their labels. The value -1 means
// that the sample must not exist.
func check(t *testing.T, o *observe.Observer, want map[string]float64) {
	t.Helper()
	m := scrape(t, o)
	for name, v := range want {
		if got := sample(t, m, name); got != v {
			t.Errorf("%s is %g, want %g", name, got, v)
		}
	}
}

// sample returns the value of a sample, or -1 if it does not exist.
func sample(t *testing.T, metrics, name string) float64 {
	t.Helper()
	for line := range strings.SplitSeq(metrics, "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(rest, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	return -1
}

// TestNames checks that metric names follow the conventions of Prometheus, and
// that the counters of all outcomes start at zero, because Prometheus sees no
// increase when a series starts at one.
func TestNames(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	o.WatchProof(func() bridge.Health { return bridge.Health{State: bridge.HealthDown} }, func() bridge.Health { return bridge.Health{State: bridge.HealthDegraded} })
	check(t, o, map[string]float64{
		`nod_opened_total{kind="approval"}`: 0, `nod_outcomes_total{kind="ask",state="answered"}`: 0, `nod_timeouts_total{state="deferred"}`: 0,
		`nod_outcomes_total{kind="notice",state="undeliverable"}`: 0, `nod_retries_total{operation="hook"}`: 0,
		`nod_dead_letters_total{operation="remind"}`: 0, "nod_redis_failures_total": 0, "nod_api_in_flight": 0,
		"nod_audit_refused": 1, "nod_keys_unprotected": 1,
		`nod_build_info{goversion="` + runtime.Version() + `",version="1.2.3"}`: 1,
	})
	problems, err := promlint.New(strings.NewReader(scrape(t, o))).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	o = newObserver(t)
	o.WatchProof(func() bridge.Health { return bridge.Health{State: bridge.HealthUp} }, func() bridge.Health { return bridge.Health{State: bridge.HealthUp} })
	check(t, o, map[string]float64{"nod_audit_refused": 0, "nod_keys_unprotected": 0})
}

// TestActivities checks the counters and histograms of deliveries and clicks:
// successful, failed and rate limited.
func TestActivities(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	unavailable := bridge.Errorf(bridge.CodeUnavailable, "down")
	now := time.Now()
	for _, a := range []bridge.Activity{
		{Name: "post", Place: "chat", ID: id, Began: now},
		{Name: "edit", Place: "chat", ID: id, Began: now},
		{Name: "edit", Place: "chat", ID: id, Began: now.Add(-7 * time.Second), Err: unavailable},
		{Name: "edit", Place: "chat", ID: id, Began: now, Err: bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "later")},
		{Name: "click", Place: "chat", ID: id, Began: now.Add(-1500 * time.Millisecond), Result: bridge.VerdictSettled},
		{Name: "click", Place: "chat", Began: now, Err: unavailable},
		{Name: "form", Place: "chat", Began: now, Result: bridge.VerdictForbidden},
	} {
		o.Observe(a)
	}
	check(t, o, map[string]float64{
		`nod_delivery_seconds_count{operation="post",place="chat"}`:                      1,
		`nod_delivery_seconds_count{operation="edit",place="chat"}`:                      1,
		`nod_visible_seconds_count{platform="chat"}`:                                     1,
		`nod_delivery_failures_total{code="unavailable",operation="edit",place="chat"}`:  1,
		`nod_delivery_failures_total{code="rate_limited",operation="edit",place="chat"}`: -1,
		`nod_delivery_paced_total{operation="edit",place="chat"}`:                        1,
		`nod_click_seconds_count{platform="chat",result="settled"}`:                      1,
		`nod_click_seconds_bucket{platform="chat",result="settled",le="1"}`:              0,
		`nod_click_seconds_bucket{platform="chat",result="settled",le="20"}`:             1,
		`nod_click_seconds_count{platform="chat",result="unavailable"}`:                  1,
		`nod_click_seconds_count{platform="chat",result="forbidden"}`:                    1,
		`nod_delivery_seconds_count{operation="click",place="chat"}`:                     -1,
	})
	if strings.Contains(scrape(t, o), string(id)) {
		t.Error("the metrics contain the ID of a request")
	}
}

// TestAPI checks that API requests are counted by route, never by path, and
// that requests in progress are counted.
func TestAPI(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/things/{id}", func(w http.ResponseWriter, _ *http.Request) {
		check(t, o, map[string]float64{"nod_api_in_flight": 1})
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("/", http.NotFound)
	h := o.API(mux)
	for _, path := range []string{"/v1/things/ID-OF-A-THING", "/PATH-OF-A-STRANGER"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	check(t, o, map[string]float64{
		`nod_api_requests_total{code="418",route="GET /v1/things/{id}"}`: 1,
		`nod_api_requests_total{code="404",route="unknown"}`:             1, "nod_api_in_flight": 0,
	})
	if m := scrape(t, o); strings.Contains(m, "ID-OF") || strings.Contains(m, "STRANGER") {
		t.Error("the metrics contain a path")
	}
}

// TestTakenOver checks that a request whose handler takes over its connection is
// in progress until that is closed, and is counted with its status.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	conns := make(chan net.Conn, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/things", func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
		}
		conns <- c
	})
	s := httptest.NewServer(o.API(mux))
	defer s.Close()
	go func() {
		if resp, err := http.Get(s.URL + "/v1/things"); err == nil { //nolint:noctx // of this test
			resp.Body.Close()
		}
	}()
	c := <-conns
	check(t, o, map[string]float64{"nod_api_in_flight": 1})
	if _, err := io.WriteString(c, "HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	check(t, o, map[string]float64{`nod_api_requests_total{code="418",route="GET /v1/things"}`: 1, "nod_api_in_flight": 0})
}

// TestWatch checks the metrics of pending work and of platforms, even while
// Redis is unreachable.
func TestWatch(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	stats := bridge.Stats{Ages: []time.Duration{0, time.Minute, time.Minute + 1, 30 * time.Hour}, Weight: 10,
		Overdue: 2 * time.Second, Jobs: 3, Lag: 4 * time.Second, Dead: 5, Waiting: 6}
	var err error
	since := time.Unix(1_700_000_000, 0)
	var refused error
	ready := func(context.Context) error { return refused }
	o.Watch(ready, func(context.Context) (bridge.Stats, error) { return stats, err }, func() map[string]bridge.Health {
		return map[string]bridge.Health{"chat": {State: bridge.HealthUp, Since: since}, "mail": {State: bridge.HealthDown}}
	})
	platforms := map[string]float64{
		`nod_platform_state{platform="chat",state="up"}`:              1,
		`nod_platform_state{platform="chat",state="down"}`:            0,
		`nod_platform_state{platform="mail",state="down"}`:            1,
		`nod_platform_state_since_timestamp_seconds{platform="chat"}`: 1.7e9,
		`nod_platform_state_since_timestamp_seconds{platform="mail"}`: -1,
		`nod_platform_state{platform="mail",state="standby"}`:         0,
	}
	check(t, o, platforms)
	check(t, o, map[string]float64{
		"nod_redis_up": 1, `nod_pending{age="1m"}`: 20, `nod_pending{age="5m"}`: 10, `nod_pending{age="1d"}`: 0,
		`nod_pending{age="older"}`: 10, "nod_overdue_seconds": 2, "nod_outbox_jobs": 3, "nod_outbox_lag_seconds": 4,
		"nod_dead_letters": 5, "nod_waiting": 6,
	})
	refused = bridge.Errorf(bridge.CodeUnavailable, "redis refuses: READONLY") // Redis answers, but stores nothing
	check(t, o, map[string]float64{"nod_redis_up": 0, "nod_outbox_jobs": 3})
	err = errors.New("Redis is unreachable")
	check(t, o, platforms)
	check(t, o, map[string]float64{"nod_redis_up": 0, "nod_outbox_jobs": -1, `nod_pending{age="1m"}`: -1})
}

// TestRedis checks that every response of Redis counts as a round trip, even an
// error reply, and that only a failed connection counts as a failure.
func TestRedis(t *testing.T) {
	t.Parallel()
	o := newObserver(t)
	h := o.Hook()
	for _, x := range []struct {
		err             error
		trips, failures float64
	}{{nil, 2, 0}, {redis.Nil, 4, 0}, {io.ErrUnexpectedEOF, 4, 2}, {context.Canceled, 6, 2}} {
		one := h.ProcessHook(func(context.Context, redis.Cmder) error { return x.err })
		many := h.ProcessPipelineHook(func(context.Context, []redis.Cmder) error { return x.err })
		if err := one(t.Context(), redis.NewCmd(t.Context())); !errors.Is(err, x.err) {
			t.Errorf("a command returns %v, want %v", err, x.err)
		}
		if err := many(t.Context(), nil); !errors.Is(err, x.err) {
			t.Errorf("a pipeline returns %v, want %v", err, x.err)
		}
		check(t, o, map[string]float64{"nod_redis_seconds_count": x.trips, "nod_redis_failures_total": x.failures})
	}
	dial := h.DialHook(func(context.Context, string, string) (net.Conn, error) { return nil, io.EOF })
	if _, err := dial(t.Context(), "tcp", "x"); !errors.Is(err, io.EOF) {
		t.Errorf("dialing returns %v", err)
	}
}

// TestClose checks that an observer without traces can be closed without a
// collector.
func TestClose(t *testing.T) {
	t.Parallel()
	o, err := observe.New(t.Context(), "", "http://127.0.0.1:1/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := newObserver(t).Close(t.Context()); err != nil {
		t.Error(err)
	}
}
