package telegram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// TestMarkdown checks what parse_mode MarkdownV2 becomes, and what it refuses.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	for source, want := range map[string]string{
		"*a _b_* __c__ ~d~ ||e||":              "a b c d e: bold 0+3, italic 2+1, underline 4+1, strikethrough 6+1, spoiler 8+1",
		"a\\.b \\\\ `x\\`y` ok":                "a.b \\ x`y ok: code 6+3",
		"```sh\nls *\n```":                     "ls *: pre 0+4",
		"[x\\.y](https://x.example/\\)) z":     "x.y z: text_link 0+3",
		"[ana](tg://user?id=7001)":             "ana: text_mention 0+3",
		"a\n>b\n>c\nd":                         "a\nb\nc\nd: blockquote 2+3",
		">b\n>c||":                             "b\nc: expandable_blockquote 0+3",
		"😀 *x*":                                "😀 x: bold 3+1",
		"![👍](tg://emoji?id=5368324170671202)": "👍: custom_emoji 0+2",
	} {
		m := d.done("sendMessage", to(telegram.Chat, raw.Object{"text": source, "parse_mode": "markdownV2"}), nil)
		var got []string
		for _, e := range raw.Objects(m, "entities") {
			got = append(got, fmt.Sprintf("%s %d+%d", e["type"], raw.Int(e["offset"]), raw.Int(e["length"])))
		}
		if shown := raw.Str(m, "text") + ": " + strings.Join(got, ", "); shown != want {
			t.Errorf("%q became %q, want %q", source, shown, want)
		}
	}
	for source, word := range map[string]string{
		"a.":                    "'.' is reserved",
		"a]":                    "']' is reserved",
		"*a":                    "Can't find end of the entity",
		"`a":                    "Can't find end of the entity",
		"[a](https://x":         "Can't find end of a URL",
		"![a](tg://emoji?id=x)": "Invalid custom emoji",
	} {
		d.says(source, word, "sendMessage", to(telegram.Chat, raw.Object{"text": source, "parse_mode": "MarkdownV2"}))
	}
}
