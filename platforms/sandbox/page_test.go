package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// unusual are messages that the services accept and that a page has to survive.
var unusual = map[string][]string{
	"discord": {
		"{\"content\":\"# Head\\n__u__ *i* ||s|| <@1> <@&1> <#1> <t:5:R> <t:5> [x](https://x.example) https://x.example\\n>>> q\\n- a\"}",
		`{"embeds":[{"title":"T","url":"nowhere","color":null,"author":{"name":"A"},"fields":[{"name":"N","value":"V"}],"footer":{"text":"F"}}]}`,
		`{"flags":32768,"components":[{"type":9,"components":[{"type":10,"content":"x"}],
			"accessory":{"type":2,"style":5,"label":"x","url":"https://x.example"}},{"type":14},
			{"type":17,"spoiler":true,"accent_color":null,"components":[{"type":10,"content":"hidden"}]},
			{"type":1,"components":[{"type":5,"custom_id":"u"}]},
			{"type":1,"components":[{"type":3,"custom_id":"c","max_values":2,"options":[{"label":"x","value":"x"},{"label":"y","value":"y"}]}]},
			{"type":1,"components":[{"type":2,"style":1,"emoji":{"name":"x"},"custom_id":"e"}]}]}`,
	},
	"telegram": {
		`{"text":"x","reply_markup":{"keyboard":[["x"]]}}`,
		`{"text":"x","reply_markup":{"inline_keyboard":[]}}`,
		`{"text":"overlapping https://x.example @x","entities":[{"type":"bold","offset":0,"length":20},
			{"type":"italic","offset":5,"length":22},{"type":"expandable_blockquote","offset":3,"length":9},
			{"type":"pre","offset":4,"length":3,"language":"diff"}]}`,
		`{"text":"x","entities":[{"type":"date_time","offset":0,"length":1,"unix_time":-1,"date_time_format":"WDT"}]}`,
	},
}

// accept sends a call to a service. It reports whether the service took it.
func accept(t *testing.T, url, method, kind, body string) (raw.Object, bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+sandbox.DiscordToken)
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	encoded, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer raw.Object
	if err := json.Unmarshal(encoded, &answer); err != nil {
		t.Fatalf("%s: %s", encoded, err)
	}
	return answer, resp.StatusCode/100 == 2
}

// chromium returns the path of a browser. Without one, the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no Chromium; `make test` installs it in CI")
	}
	t.Skip("no Chromium on this machine")
	return ""
}

// cards returns the messages of the test data of a service.
func cards(t *testing.T, service string) []raw.Object {
	t.Helper()
	names, err := filepath.Glob(service + "/testdata/cards/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	var out []raw.Object
	for _, name := range names {
		encoded, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var some []raw.Object
		if err := json.Unmarshal(encoded, &some); err != nil {
			t.Fatal(err)
		}
		out = append(out, some...)
	}
	for _, encoded := range unusual[service] {
		var o raw.Object
		if err := json.Unmarshal([]byte(encoded), &o); err != nil {
			t.Fatal(encoded, err)
		}
		out = append(out, o)
	}
	return out
}

// TestPageShowsAll checks that the page shows every message that Discord and
// Telegram accept: the cards of the test data and unusual messages.
func TestPageShowsAll(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	_, url := stage(t, sandbox.Options{})
	shown := map[string]int{}
	for _, c := range cards(t, "discord") {
		for _, key := range []string{"edit", "data"} { // of a message, or of a response
			if inner := raw.Sub(c, key); inner != nil {
				c = inner
			}
		}
		if c["content"] == nil {
			delete(c, "content")
		}
		delete(c, "attachments")
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		messages := url + "/discord/api/v10/channels/" + sandbox.DiscordChannel + "/messages"
		if _, ok := accept(t, messages, "POST", "application/json", string(encoded)); ok {
			shown["discord"]++
		}
	}
	for _, c := range cards(t, "telegram") {
		c["chat_id"] = sandbox.TelegramChat
		delete(c, "ephemeral_message_parameters")
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		send := url + "/telegram/bot" + sandbox.TelegramToken + "/sendMessage"
		if _, ok := accept(t, send, "POST", "application/json", string(encoded)); ok {
			shown["telegram"]++
		}
	}
	if shown["discord"] < 30 || shown["telegram"] < 30 {
		t.Errorf("accepted: %v", shown)
	}
	counts := open(t, browser, url, shown["telegram"])
	for service, want := range shown {
		if counts[service] != want {
			t.Errorf("the page shows %d of %d messages of %s", counts[service], want, service)
		}
	}
}

// open opens the page and returns how many messages it shows by service, once
// the last service shows some or it takes too long.
func open(t *testing.T, browser, url string, last int) map[string]int {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(await.Limit))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	defer stopAlloc()
	ctx, stop := chromedp.NewContext(alloc)
	defer func() { _ = chromedp.Cancel(ctx); stop() }() // the browser may be gone
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	const count = `JSON.stringify(Object.fromEntries(["discord", "telegram"].map(
		(id) => [id, document.querySelectorAll("#" + id + " article").length])))`
	var shown map[string]int
	await.Until(t, "the page shows the last message", func() bool {
		encoded, err := chromedp.Run(ctx, chromedp.Evaluate[string](count))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(encoded), &shown); err != nil {
			t.Fatal(err)
		}
		return shown["telegram"] == last
	})
	return shown
}
