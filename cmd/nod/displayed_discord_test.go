package main

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox"
)

// Numbers of Discord that decide what a message shows.
const (
	discordComponents = 1 << 15 // the flag of a message that only components show
	discordText       = 10      // component types
	discordFile       = 13
)

// discordMarkup are code and escapes, which are shown as they are written,
// spoilers, and addresses behind other words.
var discordMarkup = regexp.MustCompile("(?s)```.*?```|`[^`]*`" + `|\\.|\|\|.+?\|\||\]\(<?\w+://[^)]*\)`)

// discordShown returns what a member reads on a message or a modal, as Discord
// stores it or a request sends it. What a spoiler hides does not count,
// and neither do embeds: a permission or a setting can hide them. Menus count
// as open. Files are read with download, if it is not nil.
func discordShown(v any, download func(string) string) string {
	var b strings.Builder
	write := func(o map[string]any, keys ...string) {
		for _, k := range keys {
			if s, _ := o[k].(string); s != "" {
				b.WriteString(discordMarkup.ReplaceAllStringFunc(s, func(s string) string {
					switch {
					case strings.HasPrefix(s, "||"):
						return ""
					case strings.HasPrefix(s, "]("):
						return "]"
					}
					return s
				}) + "\n")
			}
		}
	}
	open := func(o map[string]any) {
		if url, _ := o["url"].(string); strings.HasPrefix(url, "/") && download != nil {
			b.WriteString(download(url) + "\n")
		}
	}
	var read func(v any)
	read = func(v any) {
		o, _ := v.(map[string]any)
		if o == nil || o["spoiler"] == true {
			return
		}
		switch o["type"] {
		case float64(discordText):
			write(o, "content")
		case float64(discordFile):
			file, _ := o["file"].(map[string]any)
			write(o, "name")
			open(file)
		default:
			write(o, "label", "description", "placeholder")
		}
		read(o["accessory"])
		read(o["component"])
		for _, key := range []string{"components", "options"} {
			list, _ := o[key].([]any)
			for _, e := range list {
				read(e)
			}
		}
	}
	m, _ := v.(map[string]any)
	if data, ok := m["data"].(map[string]any); ok { // the answer to an interaction
		m = data
	}
	if flags, _ := m["flags"].(float64); int(flags)&discordComponents == 0 {
		write(m, "content", "title")
		attached, _ := m["attachments"].([]any)
		for _, a := range attached {
			file, _ := a.(map[string]any)
			if name, _ := file["filename"].(string); !strings.HasPrefix(name, "SPOILER_") {
				write(file, "filename")
				open(file)
			}
		}
	}
	read(map[string]any{"components": m["components"]})
	return b.String()
}

// TestDisplayOnDiscord posts messages that hide a text in each way that Discord
// has, and those that show it.
func TestDisplayOnDiscord(t *testing.T) {
	t.Parallel()
	r := &rig{t: t, ctx: t.Context(), sandbox: sandbox.New(sandbox.Options{NoLimits: true})}
	server := httptest.NewServer(r.sandbox)
	t.Cleanup(func() { r.sandbox.Close(); server.Close() })
	r.base = server.URL
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
		at := sandbox.Place{Service: "discord", Channel: sandbox.DiscordChannel, Message: r.discordPost(`{`+c.body+`}`, "the end: "+secret)}
		if got := r.displayed(at); strings.Contains(got, normal("discord", secret)) != c.shown {
			t.Errorf("%s: shown %t: %q", name, !c.shown, got)
		}
	}
}

// discordPost posts a message, with the file plan.txt if the body names it, and
// returns its ID.
func (r *rig) discordPost(body, file string) string {
	r.t.Helper()
	raw, kind := bytes.NewBufferString(body), "application/json"
	if strings.Contains(body, "plan.txt") {
		raw = &bytes.Buffer{}
		w := multipart.NewWriter(raw)
		_ = w.WriteField("payload_json", body) // a buffer takes all
		part, _ := w.CreateFormFile("files[0]", "plan.txt")
		_, _ = part.Write([]byte(file))
		w.Close()
		kind = w.FormDataContentType()
	}
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.base+"/discord/api/v10/channels/"+sandbox.DiscordChannel+"/messages", raw)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+sandbox.DiscordToken)
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var m struct {
		ID     string          `json:"id"`
		Errors json.RawMessage `json:"errors"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || m.ID == "" {
		r.t.Fatalf("%s: %s %s, %v", body, resp.Status, m.Errors, err)
	}
	return m.ID
}
