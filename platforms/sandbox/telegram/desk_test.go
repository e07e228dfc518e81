package telegram_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/platforms/platformtest/desk"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

const (
	ana   = int64(7001)
	group = "-1001000000001"
)

// bench is an emulator with go-telegram-bot-api as the bot.
type bench struct {
	desk.Desk
	e   *telegram.Emulator
	bot *tgbotapi.BotAPI
	// seen is the offset of the next update that clicked takes.
	seen int
}

func newDesk(t *testing.T, limits bool) *bench {
	t.Helper()
	var e *telegram.Emulator
	d := desk.New(t, limits, func(hub *core.Hub) core.Service {
		e = telegram.New(hub, []core.Account{
			{Key: "ana", Name: "Ana Lima", ID: "7001"}, {Key: "bo", Name: "Bo Chen", ID: "7002"},
			{Key: "cy", Name: "Cy Okafor", ID: "7003"},
		})
		return e
	})
	bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(telegram.Token, d.URL+"/telegram/bot%s/%s")
	if err != nil {
		t.Fatal(err)
	}
	return &bench{Desk: d, e: e, bot: bot}
}

// refused fails unless a call ended with an error that says a word.
func (d *bench) refused(code int, word string, err error) {
	d.T.Helper()
	answer, ok := errors.AsType[*tgbotapi.Error](err)
	upload := ok && answer.Code == 0 // go-telegram-bot-api leaves it out
	if !ok || answer.Code != code && !upload || !strings.Contains(answer.Message, word) {
		d.T.Errorf("got %v, want %d %q", err, code, word)
	}
}

func (d *bench) send(c tgbotapi.Chattable) tgbotapi.Message {
	d.T.Helper()
	m, err := d.bot.Send(c)
	if err != nil {
		d.T.Fatal(err)
	}
	return m
}

func (d *bench) fails(c tgbotapi.Chattable) error {
	_, err := d.bot.Request(c)
	return err
}

func (d *bench) state() telegram.State {
	d.Hub.Lock()
	defer d.Hub.Unlock()
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
