package discord

import (
	"fmt"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// messagesAPI has the routes of the messages and threads of a channel.
type messagesAPI struct {
	*guild
	gw *gateway
}

// blank returns a new message of the bot.
func (g *guild) blank(ch *channel) raw.Object {
	m := raw.Object{
		"id": g.snowflake(), "channel_id": ch.ID, "author": botJSON(), "content": "",
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "edited_timestamp": nil, "tts": false,
		"mention_everyone": false, "mentions": []any{}, "mention_roles": []any{}, "attachments": []any{},
		"embeds": []any{}, "components": []any{}, "pinned": false, "type": 0, "flags": 0, "application_id": Application,
	}
	if len(g.Named("old_messages")) > 0 {
		backdate(m, g.lastID)
	}
	return m
}

func (api messagesAPI) create(c *call) (int, any, *failure) {
	ch := c.channel
	nonce := fmt.Sprint(c.args["nonce"])
	if c.args["nonce"] != nil {
		if raw.Runes(nonce) > maxNonce {
			return 0, nil, invalid("nonce", "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxNonce))
		}
		if m := ch.Message(api.nonces[nonce]); m != nil && c.args["enforce_nonce"] == true {
			return 200, raw.Clone(m), nil
		}
	}
	m := api.blank(ch)
	if bad := api.mayPost(ch, c); bad != nil {
		return 0, nil, bad
	}
	if ch.locked {
		return 0, nil, threadLocked
	}
	if bad := api.reply(m, c.args, ch); bad != nil {
		return 0, nil, bad
	}
	if bad := api.apply(ch, m, c.sent(), false); bad != nil {
		return 0, nil, bad
	}
	if c.args["nonce"] != nil {
		api.nonces[nonce] = raw.Str(m, "id")
		m["nonce"] = c.args["nonce"]
	}
	ch.Add(m)
	ch.reopen()
	api.Touch()
	api.gw.dispatch("MESSAGE_CREATE", ch, raw.Object{"guild_id": Guild}, m)
	return 200, raw.Clone(m), nil
}

// locate finds the message in the request. It skips ephemeral messages.
func (api messagesAPI) locate(c *call) (*channel, raw.Object, *failure) {
	m := c.channel.Message(c.PathValue("message"))
	if m == nil {
		return nil, nil, unknownMessage
	}
	return c.channel, m, nil
}

func (api messagesAPI) get(c *call) (int, any, *failure) {
	_, m, bad := api.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	return 200, raw.Clone(m), nil
}

func (api messagesAPI) edit(c *call) (int, any, *failure) {
	ch, m, bad := api.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	if !api.may(ch, "VIEW_CHANNEL") {
		return 0, nil, noAccess
	}
	if raw.Str(raw.Sub(m, "author"), "id") != BotUser {
		return 0, nil, notOwn
	}
	if ch.archived() {
		return 0, nil, threadArchived
	}
	if !api.mayEdit(ch, m) {
		return 0, nil, tooManyEdits
	}
	if bad := api.apply(ch, m, c.sent(), true); bad != nil {
		return 0, nil, bad
	}
	return 200, raw.Clone(m), nil
}

func (api messagesAPI) delete(c *call) (int, any, *failure) {
	ch, m, bad := api.locate(c)
	if bad != nil {
		return 0, nil, bad
	}
	if raw.Str(raw.Sub(m, "author"), "id") != BotUser && ch.Kind != directChannel && !api.may(ch, "MANAGE_MESSAGES") {
		return 0, nil, notAllowed
	}
	ch.Remove(raw.Str(m, "id"))
	api.Touch()
	api.gw.removed(ch, raw.Str(m, "id"))
	return 204, nil, nil
}
