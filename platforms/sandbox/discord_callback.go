package sandbox

import (
	"strconv"
	"time"
)

const discordTokenTTL = 15 * time.Minute

func (w *discordWorld) callback(c *discordCall) (int, any, *discordFailure) {
	i := w.interactions[c.PathValue("token")]
	if i == nil || i.ID != c.PathValue("id") {
		return 0, nil, discordUnknownIA
	}
	if bad := w.respond(i, c.sent()); bad != nil {
		return 0, nil, bad
	}
	if c.URL.Query().Get("with_response") == "true" {
		answer := object{"interaction": object{"id": i.ID, "type": i.Kind, "response_message_id": i.Original}}
		if kind := intOf(c.args["type"]); kind == 4 || kind == 7 {
			answer["resource"] = object{"type": kind, "message": clone(w.channels[i.Channel].shown(i.Original, i.User))}
		}
		return 200, answer, nil
	}
	return 204, nil, nil
}

// respond applies the first response to an interaction.
func (w *discordWorld) respond(i *discordInteraction, in discordSent) *discordFailure {
	if i.done {
		return discordAcknowledged
	}
	if time.Since(i.Created) > w.s.opts.TriggerTTL {
		return discordUnknownIA
	}
	kind, _ := number(in.args, "type")
	data := sub(in.args, "data")
	in.args = data
	ch := w.channels[i.Channel]
	switch int(kind) {
	case 4:
		m, bad := w.create(i, in)
		if bad != nil {
			return bad
		}
		i.Original = str(m, "id")
	case 5, 6:
		i.Original = i.Message
	case 7:
		if i.Message == "" {
			return discordInvalid("type", "BASE_TYPE_CHOICES", "Only components and modals opened from one can update a message.")
		}
		m := ch.shown(i.Message, i.User)
		if m == nil {
			return discordUnknownMessage
		}
		if bad := w.apply(ch, m, in, true); bad != nil {
			return bad
		}
		i.Original = i.Message
	case 9:
		if i.Kind == 5 {
			return discordInvalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 10, 12}.")
		}
		if bad := checkDiscordModal(data); bad != nil {
			return bad
		}
		for id, m := range w.modals { // a client shows one modal
			if m.User == i.User {
				delete(w.modals, id)
			}
		}
		id := "M" + strconv.FormatInt(w.s.next(), 10)
		numberComponents(list(data, "components"))
		w.modals[id] = &discordModal{ID: id, User: i.User, Channel: i.Channel, Data: data, Message: ch.shown(i.Message, i.User)}
		i.Reaction.Modal = id
	default:
		return discordInvalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")
	}
	i.done, i.Reaction.OK = true, true
	close(i.Responded)
	w.s.touch()
	return nil
}

// create posts a message for an interaction, privately if it says so.
func (w *discordWorld) create(i *discordInteraction, in discordSent) (object, *discordFailure) {
	ch := w.channels[i.Channel]
	m := w.blank(ch)
	if in.args == nil {
		in.args = object{}
	}
	if _, ok := in.args["allowed_mentions"]; !ok {
		in.args["allowed_mentions"] = object{"parse": []any{"users"}}
	}
	if bad := w.apply(ch, m, in, false); bad != nil {
		return nil, bad
	}
	if discordFlags(m)&discordEphemeral != 0 {
		ch.Private = append(ch.Private, discordPrivate{i.User, m})
	} else {
		ch.Messages = append(ch.Messages, m)
	}
	return m, nil
}

func (w *discordWorld) live(c *discordCall) (*discordInteraction, *discordFailure) {
	i := w.interactions[c.PathValue("token")]
	if i == nil || c.PathValue("app") != DiscordApplication || time.Since(i.Created) > discordTokenTTL || !i.done {
		return nil, discordBadToken
	}
	return i, nil
}

func (w *discordWorld) followUp(c *discordCall) (int, any, *discordFailure) {
	i, bad := w.live(c)
	if bad != nil {
		return 0, nil, bad
	}
	m, bad := w.create(i, c.sent())
	if bad != nil {
		return 0, nil, bad
	}
	w.s.touch()
	return 200, clone(m), nil
}

func (w *discordWorld) original(c *discordCall) (object, *discordFailure) {
	i, bad := w.live(c)
	if bad != nil {
		return nil, bad
	}
	id := c.PathValue("message")
	if id == "@original" {
		id = i.Original
	}
	if m := w.channels[i.Channel].shown(id, i.User); m != nil {
		return m, nil
	}
	return nil, discordUnknownMessage
}

func (w *discordWorld) getOriginal(c *discordCall) (int, any, *discordFailure) {
	m, bad := w.original(c)
	if bad != nil {
		return 0, nil, bad
	}
	return 200, clone(m), nil
}

func (w *discordWorld) editOriginal(c *discordCall) (int, any, *discordFailure) {
	m, bad := w.original(c)
	if bad != nil {
		return 0, nil, bad
	}
	if bad := w.apply(w.channels[str(m, "channel_id")], m, c.sent(), true); bad != nil {
		return 0, nil, bad
	}
	return 200, clone(m), nil
}

func (w *discordWorld) deleteOriginal(c *discordCall) (int, any, *discordFailure) {
	m, bad := w.original(c)
	if bad != nil {
		return 0, nil, bad
	}
	for _, ch := range w.channels {
		if n := ch.find(str(m, "id")); n >= 0 {
			ch.Messages = append(ch.Messages[:n], ch.Messages[n+1:]...)
		}
		if n := ch.findPrivate(str(m, "id")); n >= 0 {
			ch.Private = append(ch.Private[:n], ch.Private[n+1:]...)
		}
	}
	w.s.touch()
	return 204, nil, nil
}
