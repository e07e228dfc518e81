package telegram

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync/atomic"
	"unicode"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// lacking is the set of features that a server lacks. A daemon tries each
// feature once.
type lacking struct{ features atomic.Uint32 }

func (l *lacking) get() telegrammsg.Features { return telegrammsg.Features(l.features.Load()) }

func (l *lacking) add(f telegrammsg.Features) { l.features.Or(uint32(f)) }

// show makes a call that shows a message, with parameters that body does not
// set, such as its chat. If the server refuses a feature, show repeats the call
// without it.
func (c *client) show(ctx context.Context, method string, params tgbotapi.Params, m telegrammsg.Message) (sent, error) {
	for {
		shown := m.Without(c.lacks.get())
		content, err := body(shown)
		if err != nil {
			return sent{}, err
		}
		maps.Copy(content, params)
		var out sent
		err = c.call(ctx, method, content, &out)
		if f, refused := telegrammsg.Refused(err, shown.Uses()); refused {
			c.lacks.add(f.Features)
			c.log.Warn("server lacks a feature; nod does without it", "feature", f.Name, "since", "Bot API "+f.Since)
			continue
		}
		out.short = out.ID != 0 && squeeze(out.Text) != squeeze(shown.Text)
		return out, err
	}
}

// squeeze returns a text without the characters that Telegram may trim or drop.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn) {
			return -1
		}
		return r
	}, s)
}

// whisper shows a message only to the person who clicked. An older server
// ignores the parameter for this, but refuses the disabled button that the
// message must have. Therefore, whisper never repeats the call without the
// button, and deletes a message that is not ephemeral.
func (c *client) whisper(ctx context.Context, cb callback, m telegrammsg.Message) error {
	unable := bridge.Errorf(bridge.CodeUnsupported, "telegram: the server has no ephemeral messages")
	if m.Uses()&telegrammsg.DisabledButtons == 0 || m.Without(c.lacks.get()).Uses() != m.Uses() {
		return unable
	}
	params, err := body(m)
	if err != nil {
		return err
	}
	to, err := json.Marshal(map[string]any{"receiver_user_id": cb.From.ID, "callback_query_id": cb.ID})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "recipient")
	}
	params["chat_id"], params["ephemeral_message_parameters"] = cb.Message.ref().Channel, string(to)
	if thread := cb.Message.ref().Thread; thread != "" {
		params["message_thread_id"] = thread
	}
	var out struct {
		sent
		Ephemeral int64 `json:"ephemeral_message_id"`
	}
	err = c.call(ctx, "sendMessage", params, &out)
	if f, refused := telegrammsg.Refused(err, m.Uses()); refused {
		c.lacks.add(f.Features)
	}
	if err == nil && out.Ephemeral == 0 {
		c.remove(ctx, out.ref())
		err = unable
	}
	return err
}

// nowhere is an ID that no chat has. The server reads a message before it looks
// for the chat: do_send_message in github.com/tdlib/telegram-bot-api.
const nowhere = "0"

// try reports whether the server understands a feature. No one sees the attempt.
func (c *client) try(ctx context.Context, f telegrammsg.Feature) (bool, error) {
	content, err := body(f.Trial())
	if err != nil {
		return false, err
	}
	content["chat_id"] = nowhere
	err = c.call(ctx, "sendMessage", content, nil)
	if _, refused := telegrammsg.Refused(err, f.Features); refused {
		return false, nil
	}
	if platforms.Is(err, platforms.AboutChannel) {
		return true, nil // the chat does not exist
	}
	return true, err
}

// diagnoseServer names the features that the server lacks.
func (d *doctor) diagnoseServer(ctx context.Context, r *platforms.Report) {
	var missing []string
	for _, f := range telegrammsg.AllFeatures() {
		known, err := d.client.try(ctx, f)
		if err != nil {
			r.Fail("server", err, "")
			return
		}
		if !known {
			missing = append(missing, f.Name+" (Bot API "+f.Since+")")
		}
	}
	if len(missing) == 0 {
		r.Add("server", bridge.FindingOK, "it has every feature that nod uses", "")
		return
	}
	r.Add("server", bridge.FindingWarning, "it is too old for some features; nod works, but without "+strings.Join(missing, ", "),
		"update the Bot API server that api_url names")
}
