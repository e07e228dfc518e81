package slack

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// event returns an event of the Events API.
func event(content raw.Object) raw.Object {
	return raw.Object{
		"type": "event_callback", "token": "deprecated", "team_id": team, "api_app_id": app,
		"event_id": "Ev" + strings.ToUpper(strings.ReplaceAll(uuid.NewString(), "-", "")[:9]), "event_time": time.Now().Unix(),
		"event": content, "authorizations": []any{raw.Object{"team_id": team, "user_id": BotUser, "is_bot": true}},
	}
}

// command sends a slash command. By default, only the member sees the answer.
func (e *Emulator) command(m core.Account, a core.Action) (deed, error) {
	name, text, _ := strings.Cut(a.Text, " ")
	c := e.Chats[a.Channel]
	if c == nil || !strings.HasPrefix(name, "/") {
		return deed{}, e.Errorf("no command %q in %q", a.Text, a.Channel)
	}
	payload := raw.Object{
		"token": "deprecated", "team_id": team, "team_domain": "sandbox", "channel_id": c.ID, "channel_name": c.Name,
		"user_id": m.ID, "user_name": m.Key, "command": name, "text": text, "api_app_id": app,
		"is_enterprise_install": "false", "response_url": e.newURL(m.ID, c.ID), "trigger_id": e.trigger(m.ID),
	}
	return deed{[]raw.Object{payload}, func(body json.RawMessage, err error) core.Reaction {
		var answer raw.Object
		switch {
		case err != nil:
			return core.Reaction{Warning: name + " failed: " + err.Error()}
		case len(body) > 0 && json.Unmarshal(body, &answer) != nil:
			return core.Reaction{Warning: name + " failed with the error \"invalid_response\""}
		}
		if raw.Str(answer, "text") != "" || len(raw.List(answer, "blocks")) > 0 {
			if bad := e.respond(responseURL{user: m.ID, channel: c.ID}, answer); bad != nil {
				return core.Reaction{Warning: name + " failed with the error \"" + raw.Str(bad, "error") + "\""}
			}
			e.Touch()
		}
		return core.Reaction{OK: true}
	}}, nil
}

// tells returns a deed that sends one event. The client shows a warning if the
// app did not accept the event.
func tells(content raw.Object, warning string) deed {
	return deed{[]raw.Object{event(content)}, func(_ json.RawMessage, err error) core.Reaction {
		if err != nil {
			return core.Reaction{Warning: warning + ": " + err.Error()}
		}
		return core.Reaction{OK: true}
	}}
}

// openHome opens the app's Home tab: the app receives an event and publishes a
// view.
func (e *Emulator) openHome(m core.Account, _ core.Action) (deed, error) {
	opened := raw.Object{
		"type": "app_home_opened", "user": m.ID, "channel": e.direct(m.ID).ID, "tab": "home", "event_ts": e.stamp(),
	}
	if home := e.homes[m.ID]; home != nil {
		opened["view"] = home.json(nil)
	}
	return tells(opened, "the Home tab stays as it was"), nil
}

// stop clicks the stop button of an agent's session.
func (e *Emulator) stop(m core.Account, a core.Action) (deed, error) {
	s := e.sessions[a.Channel+" "+a.Message]
	if s == nil || s.Status != "processing" {
		return deed{}, e.Errorf("no agent is working in the thread %q of %q", a.Message, a.Channel)
	}
	return tells(raw.Object{
		"type": "agent_session_stopped", "channel": a.Channel, "thread_ts": a.Message, "user": m.ID,
		"event_ts": e.stamp(), "streaming_message_ts": []any{},
	}, "the agent was not stopped"), nil
}

// send posts a message of a member to the channel, or to the thread of a
// message. The bot receives it as an event, and as another event if it mentions
// the bot. The value "subtype" is the subtype of the message. A message with
// subtype file_share needs no text.
func (e *Emulator) send(m core.Account, a core.Action) (deed, error) {
	c := e.Chats[a.Channel]
	subtype := strings.Join(a.Values["subtype"], "")
	if c == nil || strings.TrimSpace(a.Text) == "" && subtype != "file_share" {
		return deed{}, e.Errorf("nothing to send to %q", a.Channel)
	}
	text := strings.ReplaceAll(escaper.Replace(a.Text), "&lt;@"+BotUser+"&gt;", "<@"+BotUser+">")
	msg := raw.Object{"type": "message", "user": m.ID, "text": text, "ts": e.stamp(), "team": team, "client_msg_id": uuid.NewString()}
	if a.Do == "reply" {
		of := c.Message(a.Message)
		if of == nil {
			return deed{}, e.Errorf("no message %q in %s", a.Message, a.Channel)
		}
		if msg["thread_ts"] = of["thread_ts"]; of["thread_ts"] == nil {
			msg["thread_ts"] = a.Message
		}
	}
	if subtype != "" {
		msg["subtype"] = subtype
	}
	c.Add(msg)
	e.Touch()
	said := e.said(c, msg)
	if subtype == "thread_broadcast" {
		if first := c.Message(raw.Str(msg, "thread_ts")); first != nil {
			said["root"] = raw.Copy(first)
		}
	}
	sends := []raw.Object{event(said)}
	if strings.Contains(text, "<@"+BotUser+">") {
		mention := raw.Copy(said)
		mention["type"] = "app_mention"
		delete(mention, "channel_type")
		sends = append(sends, event(mention))
	}
	return deed{sends: sends}, nil
}

// said returns the content of the event about a new message.
func (e *Emulator) said(c *core.Chat, m raw.Object) raw.Object {
	out := e.inThread(c, m)
	out["channel"], out["event_ts"], out["channel_type"] = c.ID, m["ts"], channelType(c)
	return out
}

// inThread returns a copy of a message with the author of its thread.
func (e *Emulator) inThread(c *core.Chat, m raw.Object) raw.Object {
	out := raw.Copy(m)
	if first := c.Message(raw.Str(m, "thread_ts")); first != nil {
		out["parent_user_id"] = raw.Str(first, "user")
	}
	return out
}

// change returns the event for a message that was edited or deleted:
// docs.slack.dev/reference/events/message.
func (e *Emulator) change(c *core.Chat, before, after raw.Object) deed {
	ts := e.stamp()
	out := raw.Object{
		"type": "message", "channel": c.ID, "channel_type": channelType(c), "ts": ts, "event_ts": ts, "hidden": true,
		"previous_message": e.inThread(c, before),
	}
	if after == nil {
		out["subtype"], out["deleted_ts"] = "message_deleted", before["ts"]
	} else {
		out["subtype"], out["message"] = "message_changed", e.inThread(c, after)
	}
	return deed{sends: []raw.Object{event(out)}}
}

// takeDown deletes a message as a workspace administrator does.
func (e *Emulator) takeDown(_ core.Account, a core.Action) (deed, error) {
	c := e.Chats[a.Channel]
	if c == nil || c.Find(a.Message) < 0 {
		return deed{}, e.Errorf("no message %q in %q", a.Message, a.Channel)
	}
	before := raw.Copy(c.Message(a.Message))
	e.remove(c, a.Message)
	return e.change(c, before, c.Message(a.Message)), nil
}

// edit changes the text of a message by the member.
func (e *Emulator) edit(m core.Account, a core.Action) (deed, error) {
	c := e.Chats[a.Channel]
	if c == nil || raw.Str(c.Message(a.Message), "user") != m.ID || strings.TrimSpace(a.Text) == "" {
		return deed{}, e.Errorf("no message %q of %s in %q to edit", a.Message, m.Key, a.Channel)
	}
	after := c.Message(a.Message)
	before := raw.Copy(after)
	after["text"], after["edited"] = escaper.Replace(a.Text), raw.Object{"user": m.ID, "ts": e.stamp()}
	e.Touch()
	return e.change(c, before, after), nil
}

// convert makes a public channel private. Its ID stays the same, and a message
// announces the change:
// docs.slack.dev/reference/events/message/channel_convert_to_private.
func (e *Emulator) convert(m core.Account, a core.Action) (deed, error) {
	c := e.Chats[a.Channel]
	if c == nil || c.User != "" || c.Closed {
		return deed{}, e.Errorf("no public channel %q", a.Channel)
	}
	c.Closed = true
	msg := raw.Object{
		"type": "message", "subtype": "channel_convert_to_private", "user": m.ID, "ts": e.stamp(), "text": "made this channel *private*.",
	}
	c.Add(msg)
	e.Touch()
	return deed{sends: []raw.Object{event(e.said(c, msg))}}, nil
}

// historyScope maps types of conversations to the scope that the app needs to
// learn of their messages.
var historyScope = map[string]string{"im": "im:history", "channel": "channels:history", "group": "groups:history"}

func channelType(c *core.Chat) string {
	if c.User != "" {
		return "im"
	}
	if c.Closed {
		return "group"
	}
	return "channel"
}

// hidden reports whether the app lacks the scope to learn of an event.
func (e *Emulator) hidden(payload raw.Object) bool {
	scope := historyScope[raw.Str(raw.Sub(payload, "event"), "channel_type")]
	return scope != "" && e.Fault(scope, "missing_scope") != nil
}
