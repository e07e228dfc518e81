package telegram

import (
	"context"
	"encoding/json"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// sent is the part of a message that nod reads.
type sent struct {
	ID int64 `json:"message_id"`
	// Private is the ID of a message that only one person sees. Such a message
	// has no other ID.
	Private int64 `json:"ephemeral_message_id"`
	Thread  int64 `json:"message_thread_id"`
	// InTopic is true if Thread is a topic. Every reply in a supergroup has a
	// thread, and Telegram refuses messages to a thread that is not a topic.
	InTopic bool `json:"is_topic_message"`
	Chat    struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	Text string `json:"text"`
	Sent int64  `json:"date"` // Unix time
	By   *user  `json:"from"`

	ReplyTo *struct {
		ID int64 `json:"message_id"`
	} `json:"reply_to_message"`
	Document *struct {
		Size int64 `json:"file_size"`
	} `json:"document"`
	Markup struct {
		Rows [][]struct {
			Text string `json:"text"`
		} `json:"inline_keyboard"`
	} `json:"reply_markup"`

	short bool // the message lacks a part of the text that nod sent
}

// buttons returns the labels of the buttons below a message.
func (s sent) buttons() []string {
	var out []string
	for _, row := range s.Markup.Rows {
		for _, b := range row {
			out = append(out, b.Text)
		}
	}
	return out
}

// privateMark is the start of the reference to a message that only one person
// sees.
const privateMark = "e"

// ref returns the reference that nod stores for a message.
func (s sent) ref() bridge.MessageRef {
	r := bridge.MessageRef{Channel: strconv.FormatInt(s.Chat.ID, 10), Message: strconv.FormatInt(s.ID, 10)}
	if s.Private != 0 {
		r.Message = privateMark + strconv.FormatInt(s.Private, 10)
	}
	if s.InTopic {
		r.Thread = strconv.FormatInt(s.Thread, 10)
	}
	return r
}

// answering returns the parameters of a message that replies to another one, in
// the same topic.
func answering(ref bridge.MessageRef) tgbotapi.Params {
	params := tgbotapi.Params{"chat_id": ref.Channel, "reply_parameters": replyTo(ref.Message)}
	if ref.Thread != "" {
		params["message_thread_id"] = ref.Thread
	}
	return params
}

func replyTo(message string) string {
	return `{"message_id":` + message + `,"allow_sending_without_reply":true}`
}

// body returns the parameters that are common to sending and editing a message.
func body(m telegrammsg.Message) (tgbotapi.Params, error) {
	params := tgbotapi.Params{"text": m.Text, "link_preview_options": `{"is_disabled":true}`}
	if len(m.Entities) > 0 {
		raw, err := json.Marshal(m.Entities)
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "entities")
		}
		params["entities"] = string(raw)
	}
	if len(m.Keyboard) > 0 {
		raw, err := json.Marshal(struct {
			Rows [][]telegrammsg.Button `json:"inline_keyboard"`
		}{m.Keyboard})
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "keyboard")
		}
		params["reply_markup"] = string(raw)
	}
	return params, nil
}

// send sends a message with parameters that body does not set, such as its
// chat.
func (c *client) send(ctx context.Context, params tgbotapi.Params, m telegrammsg.Message) (sent, error) {
	return c.show(ctx, "sendMessage", params, m)
}

// edit changes a message and returns the new message. The result has no ID if
// nothing changed.
func (c *client) edit(ctx context.Context, ref bridge.MessageRef, m telegrammsg.Message) (sent, error) {
	return c.show(ctx, "editMessageText", tgbotapi.Params{"chat_id": ref.Channel, "message_id": ref.Message}, m)
}
