package telegram_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
)

// serve starts a service and returns a bot that talks to it.
func serve(t *testing.T, h http.Handler) *telegram.Platform {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	p, err := newPlatform(platformtest.Setup{URL: server.URL})
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
		"a webhook without its secret": {Token: "1:x", WebhookURL: "https://example.com"},
	} {
		if _, err := telegram.New(o); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSupergroup checks that a bot follows a group that became a supergroup.
func TestSupergroup(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var chats []string
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		chats = append(chats, r.FormValue("chat_id"))
		if r.FormValue("chat_id") == "-5" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded",`+
				`"parameters":{"migrate_to_chat_id":-1005}}`)
			return
		}
		_, _ = io.WriteString(w, `{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked"}`)
	}))
	i := bridge.Interaction{
		Agent: "tester", Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: "hello"},
		Schedule: bridge.Schedule{Deadline: time.Now().Add(time.Hour)},
	}
	v := bridge.NewView(bridge.Record{State: bridge.StatePending, Interaction: i}, 0, nil, nil)
	_, err := p.Post(t.Context(), bridge.Destination{Channel: "-5"}, v, nil)
	if bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("the first error is %v", err)
	}
	_, err = p.Post(t.Context(), bridge.Destination{Channel: "-5"}, v, nil)
	if bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("the second error is %v", err)
	}
	if got := strings.Join(chats, " "); got != "-5 -1005" {
		t.Errorf("it posted to %s", got)
	}
}

// TestIntroduce checks that setup sees who writes to the bot, and where.
func TestIntroduce(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	t.Cleanup(s.Close)
	p := serve(t, s)
	write := func(text string) {
		act := sandbox.Action{Service: "telegram", As: "bo", Do: "send", Channel: "7002", Text: text}
		if _, err := s.Act(t.Context(), act); err != nil {
			t.Error(err)
		}
	}
	write("before it asked")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		for ctx.Err() == nil && !s.State().Telegram.Polling {
			bridge.Pause(ctx, 5*time.Millisecond)
		}
		bridge.Pause(ctx, 100*time.Millisecond)
		write("hello")
	}()
	who, err := p.Introduce(ctx)
	if err != nil || who.User != "7002" || who.Chat != "7002" || who.Name != "Bo Chen" {
		t.Errorf("%+v, %v", who, err)
	}
}
