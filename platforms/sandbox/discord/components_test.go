package discord_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

const (
	label     = `{"type":10,"content":"hello"}`
	press     = `{"type":2,"style":1,"label":"Go","custom_id":"go"}`
	open      = `{"type":2,"style":5,"label":"Open","url":"https://example.com"}`
	fileShown = `{"type":13,"file":{"url":"attachment://plan.txt"}}`
)

// rawBot calls the emulator with bodies that no SDK sends.
type rawBot struct {
	t    *testing.T
	e    *discord.Emulator
	hub  *core.Hub
	base string
}

func newRawBot(t *testing.T) *rawBot {
	d := newDesk(t, discord.Options{}, false)
	return &rawBot{t, d.e, d.Hub, d.URL + "/discord/api/v10/channels/" + discord.Channel + "/messages"}
}

// call sends a body, with a file if it is given, and returns the status and the
// answer.
func (b *rawBot) call(method, path, body, name, data string) (int, map[string]any) {
	b.t.Helper()
	raw, kind := bytes.NewBufferString(body), "application/json"
	if name != "" {
		raw = &bytes.Buffer{}
		w := multipart.NewWriter(raw)
		_ = w.WriteField("payload_json", body)
		part, err := w.CreateFormFile("files[0]", name)
		if err != nil {
			b.t.Fatal(err)
		}
		_, _ = io.WriteString(part, data)
		w.Close()
		kind = w.FormDataContentType()
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, raw)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+discord.Token)
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		b.t.Errorf("%s %s has the content type %q", method, path, got)
	}
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		b.t.Fatal(resp.Status, err)
	}
	return resp.StatusCode, answer
}

// want fails unless an answer is an error that says a word; empty wants none.
func (b *rawBot) want(name, word string, status int, answer map[string]any) {
	b.t.Helper()
	raw, err := json.Marshal(answer)
	if err != nil {
		b.t.Fatal(err)
	}
	if (word == "") != (status == 200) || word != "" && !strings.Contains(string(raw), word) {
		b.t.Errorf("%s: %d %s, want %q", name, status, raw, word)
	}
}

func v2(components ...string) string {
	return `{"flags":32768,"components":[` + strings.Join(components, ",") + `]}`
}

func box(components ...string) string {
	return `{"type":17,"components":[` + strings.Join(components, ",") + `]}`
}

func row(components ...string) string {
	return `{"type":1,"components":[` + strings.Join(components, ",") + `]}`
}

// section is a section with an accessory.
func section(component, accessory string) string {
	return `{"type":9,"components":[` + component + `],"accessory":` + accessory + `}`
}

func texts(n, length int, of string) []string {
	out := make([]string, n)
	for k := range out {
		out[k] = fmt.Sprintf(`{"type":10,"content":%q}`, strings.Repeat(of, length))
	}
	return out
}

// TestComponents checks which messages made of components are refused,
// and why.
func TestComponents(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	for _, x := range []struct{ name, body, word string }{
		{"text", v2(label), ""},
		{"everything in a container", v2(box(label, row(press), `{"type":14,"spacing":2}`, section(label, open))), ""},
		{"no flag", `{"components":[` + box(label) + `]}`, "UNION_TYPE_CHOICES"},
		{"content", `{"flags":32768,"content":"x","components":[` + label + `]}`, "LEGACY_FIELDS"},
		{"embeds", `{"flags":32768,"embeds":[{"title":"x"}],"components":[` + label + `]}`, "LEGACY_FIELDS"},
		{"poll", `{"flags":32768,"poll":{},"components":[` + label + `]}`, "LEGACY_FIELDS"},
		{"stickers", `{"flags":32768,"sticker_ids":["1"],"components":[` + label + `]}`, "LEGACY_FIELDS"},
		{"nothing", v2(), "50006"},
		{"40 components", v2(box(texts(39, 1, "x")...)), ""},
		{"41 components", v2(box(texts(40, 1, "x")...)), "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"},
		{"4,000 characters", v2(texts(2, 2000, "x")...), ""},
		{"4,001 characters", v2(append(texts(2, 2000, "x"), label)...), "TEXT_LENGTH_EXCEEDED"},
		{"too many bytes", v2(texts(1, 3900, "世")...), "500"},
		{"empty text", v2(`{"type":10,"content":" "}`), "BASE_TYPE_BAD_LENGTH"},
		{"nested container", v2(box(box(label))), "UNION_TYPE_CHOICES"},
		{"empty container", v2(`{"type":17,"components":[]}`), "BASE_TYPE_REQUIRED"},
		{"button outside a row", v2(press), "UNION_TYPE_CHOICES"},
		{"text in a row", v2(row(label)), "UNION_TYPE_CHOICES"},
		{"section without accessory", v2(`{"type":9,"components":[` + label + `]}`), "BASE_TYPE_REQUIRED"},
		{"section of a button", v2(section(press, press)), "UNION_TYPE_CHOICES"},
		{"color", v2(`{"type":17,"accent_color":16777216,"components":[` + label + `]}`), "accent_color"},
		{"spacing", v2(label, `{"type":14,"spacing":3}`), "spacing"},
		{"custom id twice", v2(row(press), box(row(press))), "COMPONENT_CUSTOM_ID_DUPLICATED"},
		{"id twice", v2(`{"type":10,"id":7,"content":"a"}`, `{"type":10,"id":7,"content":"b"}`), "COMPONENT_ID_DUPLICATED"},
		{"file without attachment", v2(fileShown), "ATTACHMENT_NOT_FOUND"},
		{"file elsewhere", v2(strings.ReplaceAll(fileShown, "attachment", "https")), "UNFURLED_MEDIA_ITEM_URL_INVALID"},
		{"gallery", v2(`{"type":12,"items":[]}`), "UNION_TYPE_CHOICES"},
	} {
		status, answer := b.call("POST", "", x.body, "", "")
		b.want(x.name, x.word, status, answer)
	}
}

// TestAttachments checks the outcome of the attachments of a message
// that is edited.
func TestAttachments(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	status, m := b.call("POST", "", v2(box(label, fileShown)), "plan.txt", "first")
	b.want("posted", "", status, m)
	path, _ := m["id"].(string)
	posted := at(path)
	path = "/" + path
	file := func(m map[string]any) map[string]any {
		c := m["components"].([]any)[0].(map[string]any)["components"].([]any)
		return c[len(c)-1].(map[string]any)
	}
	if f := file(m); f["name"] != "plan.txt" || f["size"] != 5.0 || len(m["attachments"].([]any)) > 0 {
		t.Errorf("the answer has %v and attachments %v", f, m["attachments"])
	}
	id := file(m)["file"].(map[string]any)["attachment_id"].(string)
	keep := func(ids string) string {
		return `{"flags":32768,"attachments":[` + ids + `],"components":[` + box(label, fileShown) + `]}`
	}
	status, answer := b.call("PATCH", path, keep(`{"id":"`+id+`"}`), "", "")
	b.want("kept", "", status, answer)
	if said := b.e.Sees("ana", posted); !strings.Contains(said, "first") {
		t.Errorf("the kept file is not shown: %q", said)
	}
	status, answer = b.call("PATCH", path, keep(""), "", "")
	b.want("dropped and shown", "ATTACHMENT_NOT_FOUND", status, answer)
	status, answer = b.call("PATCH", path, keep(`{"id":"12"}`), "", "")
	b.want("unknown", "ATTACHMENT_NOT_FOUND", status, answer)
	status, answer = b.call("PATCH", path, keep(`{"id":"0","filename":"plan.txt"}`), "plan.txt", "second")
	b.want("replaced", "", status, answer)
	if said := b.e.Sees("ana", posted); strings.Contains(said, "first") || !strings.Contains(said, "second") {
		t.Errorf("the replaced file shows as %q", said)
	}
	b.hub.AddFault(core.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	status, answer = b.call("PATCH", path, keep(`{"id":"0","filename":"plan.txt"}`), "plan.txt", "third")
	b.want("no permission", "50013", status, answer)
}

// TestFlags checks which flags an edit changes, and that embeds become
// components only if they are cleared.
func TestFlags(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	_, m := b.call("POST", "", `{"content":"old","embeds":[{"title":"old"}]}`, "", "")
	path := "/" + m["id"].(string)
	for _, x := range []struct{ name, body, word string }{
		{"text stays", v2(label), "LEGACY_FIELDS"},
		{"embeds null", `{"content":null,"embeds":null,"flags":32768,"components":[` + label + `]}`, "LEGACY_FIELDS"},
		{"cleared", `{"content":null,"embeds":[],"flags":32768,"components":[` + label + `]}`, ""},
		{"back", `{"content":"new","flags":0,"components":[]}`, "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG"},
		{"content", `{"content":"new"}`, "LEGACY_FIELDS"},
		{"only components", `{"components":[` + label + `]}`, ""},
	} {
		status, answer := b.call("PATCH", path, x.body, "", "")
		b.want(x.name, x.word, status, answer)
	}
}

// TestHiddenEmbeds checks that embeds disappear without the bot's
// permission, and for a member who switched them off.
func TestHiddenEmbeds(t *testing.T) {
	t.Parallel()
	b := newRawBot(t)
	const body = `{"content":"hello","embeds":[{"title":"secret"}]}`
	sees := func(who, id string) bool {
		return strings.Contains(b.e.Sees(who, at(id)), "secret")
	}
	_, m := b.call("POST", "", body, "", "")
	if _, err := b.e.Act(t.Context(), core.Action{As: "bo", Do: "embeds", Text: "off"}); err != nil {
		t.Fatal(err)
	}
	if id := m["id"].(string); !sees("ana", id) || sees("bo", id) {
		t.Error("the setting of one member does not hide embeds from that member alone")
	}
	b.hub.AddFault(core.Fault{Service: "discord", Kind: "missing_permission", Method: "EMBED_LINKS"})
	if _, m := b.call("POST", "", body, "", ""); sees("ana", m["id"].(string)) {
		t.Error("an embed shows without Embed Links")
	}
}
