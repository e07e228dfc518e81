package telegram_test

import (
	"fmt"
	"strings"
	"testing"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// TestDetection checks what Telegram makes of plain text, as TDLib's
// getTextEntities returns it.
func TestDetection(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	for text, want := range map[string]string{
		"hi @ana_tg, @x":                 "mention 3+7",
		"mail a@ana_tg or @\u200dana_tg": "",
		"é@ana_tg @ana_tgé":              "",
		"\U0001F600 /nod@some_bot now":   "bot_command 3+13",
		"a/b </c> /d/":                   "",
		"https://x.example and go.dev/x": "url 0+17 url 22+8",
		"git@github.com:nod":             "email 0+14",
		"name@example.com.":              "email 0+16",
		"(https://x.example/a_(b)).":     "url 1+23",
		"https://x.example/a?b=c;":       "url 0+23",
	} {
		m := d.send(message(text, nil))
		var got []string
		for _, e := range m.Entities {
			got = append(got, fmt.Sprintf("%s %d+%d", e.Type, e.Offset, e.Length))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	preview := func(c tgbotapi.MessageConfig) any {
		m := at(d.send(c))
		return d.e.Message(m.Channel, m.Message)["preview"]
	}
	c := message("see https://x.example", nil)
	if got := preview(c); got != "https://x.example" {
		t.Errorf("preview %v", got)
	}
	c.DisableWebPagePreview = true
	if got := preview(c); got != nil {
		t.Errorf("preview %v", got)
	}
}

// TestPrivacy checks which commands a bot receives in a group.
func TestPrivacy(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	say := func(text string) { d.Act(core.Action{As: "ana", Do: "send", Channel: group, Text: text}) }
	for _, text := range []string{"/nod@other_bot 1", "/nod@NOD_sandbox_bot 2", "say /nod 3", "/nod 4"} {
		say(text)
	}
	d.Fault(core.Fault{Kind: "privacy_off"})
	say("/nod@other_bot 5")
	got, err := d.bot.GetUpdates(tgbotapi.UpdateConfig{})
	var texts []string
	for _, u := range got {
		texts = append(texts, u.Message.Text)
	}
	want := "/nod@NOD_sandbox_bot 2, /nod 4, /nod@other_bot 5"
	if err != nil || strings.Join(texts, ", ") != want || d.bot.Self.UserName != telegram.Username {
		t.Errorf("the bot got %q, %v", texts, err)
	}
}

// TestInlineKeyboardsOnly checks that the answer to a message has no markup but
// an inline keyboard.
func TestInlineKeyboardsOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	yes := tgbotapi.NewInlineKeyboardRow(tgbotapi.NewInlineKeyboardButtonData("Yes", "y"))
	for _, c := range []struct {
		markup any
		shown  bool
	}{{tgbotapi.ForceReply{ForceReply: true}, false}, {tgbotapi.NewInlineKeyboardMarkup(yes), true}} {
		m, err := d.bot.Send(message("Answer?", c.markup))
		if err != nil || (m.ReplyMarkup != nil) != c.shown {
			t.Errorf("%T: got %+v, %v; want it shown: %t", c.markup, m.ReplyMarkup, err, c.shown)
		}
	}
}

// TestControlCharacters checks that a text has no tabs once it is sent.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	if m := d.send(message("all:\n\tgo build\x01", nil)); m.Text != "all:\n go build" {
		t.Errorf("got %q", m.Text)
	}
}
