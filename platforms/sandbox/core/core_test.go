package core_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// TestNames checks that the core does not name any service.
func TestNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`(?i)slack|discord|telegram`).Find(source); found != nil &&
			!strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s names %s", name, found)
		}
	}
}

func accounts() []core.Account {
	return []core.Account{{Key: "ana", Name: "Ana Lima", ID: "1"}, {Key: "bo", Name: "Bo Chen", ID: "2"}}
}

func idOf(m raw.Object) string { return raw.Str(m, "id") }

// TestRoster checks that members and groups are found.
func TestRoster(t *testing.T) {
	t.Parallel()
	b := core.NewBase(core.NewHub(true), "chat", accounts())
	if m, err := b.Member("bo"); err != nil || m.ID != "2" {
		t.Errorf("bo: %v %v", m, err)
	}
	if _, err := b.Member("zoe"); err == nil {
		t.Error("zoe is a member")
	}
	ana, known := b.ByID("1")
	if _, stranger := b.ByID("3"); !known || stranger || ana.Key != "ana" {
		t.Errorf("by ID: %v", ana)
	}
	b.SetGroup("g", "ana")
	b.Lock()
	defer b.Unlock()
	in, known := b.InGroup("g")
	if _, unknown := b.InGroup("h"); !known || unknown || len(in) != 1 || len(b.GroupsOf(ana)) != 1 {
		t.Errorf("in the group: %v", in)
	}
	if b.CannotDo("dance").Error() != `chat: cannot "dance"` || b.Errorf("no %s", "x").Error() != "chat: no x" {
		t.Error("errors do not name the service")
	}
}

// TestChat checks the messages of a conversation, and who sees them.
func TestChat(t *testing.T) {
	t.Parallel()
	c := core.NewChat("c", "deploys", idOf)
	c.Add(raw.Object{"id": "1", "text": "public"})
	c.AddPrivate("ana", raw.Object{"id": "2", "text": "private"})
	c.Add(raw.Object{"id": "3", "text": "newest"})
	if c.Find("3") != 1 || c.Find("2") != -1 || c.Message("4") != nil || c.Seen("2", "ana") == nil ||
		c.Seen("2", "bo") != nil || c.Seen("1", "bo") == nil {
		t.Error("messages are not found")
	}
	state := c.State()
	state.Messages[0]["text"] = "changed"
	if len(state.Private) != 1 || c.Messages[0]["text"] != "public" {
		t.Errorf("state %+v", state)
	}
	c.Remove("1")
	c.Remove("2")
	if len(c.Messages) != 1 || len(c.Private) != 0 {
		t.Errorf("left %v and %v", c.Messages, c.Private)
	}
}

// TestLimiter checks bursts, the pace after them, and that it can be off.
func TestLimiter(t *testing.T) {
	t.Parallel()
	on, off := core.NewHub(false), core.NewHub(true)
	for n := range 3 {
		if wait := on.Limits.Take("k", 0.5, 2); (wait > 0) != (n == 2) || n == 2 && wait.Round(time.Second) != 2*time.Second {
			t.Errorf("call %d waits %v", n, wait)
		}
		if off.Limits.Take("k", 1, 1) > 0 {
			t.Error("limits are not off")
		}
	}
	if left, used := on.Limits.Left("k"); left != 0 || !used {
		t.Errorf("%d left", left)
	}
	refused, early := on.Limits.Refused()
	if none, _ := off.Limits.Refused(); refused != 1 || early.Round(time.Second) != 2*time.Second || none != 0 {
		t.Errorf("%d requests were refused, %s too early; want 1, 2s too early", refused, early)
	}
	if _, used := on.Limits.Left("j"); used {
		t.Error("a new key was used")
	}
}

// TestPeriods checks that a key may make its calls in any period, and when it gets
// one back.
func TestPeriods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		on, off := core.NewHub(false), core.NewHub(true)
		defer on.Close()
		defer off.Close()
		for _, x := range []struct {
			after, wait, reset time.Duration // reset is asked for after the call
			left               int
		}{
			{0, 0, 10 * time.Second, 1}, {4 * time.Second, 0, 6 * time.Second, 0}, {time.Second, 5 * time.Second, 5 * time.Second, 0},
			{5 * time.Second, 0, 4 * time.Second, 0}, {20 * time.Second, 0, 10 * time.Second, 1},
		} {
			time.Sleep(x.after)
			wait := on.Limits.TakeIn("k", 2, 10*time.Second)
			left, used := on.Limits.Left("k")
			if reset := on.Limits.Reset("k", 10*time.Second); wait != x.wait || reset != x.reset || left != x.left || !used {
				t.Errorf("%s later, a call waits %s, %d are left, and one is back in %s; want %s, %d, %s", x.after, wait, left, reset, x.wait, x.left, x.reset)
			}
			if wait := off.Limits.TakeIn("k", 1, time.Hour); wait != 0 {
				t.Errorf("without limits, a call waits %s", wait)
			}
		}
		if refused, early := on.Limits.Refused(); refused != 1 || early != 5*time.Second {
			t.Errorf("%d calls were refused, %s too early; want 1, 5s too early", refused, early)
		}
		if reset := on.Limits.Reset("j", time.Minute); reset != time.Minute {
			t.Errorf("a new key gets a call back in %s, want a whole period", reset)
		}
	})
}

// TestAddresses checks that bots are sent to the address at which they reached the
// sandbox, also through a proxy.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ url, proto, web, socket string }{
		"plain":           {"http://sandbox:8788/a", "", "http://sandbox:8788", "ws://sandbox:8788/ws"},
		"TLS":             {"https://sandbox/a", "", "https://sandbox", "wss://sandbox/ws"},
		"TLS of a proxy":  {"http://sandbox/a", "https", "https://sandbox", "wss://sandbox/ws"},
		"a proxy, no TLS": {"http://sandbox/a", "http", "http://sandbox", "ws://sandbox/ws"},
	} {
		r := httptest.NewRequest(http.MethodGet, x.url, nil)
		r.Header.Set("X-Forwarded-Proto", x.proto)
		if web, socket := core.Address(r), core.SocketAddress(r, "/ws"); web != x.web || socket != x.socket {
			t.Errorf("%s: %s and %s, want %s and %s", name, web, socket, x.web, x.socket)
		}
	}
}

// TestUnanswered checks which warnings say that the app did not answer in time.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	for warning, want := range map[string]bool{
		"": false, "the option is gone": false, core.Loading: true, "click: " + core.ErrNoAnswer.Error(): true, "click: " + core.ErrNoReceiver.Error(): true,
	} {
		if got := (core.Reaction{Warning: warning}).Unanswered(); got != want {
			t.Errorf("%q is unanswered: %t, want %t", warning, got, want)
		}
	}
}

// TestFaults checks which rule applies, and its effect on a request.
func TestFaults(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	b := core.NewBase(hub, "chat", nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := b.Misbehave(w, r, "send", func(int) { http.Error(w, "slow down", http.StatusTooManyRequests) },
			func(status int, name string) { http.Error(w, name, status) })
		if out == nil {
			return
		}
		out.Header().Set("Content-Type", "text/plain")
		out.WriteHeader(201)
		_, _ = io.WriteString(out, "0123456789")
		core.Lose(out)
	}))
	defer server.Close()
	call := func() string {
		resp, err := http.Get(server.URL)
		if err != nil {
			return "nothing"
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return "half of " + resp.Status + " " + string(body)
		}
		return resp.Status + " " + string(body)
	}
	for _, x := range []struct {
		fault core.Fault
		want  string
	}{
		{core.Fault{Kind: "delay", Delay: time.Millisecond}, "201 Created 0123456789"},
		{core.Fault{Kind: "drop"}, "nothing"},
		{core.Fault{Kind: "drop_after"}, "nothing"},
		{core.Fault{Kind: "half"}, "half of 201 Created 01234"},
		{core.Fault{Kind: "rate_limit"}, "429"},
		{core.Fault{Kind: "error"}, "500"},
		{core.Fault{Kind: "error", Status: 502, Method: "send"}, "502"},
		{core.Fault{Kind: "error", Method: "edit"}, "201"},
		{core.Fault{Kind: "mute"}, "201"},
		{core.Fault{Kind: "page"}, "500 Internal Server Error <html>"},
		{core.Fault{Kind: "page", Status: 503, RetryAfter: 7}, "503 Service Unavailable <html>"},
	} {
		hub.ClearFaults()
		x.fault.Service = "chat"
		hub.AddFault(core.Fault{Service: "other", Kind: "drop"})
		hub.AddFault(x.fault)
		if got := call(); !strings.HasPrefix(got, x.want) {
			t.Errorf("%+v: %s, want %s", x.fault, got, x.want)
		}
	}
}

// TestRules checks how often a rule applies, and what the fault truncate cuts.
func TestRules(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	b := core.NewBase(hub, "chat", nil)
	hub.AddFault(core.Fault{Service: "chat", Kind: "missing", Method: "a", Count: 1})
	hub.Lock()
	named := b.Named("missing")
	hub.Unlock()
	if b.Has("missing") || b.Fault("a", "missing") == nil || b.Fault("a", "missing") != nil || len(named) != 1 {
		t.Errorf("named %v", named)
	}
	text := strings.Repeat("x", 61)
	cut := core.Truncated([]any{raw.Object{"text": text, "value": text, "short": "x"}}).([]any)[0].(raw.Object)
	if len(raw.Str(cut, "text")) != 30 || raw.Str(cut, "value") != text || raw.Str(cut, "short") != "x" {
		t.Errorf("truncated to %v", cut)
	}
}

// TestEvents checks the faults of members' actions.
func TestEvents(t *testing.T) {
	t.Parallel()
	hub, ctx := core.NewHub(true), t.Context()
	b := core.NewBase(hub, "chat", nil)
	if n, err := b.Event(ctx, "event_drop"); n != 1 || err != nil {
		t.Errorf("without a fault: %d %v", n, err)
	}
	hub.AddFault(core.Fault{Service: "chat", Kind: "event_duplicate", Count: 1})
	hub.AddFault(core.Fault{Service: "chat", Kind: "event_delay", Delay: time.Millisecond, Count: 1})
	if n, err := b.Event(ctx, "event_drop"); n != 2 || err != nil {
		t.Errorf("duplicated: %d %v", n, err)
	}
	hub.AddFault(core.Fault{Service: "chat", Kind: "event_drop", Count: 1})
	if _, err := b.Event(ctx, "event_drop"); !errors.Is(err, core.ErrNoAnswer) {
		t.Errorf("dropped: %v", err)
	}
	hub.AddFault(core.Fault{Service: "chat", Kind: "event_delay", Delay: time.Minute})
	soon, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := b.Event(soon, "event_drop"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("delayed: %v", err)
	}
}

// TestHub checks that waiting ends with a change, and the requests that are
// posted to bots.
func TestHub(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	hub.Lock()
	first, second := hub.Next(), hub.Next()
	hub.Unlock()
	if first == second {
		t.Error("a number came twice")
	}
	done := false
	time.AfterFunc(time.Millisecond, func() { hub.Lock(); done = true; hub.Touch(); hub.Unlock() })
	if err := hub.Wait(t.Context(), func() bool {
		hub.Lock()
		defer hub.Unlock()
		return done &&
			hub.Revision() == 1
	}); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if hub.Wait(ended, func() bool { return false }) == nil || core.Sleep(ended, time.Minute) {
		t.Error("waited on")
	}
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Header.Get("X-Kind")+" "+string(body))
	}))
	resp, answer, err := hub.Post(t.Context(), app.URL, http.Header{"X-Kind": {"test"}}, []byte("hello"))
	if err != nil || resp.StatusCode != 200 || string(answer) != "test hello" {
		t.Errorf("posted: %s %v", answer, err)
	}
	app.Close()
	for _, url := range []string{"http://127.0.0.1:9", ":"} {
		if _, _, err := hub.Post(t.Context(), url, nil, nil); err == nil {
			t.Errorf("posted to %s", url)
		}
	}
	if hub.Close(); hub.Context().Err() == nil {
		t.Error("the hub is open")
	}
}

// TestFiles checks that uploads are served.
func TestFiles(t *testing.T) {
	t.Parallel()
	var files core.Files
	files.Put("f", []byte("content"))
	m := http.NewServeMux()
	m.Handle("/{id}", &files)
	for path, want := range map[string]string{"/f": "content", "/g": "404 page not found\n"} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Body.String() != want {
			t.Errorf("%s: %q", path, w.Body)
		}
	}
}

// TestSockets checks that a socket opens unless a fault refuses it.
func TestSockets(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	b := core.NewBase(hub, "chat", nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.RefuseSocket(w) {
			return
		}
		if conn := core.AcceptSocket(w, r); conn != nil {
			conn.CloseNow()
		}
	}))
	defer server.Close()
	dial := func() int {
		conn, resp, _ := websocket.Dial(t.Context(), server.URL, nil)
		if conn != nil {
			conn.CloseNow()
		}
		return resp.StatusCode
	}
	if got := dial(); got != http.StatusSwitchingProtocols {
		t.Errorf("opened: %d", got)
	}
	hub.AddFault(core.Fault{Service: "chat", Kind: "refuse_connect"})
	if got := dial(); got != http.StatusServiceUnavailable {
		t.Errorf("refused: %d", got)
	}
	hub.ClearFaults()
	if resp, err := http.Get(server.URL); err != nil || resp.StatusCode < 400 {
		t.Errorf("no handshake: %v", err)
	}
}
