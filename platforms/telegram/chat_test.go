package telegram_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
)

// serve starts a service and returns a bot that talks to it.
func serve(t *testing.T, h http.Handler) *telegram.Platform {
	t.Helper()
	return serveWith(t, h, &platformtest.Memory{})
}

// serveWith is serve with notes that outlive the bot.
func serveWith(t *testing.T, h http.Handler, notes *platformtest.Memory) *telegram.Platform {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	p, err := newPlatform(platformtest.Setup{URL: server.URL, Notes: notes})
	if err != nil {
		t.Fatal(err)
	}
	return p.(*telegram.Platform)
}

// TestOptions checks which options make a bot.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]telegram.Options{
		"no token": {}, "not a token": {Token: "x:y"},
	} {
		if _, err := telegram.New(o); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIntroduce checks that setup sees who writes to the bot, and where.
func TestIntroduce(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
	t.Cleanup(s.Close)
	p := serve(t, s)
	write := func(text string) {
		act := sandbox.Action{Service: "telegram", As: "bo", Do: "send", Channel: "7002", Text: text}
		if _, err := s.Act(t.Context(), act); err != nil {
			t.Error(err)
		}
	}
	write("before it asked")
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	go func() {
		if s.Wait(ctx, func() bool { return s.State().Telegram.Handed > 0 }) == nil {
			write("hello")
		}
	}()
	who, err := p.Introduce(ctx)
	if err != nil || who.User != "7002" || who.Place != "7002" || who.Name != "Bo Chen" {
		t.Errorf("%+v, %v", who, err)
	}
}

// notice is a view without controls.
func notice() bridge.View {
	i := bridge.Interaction{
		Agent: "tester", Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: "hello"},
		Schedule: bridge.Schedule{Deadline: time.Now().Add(time.Hour)},
	}
	return bridge.NewView(bridge.Record{State: bridge.StatePending, Interaction: i}, 0, nil, nil)
}

// TestErrorCodes checks the code of each kind of answer, also of one that has no
// code of its own.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bridge.Code{
		`"error_code":500,"description":"Internal Server Error"`:                      bridge.CodeUnavailable,
		`"error_code":429,"description":"Too Many","parameters":{"retry_after":3}`:    bridge.CodeRateLimited,
		`"error_code":429,"description":"Too Many"`:                                   bridge.CodeRateLimited,
		`"error_code":403,"description":"Forbidden: bot was kicked"`:                  bridge.CodeForbidden,
		`"error_code":401,"description":"Unauthorized"`:                               bridge.CodeForbidden,
		`"error_code":400,"description":"Bad Request: chat not found"`:                bridge.CodeForbidden,
		`"description":"something else"`:                                              bridge.CodeInvalid,
		`"error_code":400,"description":"Bad Request: message is not modified: same"`: "",
	} {
		p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"ok":false,`+body+`}`)
		}))
		err := p.Update(t.Context(), bridge.MessageRef{Channel: "-5", Message: "1"}, notice(), nil)
		if got := bridge.ErrorCode(err); (err != nil || want != "") && got != want {
			t.Errorf("%s: %v", body, err)
		}
		if e := (*bridge.Error)(nil); want == bridge.CodeRateLimited && (!errors.As(err, &e) || e.RetryAfter < time.Second) {
			t.Errorf("%s: it does not say how long to wait: %v", body, err)
		}
	}
}

// TestForeignReply checks that a reply counts only for the person who was
// prompted.
func TestForeignReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("first")
	_, at := w.post(bridge.Destination{Channel: group}, v)
	prompt := w.asks("ana", at, v)
	reply := sandbox.Action{Service: "telegram", As: "bo", Do: "reply", Channel: group, Text: "mine",
		Message: strconv.Itoa(int(prompt["message_id"].(float64)))}
	if _, err := w.Sandbox.Act(t.Context(), reply); err != nil {
		t.Fatal(err)
	}
	w.Eventually("bo is told", func() bool { return strings.Contains(w.last(group), "not your question") })
	if clicks := w.sink.Clicks(); len(clicks) != 1 {
		t.Errorf("the sink got %+v", clicks)
	}
}
