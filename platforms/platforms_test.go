package platforms

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestHealthBox checks that a state keeps its time while its reason changes.
func TestHealthBox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b HealthBox
		if b.Get().State != bridge.HealthStarting {
			t.Errorf("it starts as %+v", b.Get())
		}
		b.Set(bridge.HealthDegraded, "first")
		since := b.Get().Since
		<-time.After(time.Second)
		b.Set(bridge.HealthDegraded, "second")
		if got := b.Get(); got.Since != since || got.Reason != "second" {
			t.Errorf("the same state: %+v", got)
		}
		b.Set(bridge.HealthUp, "")
		if got := b.Get(); !got.Since.After(since) || got.Reason != "" {
			t.Errorf("another state: %+v", got)
		}
	})
}

// TestNetworkError checks that an error does not contain the URL, which may
// contain a token.
func TestNetworkError(t *testing.T) {
	t.Parallel()
	failed := &url.Error{Op: "Get", URL: "https://example.com/bot1:secret/getMe", Err: errors.New("refused")}
	err := NetworkError("telegram", failed)
	if bridge.ErrorCode(err) != bridge.CodeUnavailable || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
	err = NetworkError("slack", context.Canceled)
	if !errors.Is(err, context.Canceled) || bridge.ErrorCode(err) == bridge.CodeUnavailable {
		t.Errorf("after the caller has left: %v", err)
	}
}

func TestDisplayName(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"Ana Lima": {" Ana\n Lima ", "ana"}, "ana": {" \t", "ana"}, "": {"", " "},
		strings.Repeat("é", 80): {strings.Repeat("é", 100)},
	} {
		if got := DisplayName(names...); got != want {
			t.Errorf("%q: %q", names, got)
		}
	}
}

// TestKeyedMutex checks that a key has one holder, and takes no memory after it
// is released.
func TestKeyedMutex(t *testing.T) {
	t.Parallel()
	var k KeyedMutex
	var wg sync.WaitGroup
	held := map[string]*int{"a": new(int), "b": new(int)}
	for key, n := range held {
		for range 50 {
			wg.Go(func() {
				defer k.Lock(key)()
				*n++
			})
		}
	}
	wg.Wait()
	if *held["a"] != 50 || *held["b"] != 50 || len(k.held) != 0 {
		t.Errorf("%d and %d, %d keys are left", *held["a"], *held["b"], len(k.held))
	}
}

// TestWatch checks the health of a platform whose clicks arrive over HTTP.
func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var b HealthBox
		var mu sync.Mutex
		var answer error
		says := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			answer = err
		}
		ended := make(chan error, 1)
		watch := func() {
			ended <- Watch(ctx, &b, func(ctx context.Context) error {
				if _, bounded := ctx.Deadline(); !bounded {
					t.Error("a check has no deadline")
				}
				mu.Lock()
				defer mu.Unlock()
				return answer
			})
		}
		go watch()
		for _, x := range []struct {
			err  error
			want bridge.HealthState
		}{
			{nil, bridge.HealthUp}, {bridge.Errorf(bridge.CodeUnavailable, "away"), bridge.HealthDegraded},
			{nil, bridge.HealthUp},
		} {
			says(x.err)
			time.Sleep(checkEvery + time.Second)
			if got := b.Get(); got.State != x.want {
				t.Errorf("after %v: %+v", x.err, got)
			}
		}
		says(bridge.Errorf(bridge.CodeForbidden, "the token is refused"))
		if err := <-ended; bridge.ErrorCode(err) != bridge.CodeForbidden || b.Get().State != bridge.HealthDown {
			t.Errorf("it ended with %v, %+v", err, b.Get())
		}
		says(nil)
		go watch()
		time.Sleep(time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestClock checks the finding about the difference of two clocks.
func TestClock(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		date string
		want bridge.FindingStatus
	}{
		"right":   {time.Now().UTC().Format(http.TimeFormat), bridge.FindingOK},
		"behind":  {time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat), bridge.FindingWarning},
		"far off": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), bridge.FindingFailed},
		"unknown": {"yesterday", bridge.FindingSkipped},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", x.date)
			w.WriteHeader(http.StatusForbidden)
		}))
		f := Clock(t.Context(), Client(), server.URL, "slack.clock")
		server.Close()
		wrong := x.want == bridge.FindingWarning || x.want == bridge.FindingFailed
		if f.Status != x.want || f.Check != "slack.clock" || f.Detail == "" || (f.Fix != "") != wrong {
			t.Errorf("%s: %+v", name, f)
		}
		if f := Clock(t.Context(), Client(), server.URL, "c"); f.Status != bridge.FindingSkipped || f.Detail == "" {
			t.Errorf("without a service: %+v", f)
		}
	}
	if f := Clock(t.Context(), Client(), "://", "c"); f.Status != bridge.FindingSkipped {
		t.Errorf("without an address: %+v", f)
	}
}

// TestReport checks the fix of a failure.
func TestReport(t *testing.T) {
	t.Parallel()
	r := Report{Platform: "slack"}
	r.Add("token", bridge.FindingOK, "@nod", "")
	r.Fail("socket", bridge.Errorf(bridge.CodeUnavailable, "unreachable"), "create a token")
	r.Fail("scopes", bridge.Errorf(bridge.CodeForbidden, "missing").WithHint("add it"), "")
	r.Fail("channel", bridge.Errorf(bridge.CodeNotFound, "unknown"), "invite the bot")
	for n, want := range []string{"", "HTTPS_PROXY", "add it", "invite the bot"} {
		if f := r.Findings[n]; !strings.Contains(f.Fix, want) || !strings.HasPrefix(f.Check, "slack.") {
			t.Errorf("%+v", f)
		}
	}
}

// TestTurns checks that a text whose start people can see is finished first.
func TestTurns(t *testing.T) {
	t.Parallel()
	ask, notice := bridge.Interaction{ID: "1"}, bridge.Interaction{ID: "2", Ask: bridge.Ask{Kind: bridge.KindNotice}}
	first, rest, note := NextTurn(ask, 0), NextTurn(ask, 2), NextTurn(notice, 0)
	if !(rest.Rank < first.Rank && first.Rank < note.Rank) || rest.Key == first.Key {
		t.Errorf("%+v %+v %+v", first, rest, note)
	}
}
