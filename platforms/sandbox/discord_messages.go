package sandbox

import (
	"fmt"
	"time"
)

func (ch *discordChannel) find(id string) int {
	for n, m := range ch.Messages {
		if str(m, "id") == id {
			return n
		}
	}
	return -1
}

func (ch *discordChannel) findPrivate(id string) int {
	for n, p := range ch.Private {
		if str(p.Message, "id") == id {
			return n
		}
	}
	return -1
}

func (w *discordWorld) blank(ch *discordChannel) object {
	return object{
		"id": w.snowflake(), "channel_id": ch.ID, "author": discordBot(), "content": "", "timestamp": time.Now().UTC().Format(time.RFC3339Nano),
		"edited_timestamp": nil, "tts": false, "mention_everyone": false, "mentions": []any{}, "mention_roles": []any{}, "attachments": []any{},
		"embeds": []any{}, "components": []any{}, "pinned": false, "type": 0, "flags": 0, "application_id": DiscordApplication,
	}
}

func (w *discordWorld) createMessage(c *discordCall) (int, any, *discordFailure) {
	ch := w.channels[c.PathValue("channel")]
	if ch == nil {
		return 0, nil, discordUnknownChannel
	}
	nonce := fmt.Sprint(c.args["nonce"])
	if c.args["nonce"] != nil {
		if runes(nonce) > 25 {
			return 0, nil, discordInvalid("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
		}
		if id := w.nonces[nonce]; id != "" && c.args["enforce_nonce"] == true {
			if n := ch.find(id); n >= 0 {
				return 200, clone(ch.Messages[n]), nil
			}
		}
	}
	m := w.blank(ch)
	if bad := w.mayPost(ch, c); bad != nil {
		return 0, nil, bad
	}
	if bad := w.apply(ch, m, c.sent(), false); bad != nil {
		return 0, nil, bad
	}
	if c.args["nonce"] != nil {
		w.nonces[nonce] = str(m, "id")
		m["nonce"] = c.args["nonce"]
	}
	ch.Messages = append(ch.Messages, m)
	w.s.touch()
	w.dispatch("MESSAGE_CREATE", object{"guild_id": DiscordGuild}, m)
	return 200, clone(m), nil
}

func (w *discordWorld) getMessages(c *discordCall) (int, any, *discordFailure) {
	ch := w.channels[c.PathValue("channel")]
	if ch == nil {
		return 0, nil, discordUnknownChannel
	}
	out := []any{}
	if !w.may(ch, "READ_MESSAGE_HISTORY") {
		return 200, out, nil
	}
	for n := len(ch.Messages) - 1; n >= 0 && len(out) < 50; n-- {
		out = append(out, clone(ch.Messages[n]))
	}
	return 200, out, nil
}

func (w *discordWorld) locate(c *discordCall) (*discordChannel, int, *discordFailure) {
	ch := w.channels[c.PathValue("channel")]
	if ch == nil {
		return nil, 0, discordUnknownChannel
	}
	n := ch.find(c.PathValue("message"))
	if n < 0 {
		return nil, 0, discordUnknownMessage // also for ephemeral ones
	}
	return ch, n, nil
}

func (w *discordWorld) getMessage(c *discordCall) (int, any, *discordFailure) {
	ch, n, bad := w.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	return 200, clone(ch.Messages[n]), nil
}

func (w *discordWorld) editMessage(c *discordCall) (int, any, *discordFailure) {
	ch, n, bad := w.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	if !w.may(ch, "VIEW_CHANNEL") {
		return 0, nil, discordNoAccess
	}
	if bad := w.apply(ch, ch.Messages[n], c.sent(), true); bad != nil {
		return 0, nil, bad
	}
	return 200, clone(ch.Messages[n]), nil
}

func (w *discordWorld) deleteMessage(c *discordCall) (int, any, *discordFailure) {
	ch, n, bad := w.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	ch.Messages = append(ch.Messages[:n], ch.Messages[n+1:]...)
	w.s.touch()
	return 204, nil, nil
}

func (w *discordWorld) createThread(c *discordCall) (int, any, *discordFailure) {
	ch, n, bad := w.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	if !w.may(ch, "CREATE_PUBLIC_THREADS") {
		return 0, nil, discordNotAllowed
	}
	name := str(c.args, "name")
	if l := runes(name); l < 1 || l > 100 {
		return 0, nil, discordInvalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	id := str(ch.Messages[n], "id") // the thread has the id of its message
	if w.channels[id] != nil {
		return 0, nil, &discordFailure{400, 160004, "A thread has already been created for this message", nil}
	}
	w.channels[id] = &discordChannel{ID: id, Name: name, Kind: 11, Parent: ch.ID}
	ch.Messages[n]["thread"] = w.channels[id].json()
	w.s.touch()
	return 201, w.channels[id].json(), nil
}
