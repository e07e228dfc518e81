package telegram_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

const (
	ana   = int64(7001)
	group = "-1001000000001"
)

// desk is an emulator with go-telegram-bot-api as the bot.
type desk struct {
	t   *testing.T
	hub *core.Hub
	e   *telegram.Emulator
	url string
	bot *tgbotapi.BotAPI
	// seen is the offset of the next update that clicked takes.
	seen int
}

func newDesk(t *testing.T, limits bool) *desk {
	t.Helper()
	hub := core.NewHub(!limits)
	hub.Clock = core.NewClock()
	e := telegram.New(
		hub,
		[]core.Account{
			{Key: "ana", Name: "Ana Lima", ID: "7001"}, {Key: "bo", Name: "Bo Chen", ID: "7002"},
			{Key: "cy", Name: "Cy Okafor", ID: "7003"},
		},
	)
	server := httptest.NewServer(e)
	t.Cleanup(func() { hub.Close(); server.CloseClientConnections(); server.Close() })
	bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(telegram.Token, server.URL+"/telegram/bot%s/%s")
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t: t, hub: hub, e: e, url: server.URL, bot: bot}
}

// refused fails unless a call ended with an error that says a word.
func (d *desk) refused(code int, word string, err error) {
	d.t.Helper()
	answer, ok := errors.AsType[*tgbotapi.Error](err)
	upload := ok && answer.Code == 0 // go-telegram-bot-api leaves it out
	if !ok || answer.Code != code && !upload || !strings.Contains(answer.Message, word) {
		d.t.Errorf("got %v, want %d %q", err, code, word)
	}
}

func (d *desk) fault(f core.Fault) {
	f.Service = telegram.Name
	d.hub.AddFault(f)
}

func (d *desk) send(c tgbotapi.Chattable) tgbotapi.Message {
	d.t.Helper()
	m, err := d.bot.Send(c)
	if err != nil {
		d.t.Fatal(err)
	}
	return m
}

func (d *desk) fails(c tgbotapi.Chattable) error {
	_, err := d.bot.Request(c)
	return err
}

func (d *desk) act(a core.Action) core.Reaction {
	d.t.Helper()
	r, err := d.e.Act(d.t.Context(), a)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *desk) state() telegram.State {
	d.hub.Lock()
	defer d.hub.Unlock()
	return d.e.State()
}

func at(m tgbotapi.Message) core.Place {
	return core.Place{Service: telegram.Name, Channel: fmt.Sprint(m.Chat.ID), Message: fmt.Sprint(m.MessageID)}
}

func keyboard(data ...string) tgbotapi.InlineKeyboardMarkup {
	var row []tgbotapi.InlineKeyboardButton
	for _, d := range data {
		row = append(row, tgbotapi.NewInlineKeyboardButtonData("Button "+d, d))
	}
	return tgbotapi.NewInlineKeyboardMarkup(row)
}

func message(text string, markup any) tgbotapi.MessageConfig {
	m := tgbotapi.NewMessage(telegram.Chat, text)
	m.ReplyMarkup = markup
	return m
}
