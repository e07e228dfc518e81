package platforms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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

// TestHealthStates checks which of the things that are wrong with a platform its
// health names, and that each change of the state is logged once.
func TestHealthStates(t *testing.T) {
	t.Parallel()
	up := func(b *HealthBox) { b.Set(bridge.HealthUp, "") }
	refused := func(b *HealthBox) { up(b); b.Suspect("401"); b.Suspect("401"); b.Refuse("revoked") }
	for name, x := range map[string]struct {
		do        func(*HealthBox)
		want      bridge.HealthState
		reason    string
		connected bool
		logged    string
	}{
		"refused before it connects": {func(b *HealthBox) { b.Suspect("401") }, bridge.HealthDegraded, "401", false, "degraded 401\n"},
		"a call is refused":          {func(b *HealthBox) { up(b); b.Suspect("401") }, bridge.HealthDegraded, "401", true, "degraded 401\n"},
		"the account is refused":     {refused, bridge.HealthDown, "revoked", true, "degraded 401\ndown revoked\n"},
		"accepted again":             {func(b *HealthBox) { refused(b); b.Accept() }, bridge.HealthUp, "", true, "degraded 401\ndown revoked\nup\n"},
		"refused while unreachable": {func(b *HealthBox) { b.Set(bridge.HealthDegraded, "no route"); b.Suspect("401") },
			bridge.HealthDegraded, "no route", false, "degraded no route\n"},
		"a warning":         {func(b *HealthBox) { up(b); b.Warn("rival", time.Minute) }, bridge.HealthDegraded, "rival", true, "degraded rival\n"},
		"an old warning":    {func(b *HealthBox) { up(b); b.Warn("rival", time.Minute); time.Sleep(time.Minute) }, bridge.HealthUp, "", true, "degraded rival\n"},
		"a warning's end":   {func(b *HealthBox) { up(b); b.Warn("rival", time.Minute); b.Warn("", 0) }, bridge.HealthUp, "", true, "degraded rival\nup\n"},
		"a warning of less": {func(b *HealthBox) { b.Warn("rival", time.Minute); b.Set(bridge.HealthDown, "away") }, bridge.HealthDown, "away", false, "down away\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log changes
				b := HealthBox{Log: slog.New(&log)}
				x.do(&b)
				if got := b.Get(); got.State != x.want || got.Reason != x.reason || b.Connected() != x.connected {
					t.Errorf("the health is %q %q, connected %t; want %q %q, %t", got.State, got.Reason, b.Connected(), x.want, x.reason, x.connected)
				}
				if log.text.String() != x.logged {
					t.Errorf("the log is %q, want %q", &log.text, x.logged)
				}
			})
		})
	}
}

// changes is the log of a HealthBox: a line of state and reason for each change.
type changes struct {
	slog.Handler
	text strings.Builder
}

func (*changes) Enabled(context.Context, slog.Level) bool { return true }

func (c *changes) Handle(_ context.Context, r slog.Record) error {
	var words []string
	r.Attrs(func(a slog.Attr) bool { words = append(words, a.Value.String()); return true })
	if r.Level == slog.LevelInfo {
		words = []string{"up"}
	}
	c.text.WriteString(strings.Join(words, " ") + "\n")
	return nil
}

// TestRecheck checks when a refusal of the account is looked at again, and what
// decides that it is refused.
func TestRecheck(t *testing.T) {
	t.Parallel()
	refused, away := Row{About: AboutAccount}.Err(nil, "revoked"), bridge.Errorf(bridge.CodeUnavailable, "away")
	for name, x := range map[string]struct {
		answers []error // the last one repeats
		checks  string
		want    bridge.HealthState
	}{
		"a single refusal":   {[]error{nil}, "[1s]", bridge.HealthUp},
		"refused again":      {[]error{refused}, "[1s 3s 7s 15s 31s 1m3s 2m3s]", bridge.HealthDown},
		"accepted later":     {[]error{refused, refused, nil}, "[1s 3s 7s]", bridge.HealthUp},
		"a check that fails": {[]error{away, nil}, "[1s 3s]", bridge.HealthUp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var b HealthBox
				var checks []time.Duration
				var wg sync.WaitGroup
				start := time.Now()
				b.Set(bridge.HealthUp, "")
				b.Suspect("401")
				wg.Go(func() {
					Recheck(ctx, &b, func(ctx context.Context) error {
						if _, bounded := ctx.Deadline(); !bounded {
							t.Error("a check has no deadline")
						}
						checks = append(checks, time.Since(start))
						return x.answers[min(len(checks), len(x.answers))-1]
					})
				})
				time.Sleep(3 * time.Minute)
				cancel()
				wg.Wait()
				if got := fmt.Sprint(checks); got != x.checks || b.Get().State != x.want {
					t.Errorf("the checks are at %s, and then it is %s; want %s, %s", got, b.Get().State, x.checks, x.want)
				}
			})
		})
	}
}

// TestTold checks which calls that tell a person something are made again, and
// until when.
func TestTold(t *testing.T) {
	t.Parallel()
	limit := Row{About: AboutLimit, Wait: 600 * time.Millisecond}.Err(nil, "slow down")
	longer := Row{About: AboutLimit, Wait: time.Minute}.Err(nil, "slow down")
	service, lost := Row{About: AboutService}.Err(nil, "500"), bridge.Errorf(bridge.CodeUnavailable, "reset")
	own := bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "its turn comes later")
	own.RetryAfter = 700 * time.Millisecond
	rival, content := Row{About: AboutRival}.Err(nil, "409"), Row{About: AboutContent}.Err(nil, "400")
	for name, x := range map[string]struct {
		answers []error // the last one repeats
		calls   []string
		want    error
	}{
		"taken":                    {[]error{nil}, []string{"0s"}, nil},
		"the service fails":        {[]error{service, nil}, []string{"0s", "150ms unclear"}, nil},
		"the connection breaks":    {[]error{lost, nil}, []string{"0s", "150ms unclear"}, nil},
		"it fails to the end":      {[]error{lost}, []string{"0s", "150ms unclear", "450ms unclear"}, lost},
		"limited":                  {[]error{limit, nil}, []string{"0s", "600ms"}, nil},
		"its turn comes later":     {[]error{own, nil}, []string{"0s", "700ms"}, nil},
		"limited for too long":     {[]error{longer, nil}, []string{"0s"}, longer},
		"another program has it":   {[]error{rival, nil}, []string{"0s"}, rival},
		"the content is not taken": {[]error{content, nil}, []string{"0s"}, content},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var calls []string
				start := time.Now()
				err := Told(t.Context(), time.Second, func(unclear bool) error {
					at := time.Since(start).String()
					if unclear {
						at += " unclear"
					}
					calls = append(calls, at)
					return x.answers[min(len(calls), len(x.answers))-1]
				})
				if !slices.Equal(calls, x.calls) || !errors.Is(err, x.want) {
					t.Errorf("the calls are at %q, %v; want %q, %v", calls, err, x.calls, x.want)
				}
			})
		})
	}
}

// drawn is a sink that records the outcome of a card.
type drawn struct {
	bridge.Sink
	err error
	got []error
}

func (d *drawn) Drawn(ctx context.Context, _ bridge.View, failed error) error {
	d.got = append(d.got, failed, ctx.Err())
	return d.err
}

// TestRedraw checks that the sink hears the outcome of a card, even if the caller
// has left.
func TestRedraw(t *testing.T) {
	t.Parallel()
	failed, gone := bridge.Errorf(bridge.CodeUnavailable, "away"), bridge.Errorf(bridge.CodeInternal, "no store")
	for name, x := range map[string]struct{ update, sink error }{
		"drawn": {nil, nil}, "not drawn": {failed, nil}, "not recorded": {nil, gone}, "neither": {failed, gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancel(t.Context())
			sink := &drawn{err: x.sink}
			err := Redraw(ctx, sink, bridge.MessageRef{}, bridge.View{}, func(context.Context, bridge.MessageRef, bridge.View, *bridge.Parts) error {
				leave()
				return x.update
			})
			if want := []error{x.update, nil}; !slices.Equal(sink.got, want) {
				t.Errorf("the sink hears %v, want %v", sink.got, want)
			}
			if x.update != nil && !errors.Is(err, x.update) || x.sink != nil && !errors.Is(err, x.sink) || (err != nil) != (x.update != nil || x.sink != nil) {
				t.Errorf("it returns %v, want %v and %v", err, x.update, x.sink)
			}
		})
	}
}

// TestSeen checks that what is delivered again counts once in its time, and takes
// no memory afterwards.
func TestSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s Seen
		for _, x := range []struct {
			key   string
			after time.Duration
			want  bool
		}{
			{"a", 0, true}, {"a", 0, false}, {"b", 0, true}, {"a", 59 * time.Second, false},
			{"a", time.Second, true}, {"a", 30 * time.Second, false}, {"c", 2 * time.Minute, true},
		} {
			time.Sleep(x.after)
			if got := s.First(x.key, time.Minute); got != x.want {
				t.Errorf("%s %s later is new: %t, want %t", x.key, x.after, got, x.want)
			}
		}
		if len(s.until) != 1 {
			t.Errorf("it remembers %v, want c only", s.until)
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
		f := Clock(t.Context(), Client(CallTimeout), server.URL, "slack.clock")
		server.Close()
		wrong := x.want == bridge.FindingWarning || x.want == bridge.FindingFailed
		if f.Status != x.want || f.Check != "slack.clock" || f.Detail == "" || (f.Fix != "") != wrong {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, url := range []string{"http://127.0.0.1:9", "://"} { // without a service, and without an address
		if f := Clock(t.Context(), Client(CallTimeout), url, "c"); f.Status != bridge.FindingSkipped || f.Detail == "" {
			t.Errorf("%s: %+v", url, f)
		}
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

// TestNoRedirect checks that a redirect of an API, whose URL can have the token, does
// not tell another host that URL.
func TestNoRedirect(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host gets %s with the referer %q", r.URL, r.Referer())
	}))
	defer other.Close()
	api := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer api.Close()
	resp, err := Client(CallTimeout).Post(api.URL+"/botTOKEN/sendMessage", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		t.Errorf("the status is %d", resp.StatusCode)
	}
}
