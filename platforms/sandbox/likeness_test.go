package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestLikeness checks answers of the services that clients of other people need.
func TestLikeness(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	call := func(path, token string, form url.Values) string {
		t.Helper()
		method, body := http.MethodGet, io.Reader(nil)
		if form != nil {
			method, body = http.MethodPost, strings.NewReader(form.Encode())
		}
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", token)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-Proto", "https") // of a proxy with TLS
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const posting = "/slack/api/chat.postMessage"
	bot, discord := "Bearer "+sandbox.SlackBotToken, "Bot "+sandbox.DiscordToken
	telegram := "/telegram/bot" + sandbox.TelegramToken + "/sendMessage"
	marks := url.Values{"chat_id": {"7001"}, "text": {"\ta\r\u2028b\u030a \u200e\u200f"}, "entities": {`[{"type":"bold","offset":4,"length":1}]`}}
	for name, x := range map[string]struct{ got, want string }{
		"a channel by its name":          {call(posting, bot, url.Values{"channel": {"#deploys"}, "text": {"hi"}}), `"channel":"` + sandbox.SlackChannel + `"`},
		"a channel that does not exist":  {call(posting, bot, url.Values{"channel": {"#nowhere"}, "text": {"hi"}}), "channel_not_found"},
		"the socket behind TLS":          {call("/slack/api/apps.connections.open", "Bearer "+sandbox.SlackAppToken, url.Values{}), `"wss://`},
		"the gateway behind TLS":         {call("/discord/api/v10/gateway/bot", discord, nil), `"wss://`},
		"the owner of an application":    {call("/discord/api/v10/oauth2/applications/@me", discord, nil), `"owner":{`},
		"the origins of an application":  {call("/discord/api/v10/oauth2/applications/@me", discord, nil), `"rpc_origins":[]`},
		"what Telegram drops from texts": {call(telegram, "", marks), `"text":"ab \u200c` + "\u200f" + `"`},
		"where an entity is then":        {call(telegram, "", marks), `"offset":1`},
		"a text of nothing to see":       {call(telegram, "", url.Values{"chat_id": {"7001"}, "text": {"\u200b\u00a0"}}), "message text is empty"},
	} {
		if !strings.Contains(strings.ReplaceAll(x.got, "\u200c", `\u200c`), x.want) {
			t.Errorf("%s: %s", name, x.got)
		}
	}
}

// TestDisconnects checks that a connection that has been greeted can be ended at once.
func TestDisconnects(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	for range 100 {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/slack/api/apps.connections.open", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+sandbox.SlackAppToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var opened struct{ URL string }
		err = json.NewDecoder(resp.Body).Decode(&opened)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		conn, _, err := websocket.Dial(ctx, opened.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := conn.Read(ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.Disconnect("slack", 0); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, _, err = conn.Read(ctx)
		}
		if websocket.CloseStatus(err) != websocket.StatusNormalClosure {
			t.Fatalf("the socket ends with %v", err)
		}
		_ = conn.CloseNow() // the connection is closed
	}
}
