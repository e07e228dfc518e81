package daemon_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestDisplayOnDiscord checks that the display check detects each way in which
// a Discord message can hide text.
func TestDisplayOnDiscord(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.Close() })
	r := &rig.Rig{Hands: person.New(t, t.Context(), s, server.URL)}
	const flag, secret = `"flags":32768,`, "rm -rf /srv"
	text := func(s string) string { return flag + `"components":[{"type":10,"content":"` + s + `"}]` }
	file := func(spoiler string) string {
		return flag + `"attachments":[{"id":"0","filename":"plan.txt"}],"components":[{"type":10,"content":"a plan"},` +
			`{"type":17,"components":[{"type":13,"file":{"url":"attachment://plan.txt"}` + spoiler + `}]}]`
	}
	for name, c := range map[string]struct {
		body  string
		shown bool
	}{
		"content":       {`"content":"` + secret + `"`, true},
		"text":          {text(secret), true},
		"code":          {text("```\\na || " + secret + " || b\\n```"), true},
		"escaped":       {text(`a \\|\\| ` + secret + ` \\|\\| b`), true},
		"bare address":  {text("<https://example.com/" + secret + ">"), true},
		"container":     {flag + `"components":[{"type":17,"components":[{"type":10,"content":"` + secret + `"}]}]`, true},
		"file":          {file(""), true},
		"attachment":    {`"content":"a plan","attachments":[{"id":"0","filename":"plan.txt"}]`, true},
		"button":        {`"content":"a","components":[{"type":1,"components":[{"type":2,"style":1,"custom_id":"a","label":"` + secret + `"}]}]`, true},
		"button's id":   {`"content":"a","components":[{"type":1,"components":[{"type":2,"style":1,"custom_id":"` + secret + `","label":"a"}]}]`, false},
		"embed":         {`"content":"a","embeds":[{"title":"` + secret + `","description":"` + secret + `"}]`, false},
		"spoiler":       {text("a ||" + secret + "|| b"), false},
		"link":          {text("[here](https://example.com/" + secret + ")"), false},
		"hidden box":    {flag + `"components":[{"type":17,"spoiler":true,"components":[{"type":10,"content":"` + secret + `"}]}]`, false},
		"hidden file":   {file(`,"spoiler":true`), false},
		"file not put":  {flag + `"attachments":[{"id":"0","filename":"plan.txt"}],"components":[{"type":10,"content":"a plan"}]`, false},
		"file not sent": {`"content":"request.txt"`, false},
	} {
		at := sandbox.Place{Service: "discord", Channel: sandbox.DiscordChannel, Message: discordPost(r, `{`+c.body+`}`, "the end: "+secret)}
		if got := r.Displayed(at); strings.Contains(got, rig.Normal("discord", secret)) != c.shown {
			t.Errorf("%s: shown %t: %q", name, !c.shown, got)
		}
	}
}

// discordPost posts a message and returns its ID. It adds the file plan.txt if
// the body refers to it.
func discordPost(r *rig.Rig, body, file string) string {
	r.T.Helper()
	raw, kind := bytes.NewBufferString(body), "application/json"
	if strings.Contains(body, "plan.txt") {
		raw = &bytes.Buffer{}
		w := multipart.NewWriter(raw)
		_ = w.WriteField("payload_json", body) // a buffer does not fail
		part, _ := w.CreateFormFile("files[0]", "plan.txt")
		_, _ = part.Write([]byte(file))
		w.Close()
		kind = w.FormDataContentType()
	}
	req, err := http.NewRequestWithContext(r.Ctx, http.MethodPost, r.Base+"/discord/api/v10/channels/"+sandbox.DiscordChannel+"/messages", raw)
	if err != nil {
		r.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+sandbox.DiscordToken)
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.T.Fatal(err)
	}
	defer resp.Body.Close()
	var m struct {
		ID     string          `json:"id"`
		Errors json.RawMessage `json:"errors"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || m.ID == "" {
		r.T.Fatalf("%s: %s %s, %v", body, resp.Status, m.Errors, err)
	}
	return m.ID
}
