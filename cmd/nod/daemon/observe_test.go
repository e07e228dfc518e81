package daemon_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// scrape reads the metrics of a daemon.
func scrape(t testing.TB, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// sample is the value of a metric with all its labels; -1 where there is none.
func sample(t testing.TB, metrics, name string) float64 {
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

// counts waits until the metrics have the expected values, because an event is
// counted a moment later. It returns all metrics.
func counts(r *rig.Rig, url, token string, want map[string]float64) string {
	r.T.Helper()
	var m, wrong string
	defer func() {
		if wrong != "" {
			r.T.Log(wrong)
		}
	}()
	r.Eventually("what happened is counted", func() bool {
		_, m = scrape(r.T, url, token)
		wrong = ""
		for name, n := range want {
			if got := sample(r.T, m, name); got != n {
				wrong = fmt.Sprintf("%s is %g, want %g", name, got, n)
			}
		}
		return wrong == ""
	})
	return m
}

// TestMetrics checks what the metrics count, and that no label contains text
// from a request.
func TestMetrics(t *testing.T) {
	t.Parallel()
	const token = "metrics-token-for-tests"
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { c.Metrics.Token = config.NewSecret(token) }})
	url := r.Daemons[0].URL
	if status, _ := scrape(t, url, ""); status != http.StatusUnauthorized {
		t.Errorf("without its token the metrics answer %d", status)
	}
	a := r.Ask(bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: "Deploy PROMPT-OF-AN-AGENT?", Session: "SESSION-OF-AN-AGENT",
	}})
	counts(r, url, token, map[string]float64{
		`nod_opened_total{kind="approval"}`: 1, `nod_pending{age="1m"}`: 1, `nod_pending{age="older"}`: 0, "nod_redis_up": 1,
		`nod_platform_state{platform="discord",state="up"}`: 1, `nod_platform_state{platform="discord",state="down"}`: 0,
		`nod_delivery_seconds_count{operation="post",place="telegram"}`: 1, `nod_visible_seconds_count{platform="slack"}`: 1,
		`nod_api_requests_total{code="201",route="POST /v1/interactions"}`: 1,
	})
	r.Press("mal", a.On("slack"), "Approve")
	r.Press("bo", a.On("slack"), "Approve")
	a.End()
	a.Closed("bo")
	m := counts(r, url, token, map[string]float64{
		`nod_handover_seconds_count{kind="approval"}`:          1,
		`nod_outcomes_total{kind="approval",state="approved"}`: 1, `nod_response_seconds_count{kind="approval",platform="slack"}`: 1,
		`nod_click_seconds_count{platform="slack",result="settled"}`: 1, `nod_click_seconds_count{platform="slack",result="forbidden"}`: 1,
		`nod_pending{age="1m"}`: 0, "nod_dead_letters": 0, `nod_dead_letters_total{operation="post"}`: 0, // counters begin at 0
	})
	for _, foreign := range []string{"AN-AGENT", "tester", string(a.Interaction.ID)} {
		if strings.Contains(m, foreign) {
			t.Errorf("the metrics contain %q", foreign)
		}
	}
	problems, err := promlint.New(strings.NewReader(m)).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// TestMetricsOfFailures checks that the metrics count a failing platform and a
// timeout.
func TestMetricsOfFailures(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack"), OwnRedis: true})
	s := r.Sandbox
	s.AddFault(sandbox.Fault{Service: "slack", Method: "chat.postMessage", Kind: "error", Status: 502, Count: 1})
	r.Ask(samples.Approval())
	short := samples.Approval()
	short.Timeout = bridge.Duration(bridge.MinTimeout)
	rec, err := r.Agent.Open(r.Ctx, short, "") // the request may expire before it is posted
	if err != nil {
		t.Fatal(err)
	}
	rig.Asked{Record: rec, R: r}.End()
	r.Eventually("the timeout is counted", func() bool {
		_, m := scrape(t, r.Daemons[0].URL, "")
		return sample(t, m, `nod_timeouts_total{state="expired"}`) == 1 && sample(t, m, `nod_retries_total{operation="post"}`) == 1 &&
			sample(t, m, `nod_delivery_failures_total{code="unavailable",operation="post",place="slack"}`) == 1
	})
	r.Redis.Kill()
	if _, m := scrape(t, r.Daemons[0].URL, ""); sample(t, m, "nod_redis_up") != 0 {
		t.Error("the metrics say that Redis is up")
	}
}

// spans collects what is exported by OTLP over HTTP.
type spans struct {
	mu  sync.Mutex
	all []*tracepb.Span
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req tracepb.TracesData
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

// TestTrace checks that one trace contains the call of the agent, the store,
// the platforms and the click, even if another daemon receives the click.
func TestTrace(t *testing.T) {
	t.Parallel()
	got := &spans{}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack", "telegram")(c)
		c.Traces.Endpoint = server.URL + "/v1/traces"
	}})
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	r.Agent.Trace = "00-" + id + "-00f067aa0ba902b7-01"
	a := r.Ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval}})
	r.Press("bo", a.On("telegram"), "Approve")
	a.End()
	a.Closed("bo")
	r.Daemons[0].Stop() // Stop exports the remaining traces
	got.mu.Lock()
	defer got.mu.Unlock()
	var names []string
	for _, s := range got.all {
		if hex.EncodeToString(s.TraceId) == id {
			names = append(names, s.Name)
		}
	}
	for _, want := range []string{"POST /v1/interactions", "store open", "post slack", "post telegram", "click telegram", "store resolve", "store deliver", "edit slack", "edit telegram"} {
		if !slices.Contains(names, want) {
			t.Errorf("the trace lacks %q; it has %q", want, names)
		}
	}
}

// TestReload checks that a new config applies without a restart: pending
// requests stay open, their cards work, and the token of a removed agent is
// refused.
func TestReload(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	a := r.Ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "asked before"}})
	c := r.Config
	c.Agents = map[string]config.Agent{"tester": c.Agents["tester"], "new": {Token: config.NewSecret("token-of-a-new-agent")}}
	c.Listen = "127.0.0.1:1"
	was := r.Daemons[0].Engine()
	r.Daemons[0].Apply(c)
	r.Eventually("the config is replaced", func() bool { return r.Daemons[0].Engine() != was })
	r.Connected()
	if _, err := client.New(r.Daemons[0].URL, "token-of-a-new-agent", nil).List(r.Ctx, bridge.ListFilter{}); err != nil {
		t.Error(err)
	}
	if _, err := client.New(r.Daemons[0].URL, rig.OtherAgentToken, nil).List(r.Ctx, bridge.ListFilter{}); bridge.ErrorCode(err) != bridge.CodeUnauthenticated {
		t.Errorf("an agent that is no longer in the config gets %v", err)
	}
	r.Press("bo", a.On("discord"), "Approve")
	if rec := a.End(); rec.State != bridge.StateApproved {
		t.Errorf("it ended as %s", rec.State)
	}
	a.Closed("bo")
	r.Connected()
}
