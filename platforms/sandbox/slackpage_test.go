package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// pageTest is the page of a sandbox in a browser, with a Slack bot that
// acknowledges everything.
type pageTest struct {
	t       *testing.T
	ctx     context.Context
	url     string
	sandbox *sandbox.Sandbox
	trigger chan string
}

func newPageTest(t *testing.T, width, height int) *pageTest {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(width, height), chromedp.WSURLReadTimeout(await.Limit))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stopAlloc)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); stop() }) // the browser may be gone
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	p := &pageTest{t, ctx, server.URL, s, make(chan string, 9)}
	p.do("start", chromedp.Navigate("about:blank")) // the browser lives as long as the context of this call
	limited, cancel := context.WithTimeout(ctx, 5*await.Limit)
	t.Cleanup(cancel)
	p.ctx = limited
	p.connect()
	return p
}

func (p *pageTest) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// eval returns the value of JavaScript.
func eval[T any](p *pageTest, js string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		p.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// call calls a method of the Web API.
func (p *pageTest) call(token, method string, args any) map[string]any {
	p.t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.ctx, http.MethodPost, p.url+"/slack/api/"+method, strings.NewReader(string(encoded)))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	var answer map[string]any
	if err != nil || json.Unmarshal(body, &answer) != nil || answer["ok"] != true {
		p.t.Fatalf("%s: %s %v", method, body, err)
	}
	return answer
}

// connect opens a socket and acknowledges everything. It passes on triggers.
func (p *pageTest) connect() {
	p.t.Helper()
	address, _ := p.call(sandbox.SlackAppToken, "apps.connections.open", map[string]any{})["url"].(string)
	conn, _, err := websocket.Dial(p.ctx, address, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.CloseNow() }) // the sandbox may have closed it
	go func() {
		for {
			var in struct {
				ID      string `json:"envelope_id"`
				Payload struct {
					Trigger string `json:"trigger_id"`
				} `json:"payload"`
			}
			if wsjson.Read(p.ctx, conn, &in) != nil {
				return
			}
			if in.ID != "" && wsjson.Write(p.ctx, conn, map[string]string{"envelope_id": in.ID}) == nil && in.Payload.Trigger != "" {
				p.trigger <- in.Payload.Trigger
			}
		}
	}()
}

func (p *pageTest) screenshot(name string) {
	p.t.Helper()
	dir := os.Getenv("NOD_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// read reads test data of the emulator.
func (p *pageTest) read(name string, into any) {
	p.t.Helper()
	encoded, err := os.ReadFile("slack/testdata/" + name)
	if err == nil {
		err = json.Unmarshal(encoded, into)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestSlackPage checks that the page shows every block and every card, that
// confirmations ask first, and that menus, replies and the Home tab work.
func TestSlackPage(t *testing.T) {
	t.Parallel()
	p := newPageTest(t, 1500, 1400)
	var blocks any
	p.read("everything.json", &blocks)
	post := func(args map[string]any) string {
		args["channel"] = sandbox.SlackChannel
		ts, _ := p.call(sandbox.SlackBotToken, "chat.postMessage", args)["ts"].(string)
		return ts
	}
	post(map[string]any{"text": "All blocks", "blocks": blocks})
	p.do("open", chromedp.Navigate(p.url), browsing.Seen("#slack article"))
	p.screenshot("slack-everything")
	for want, js := range map[string]string{
		"a link":                     `document.querySelector('#slack a[href="https://x.example"]').textContent`,
		"https://auto.example/p?q=1": `document.querySelector('#slack a[href^="https://auto"]').textContent`,
		"@Ana Lima":                  `document.querySelector('#slack .mention').textContent`,
		"a quote":                    `document.querySelector('#slack blockquote').textContent`,
		"a *block*":                  `document.querySelector('#slack pre').textContent`,
		"All blocks":                 `document.querySelector('#slack .notification').lastChild.textContent`,
		"1":                          `String(document.querySelectorAll('#slack article').length)`,
		"0":                          `String(document.querySelectorAll('#slack .error, #slack a[href*="not.linked"]').length)`,
	} {
		if got := eval[string](p, js); got != want {
			t.Errorf("%s: %q, want %q", js, got, want)
		}
	}
	button := func(label string) chromedp.Action[chromedp.Void] {
		return browsing.Click(`//section[@id="slack"]//button[contains(., "` + label + `")]`)
	}
	p.do("confirm", button("Danger"), browsing.Seen("#slack .confirm"))
	p.screenshot("slack-confirm")
	p.do("decline", button("No"), browsing.Gone("#slack .confirm"))
	if len(p.trigger) != 0 {
		t.Error("clicked although the member declined")
	}
	p.do("confirm", button("Danger"), button("Do it"))
	<-p.trigger
	p.do("menu", browsing.Click("#slack .menu summary"), button("First"))
	<-p.trigger
	p.do("reply", browsing.Type("#slack .composer input", "hello https://x.example/a\n"),
		browsing.Seen(`//section[@id="slack"]//article[2]//a`))
	home := map[string]any{"type": "home", "blocks": []any{map[string]any{
		"type": "header", "text": map[string]any{"type": "plain_text", "text": "Welcome home"},
	}}}
	p.call(sandbox.SlackBotToken, "views.publish", map[string]any{"user_id": "U0ANA00001", "view": home})
	p.do("home", button("Home"), browsing.Seen(`//section[@id="slack"]//*[contains(text(), "Welcome home")]`))
}

// TestSlackCards checks that the page shows every card of the design.
func TestSlackCards(t *testing.T) {
	t.Parallel()
	p := newPageTest(t, 1500, 1100)
	var all []struct {
		Name, Method string
		Args         map[string]any
	}
	p.read("cards.json", &all)
	p.do("open", chromedp.Navigate(p.url), browsing.Seen("#slack"))
	start := map[string]any{"type": "button", "action_id": "go", "text": map[string]any{"type": "plain_text", "text": "Go"}}
	opener, _ := p.call(sandbox.SlackBotToken, "chat.postMessage", map[string]any{
		"channel": sandbox.SlackChannel, "text": "x",
		"blocks": []any{map[string]any{"type": "actions", "elements": []any{start}}},
	})["ts"].(string)
	n := 1
	for _, c := range all {
		switch c.Method {
		case "chat.postMessage", "chat.update":
			ts, _ := p.call(sandbox.SlackBotToken, "chat.postMessage", c.Args)["ts"].(string)
			p.do(c.Name, browsing.Seen(`#slack article[data-message="`+ts+`"]`))
			n++
			p.screenshot("slack-card-" + c.Name)
		case "views.open":
			a := sandbox.Action{Service: "slack", As: "ana", Do: "press", Channel: sandbox.SlackChannel, Message: opener, Control: "go"}
			if r, err := p.sandbox.Act(p.ctx, a); err != nil || !r.OK {
				t.Fatalf("%+v %v", r, err)
			}
			c.Args["trigger_id"] = <-p.trigger
			p.call(sandbox.SlackBotToken, "views.open", c.Args)
			p.do(c.Name, browsing.Seen("#slack .modal"))
			p.screenshot("slack-card-" + c.Name)
			p.do(c.Name, browsing.Click("#slack .modal .x"), browsing.Gone("#slack .modal"))
		case "views.publish":
			p.call(sandbox.SlackBotToken, "views.publish", c.Args)
		}
	}
	if got := eval[int](p, `document.querySelectorAll('#slack article').length`); got != n {
		t.Errorf("%d messages, want %d", got, n)
	}
	if bad := eval[int](p, `document.querySelectorAll('#slack .error').length`); bad != 0 {
		t.Errorf("%d blocks are broken", bad)
	}
	p.do("home", browsing.Click(`//section[@id="slack"]//button[contains(., "Home")]`),
		browsing.Seen("#slack .home button"))
	p.screenshot("slack-card-home")
}
