package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
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

// counts waits until the metrics are as they have to be: what has happened is
// counted a moment later. It returns them all.
func (r *rig) counts(url, token string, want map[string]float64) string {
	r.t.Helper()
	var m, wrong string
	defer func() {
		if wrong != "" {
			r.t.Log(wrong)
		}
	}()
	r.eventually("what happened is counted", func() bool {
		_, m = scrape(r.t, url, token)
		wrong = ""
		for name, n := range want {
			if got := sample(r.t, m, name); got != n {
				wrong = fmt.Sprintf("%s is %g, want %g", name, got, n)
			}
		}
		return wrong == ""
	})
	return m
}

// The metrics answer an operator's questions, and no label holds what comes
// from outside.
func TestMetrics(t *testing.T) {
	t.Parallel()
	const token = "metrics-token-for-tests"
	r := newRig(t, rigOptions{config: func(c *config.Config) { c.Metrics.Token = config.NewSecret(token) }})
	url := r.daemons[0].url
	if status, _ := scrape(t, url, ""); status != http.StatusUnauthorized {
		t.Errorf("without its token the metrics answer %d", status)
	}
	a := r.ask(bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: "Deploy PROMPT-OF-AN-AGENT?", Session: "SESSION-OF-AN-AGENT",
	}})
	r.counts(url, token, map[string]float64{
		`nod_opened_total{kind="approval"}`: 1, `nod_pending{age="1m"}`: 1, `nod_pending{age="older"}`: 0, "nod_redis_up": 1,
		`nod_platform_state{platform="discord",state="up"}`: 1, `nod_platform_state{platform="discord",state="down"}`: 0,
		`nod_delivery_seconds_count{job="post",place="telegram"}`: 1, `nod_visible_seconds_count{platform="slack"}`: 1,
		`nod_api_requests_total{code="201",route="POST /v1/interactions"}`: 1,
	})
	reaction, err := r.sandbox.Person("mal").Press(r.ctx, a.on("slack"), "Allow once")
	must(t, reaction, err)
	reaction, err = r.sandbox.Person("bo").Press(r.ctx, a.on("slack"), "Allow once")
	must(t, reaction, err)
	a.end()
	a.closed("bo")
	m := r.counts(url, token, map[string]float64{
		`nod_handover_seconds_count{kind="approval"}`:          1,
		`nod_outcomes_total{kind="approval",state="approved"}`: 1, `nod_response_seconds_count{kind="approval",platform="slack"}`: 1,
		`nod_click_seconds_count{platform="slack",result="settled"}`: 1, `nod_click_seconds_count{platform="slack",result="forbidden"}`: 1,
		`nod_pending{age="1m"}`: 0, "nod_dead_letters": 0, `nod_dead_letters_total{job="post"}`: 0, // they begin at 0
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

// A failing platform and an expiry show.
func TestMetricsOfFailures(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	s := r.sandbox
	s.AddFault(sandbox.Fault{Service: "slack", Method: "chat.postMessage", Kind: "error", Status: 502, Count: 1})
	a := r.ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Timeout: bridge.Duration(3e9)}})
	a.end()
	r.eventually("the time-out is counted", func() bool {
		_, m := scrape(t, r.daemons[0].url, "")
		return sample(t, m, "nod_timeouts_total") == 1 && sample(t, m, `nod_retries_total{job="post"}`) == 1 &&
			sample(t, m, `nod_delivery_failures_total{code="unavailable",job="post",place="slack"}`) == 1
	})
	r.redis.Kill()
	if _, m := scrape(t, r.daemons[0].url, ""); sample(t, m, "nod_redis_up") != 0 {
		t.Error("the metrics say that Redis is up")
	}
}

// spans collects what is exported by OTLP over HTTP.
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

// One trace leads from the agent over the store and the platforms to the click,
// and back to the agent: also if another daemon hears the click.
func TestTrace(t *testing.T) {
	t.Parallel()
	got := &spans{}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	r := newRig(t, rigOptions{config: func(c *config.Config) { only("slack", "telegram")(c); c.Traces.Endpoint = server.URL + "/v1/traces" }})
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	r.agent.Trace = "00-" + id + "-00f067aa0ba902b7-01"
	a := r.ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval}})
	reaction, err := r.sandbox.Person("bo").Press(r.ctx, a.on("telegram"), "Allow once")
	must(t, reaction, err)
	a.end()
	a.closed("bo")
	r.daemons[0].stop() // it exports what is left
	got.mu.Lock()
	defer got.mu.Unlock()
	var names []string
	for _, s := range got.all {
		if hex.EncodeToString(s.TraceId) == id {
			names = append(names, s.Name)
		}
	}
	for _, want := range []string{"POST /v1/interactions", "store open", "post slack", "post telegram", "click telegram", "store settle", "store deliver", "edit slack", "edit telegram"} {
		if !slices.Contains(names, want) {
			t.Errorf("the trace lacks %q; it has %q", want, names)
		}
	}
}

// A new config is applied while the daemon runs: what is pending stays, its
// cards answer, and who is no longer an agent is none.
func TestReload(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	a := r.ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "asked before"}})
	c := r.config
	c.Agents = map[string]config.Agent{"tester": c.Agents["tester"], "new": {Token: config.NewSecret("token-of-a-new-agent")}}
	c.Listen = "127.0.0.1:1"
	was := r.daemons[0].engine()
	r.daemons[0].changed <- c
	r.eventually("the config is replaced", func() bool { return r.daemons[0].engine() != was })
	r.connected()
	if _, err := client.New(r.daemons[0].url, "token-of-a-new-agent", nil).List(r.ctx, bridge.ListFilter{}); err != nil {
		t.Error(err)
	}
	if _, err := client.New(r.daemons[0].url, otherAgentToken, nil).List(r.ctx, bridge.ListFilter{}); bridge.ErrorCode(err) != bridge.CodeUnauthenticated {
		t.Errorf("an agent that is not in the config any more gets %v", err)
	}
	reaction, err := r.sandbox.Person("bo").Press(r.ctx, a.on("discord"), "Allow once")
	must(t, reaction, err)
	if rec := a.end(); rec.State != bridge.StateApproved {
		t.Errorf("it ended as %s", rec.State)
	}
	a.closed("bo")
	r.connected()
}

// lockedBuffer is a buffer that a process writes to while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The signal reads the file again; one that is wrong changes nothing.
func TestReloadBySignal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{quiet: true})
	dir := t.TempDir()
	path := filepath.Join(dir, "nod.yaml")
	write := func(agent string) {
		t.Helper()
		text := "listen: 127.0.0.1:0\nredis: {prefix: other}\nagents:\n  " + agent + ": {token: a-token-of-some-length}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	cmd := exec.CommandContext(t.Context(), nodBinary(t), "serve", "--config", path, "--log-json")
	cmd.Env = append(os.Environ(), "NOD_REDIS_URL="+"redis://"+r.redis.Addr)
	log := &lockedBuffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it may have ended
	hup := func(want string) {
		t.Helper()
		before := strings.Count(log.String(), want)
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		r.eventually("it says "+want, func() bool { return strings.Count(log.String(), want) > before })
	}
	r.eventually("it serves", func() bool { return strings.Contains(log.String(), `"msg":"serving"`) })
	write("two: {token: short}\n  three")
	hup("the old one stays")
	if !regexp.MustCompile(`agents\.two[^\n]*shorter`).MatchString(log.String()) {
		t.Errorf("the problem is not named: %s", log)
	}
	write("two")
	hup("config reloaded")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}
