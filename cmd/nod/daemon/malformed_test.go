package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
)

// spoil makes well-formed input malformed. Occasionally, the result is still
// well formed.
func spoil(r *rand.Rand, well []byte) []byte {
	b := bytes.Clone(well)
	at := r.IntN(len(b) + 1)
	junk := []string{"\x00", "\xff\xfe", "\u202e", "{", "}", "[", "]", `"`, `\`, "null", "-1", "1e999", "99999999999999999999", `"\ud800"`, `{"a":`, ","}[r.IntN(16)]
	switch r.IntN(7) {
	case 0:
		return b[:at]
	case 1:
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
		}
		return b
	case 2:
		return append(append(bytes.Clone(b[:at]), junk...), b[at:]...)
	case 3: // without a piece
		end := min(len(b), at+1+r.IntN(20))
		return append(bytes.Clone(b[:at]), b[end:]...)
	case 4: // with a piece twice
		return append(append(bytes.Clone(b[:at]), b[at/2:at]...), b[at:]...)
	case 5:
		return bytes.Replace(b, []byte(`":"`), []byte(`":`+junk+`,"x":"`), 1+r.IntN(3))
	}
	depth := 1 << r.IntN(14)
	return append(bytes.Repeat([]byte(`{"a":[`), depth), b...)
}

// entryPoint is an entry point, with an input that it accepts.
type entryPoint struct {
	name, path string
	seed       string
	well       int // status of the response
	sign       func(body []byte) http.Header
}

// entryPoints returns all entry points that read untrusted text. Their callers
// may not respond to the request a.
func entryPoints(t *testing.T, r *rig.Rig, a rig.Asked) []entryPoint {
	t.Helper()
	token := controlOn(t, a)
	agent := func([]byte) http.Header {
		return http.Header{"Authorization": {"Bearer " + rig.TestAgentToken}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	}
	id := string(a.Interaction.ID)
	slack := fmt.Sprintf(`{"type":"block_actions","user":{"id":"U0NOBODY99"},"container":{"channel_id":%q,"message_ts":%q},"actions":[{"type":"button","value":%q}]}`, a.On("slack").Channel, a.On("slack").Message, token)
	view := fmt.Sprintf(`{"type":"view_submission","user":{"id":"U0NOBODY99"},"view":{"id":"V1","callback_id":%q,"private_metadata":%q,"state":{"values":{"q":{"q":{"type":"plain_text_input","value":"x"}}}}}}`, token, token)
	discord := fmt.Sprintf(`{"id":"@","type":3,"token":"x","channel_id":%q,"member":{"user":{"id":"399999999999999999"}},"message":{"id":%q},"data":{"custom_id":%q}}`, a.On("discord").Channel, a.On("discord").Message, token)
	modal := fmt.Sprintf(`{"id":"@","type":5,"token":"x","channel_id":%q,"member":{"user":{"id":"399999999999999999"}},"data":{"custom_id":%q,"components":[{"type":18,"component":{"type":4,"custom_id":"q","value":"x"}}]}}`, a.On("discord").Channel, token)
	press := fmt.Sprintf(`{"update_id":1,"callback_query":{"id":"1","from":{"id":7999},"data":%q,"message":{"message_id":%s,"chat":{"id":%s}}}}`, token, a.On("telegram").Message, a.On("telegram").Channel)
	reply := fmt.Sprintf(`{"update_id":2,"message":{"message_id":99999,"from":{"id":7999},"chat":{"id":%s,"type":"supergroup"},"text":"yes","reply_to_message":{"message_id":%s}}}`, a.On("telegram").Channel, a.On("telegram").Message)
	signedSlack := func(body []byte) http.Header {
		h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
		sandbox.SignSlack(h, sandbox.SlackSigningSecret, time.Now(), body)
		return h
	}
	signedDiscord := func(body []byte) http.Header {
		h := http.Header{"Content-Type": {"application/json"}}
		sandbox.SignDiscord(h, r.Sandbox.DiscordKey(), time.Now(), body)
		return h
	}
	secret := func([]byte) http.Header {
		return http.Header{"X-Telegram-Bot-Api-Secret-Token": {telegram.WebhookSecret(sandbox.TelegramToken)}}
	}
	return []entryPoint{
		{"ask", "/v1/interactions", `{"prompt":"Which?","session":"s","questions":[{"id":"q","widget":"select","options":[{"value":"a","label":"A"},{"value":"b"}]}],"timeout":"5s"}`, 201, agent},
		{"approval", "/v1/interactions", `{"prompt":"May I?","approval":{"tool":"bash","input":{"command":"ls"},"scopes":["once","session"]},"timeout":"5s","session":"s","join":true}`, 201, agent},
		{"response", "/v1/interactions/" + id + "/response", `{"decision":"once"}`, 403, agent},
		{"complete", "/v1/interactions/" + id + "/complete", `{"result":"done"}`, 409, agent},
		{"claude", "/v1/hooks/claude?wait=0", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/tmp"}`, 202, agent},
		{"mcp", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, 200, agent},
		{"slack", "/slack/interactions", "payload=" + url.QueryEscape(slack), 200, signedSlack},
		{"slack modal", "/slack/interactions", "payload=" + url.QueryEscape(view), 200, signedSlack},
		{"discord", "/discord/interactions", discord, 202, signedDiscord},
		{"discord modal", "/discord/interactions", modal, 202, signedDiscord},
		{"telegram", "/telegram/webhook", press, 200, secret},
		{"telegram reply", "/telegram/webhook", reply, 200, secret},
	}
}

// TestMalformed sends malformed inputs to every entry point. None
// of them makes the daemon fail or affects a pending request.
func TestMalformed(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{HTTPMode: true, Config: func(c *config.Config) {
		a := c.Agents["tester"]
		a.MaxPending = 200 // so that what is well formed by chance does not flood the chats
		c.Agents["tester"] = a
	}})
	a := r.Ask(samples.Approval())
	each, of := level.Often(750, 60), seed.Of(t)
	statuses := map[string]map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, d := range entryPoints(t, r, a) {
		wg.Go(func() {
			seen, random := map[int]int{}, seed.Own(of, d.name)
			well := strings.Replace(d.seed, "@", d.name, 1)
			if status := r.PostTo(d.path, d.sign([]byte(well)), well); status != d.well {
				t.Errorf("%s, well formed: %d", d.name, status)
			}
			for n := range each {
				body := spoil(random, []byte(strings.Replace(d.seed, "@", d.name+fmt.Sprint(n), 1)))
				status := r.PostTo(d.path, d.sign(body), string(body))
				seen[status]++
				if status >= 500 && status != http.StatusNotImplemented {
					t.Errorf("%s: %d for %.300q", d.name, status, body)
				}
			}
			mu.Lock()
			statuses[d.name] = seen
			mu.Unlock()
		})
	}
	for n := range 2 {
		wg.Go(func() { malformedFrames(r, seed.Own(of, fmt.Sprint("socket ", n)), each) })
	}
	wg.Wait()
	t.Logf("%v", statuses)
	a.Pending("slack")
	resp := rig.Fetch(r, r.Daemons[0].URL+"/healthz")
	if !strings.Contains(resp, `"slack"`) {
		t.Errorf("health: %s", resp)
	}
	r.Press("ana", a.On("telegram"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Response.Actor.Person != "ana" {
		t.Errorf("%s by %+v", rec.State, rec.Response.Actor)
	}
}

// malformedFrames sends frames to the WebSocket, and connects again when they
// end it.
func malformedFrames(r *rig.Rig, random *rand.Rand, n int) {
	seeds := []string{
		`{"type":"ask","id":"1","prompt":"Which?","questions":[{"id":"q","widget":"text"}],"timeout":"1s"}`,
		`{"type":"hello","sessionId":"s","widgets":true}`,
		`{"type":"interaction","payload":{"kind":"approval","prompt":"x","approval":{"tool":"t"}}}`,
	}
	var c *websocket.Conn
	ctx, cancel := context.WithCancel(r.Ctx)
	defer cancel()
	for range n {
		if c == nil {
			var err error
			//nolint:bodyclose // the library says that it never needs to be
			c, _, err = websocket.Dial(ctx, strings.Replace(r.Daemons[0].URL, "http", "ws", 1)+"/v1/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + rig.TestAgentToken}}})
			if err != nil {
				r.T.Errorf("the socket is not there: %v", err)
				return
			}
			go func(c *websocket.Conn) { // the content of the frames is not checked
				for {
					if _, _, err := c.Read(ctx); err != nil {
						return
					}
				}
			}(c)
		}
		kind := websocket.MessageText
		if random.IntN(10) == 0 {
			kind = websocket.MessageBinary
		}
		if c.Write(ctx, kind, spoil(random, []byte(seeds[random.IntN(len(seeds))]))) != nil {
			c.CloseNow()
			c = nil
		}
	}
	if c != nil {
		c.CloseNow()
	}
}

// controlOn returns the token of the control "Run command" on a card on Slack.
func controlOn(t *testing.T, a rig.Asked) string {
	t.Helper()
	for _, c := range a.Controls("slack") {
		if c.Label == "Run command" {
			return c.Value
		}
	}
	t.Fatal("the card on Slack has no control \"Run command\"")
	return ""
}
