package slack

import (
	"context"
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
func (cl client) command(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	name, text, _ := strings.Cut(a.Text, " ")
	cl.Lock()
	c := cl.Chats[a.Channel]
	trigger, url := cl.trigger(m.ID), cl.newURL(m.ID, a.Channel, "")
	cl.Unlock()
	if c == nil || !strings.HasPrefix(name, "/") {
		return core.Reaction{}, cl.Errorf("no command %q in %q", a.Text, a.Channel)
	}
	body, err := cl.delivery.deliver(ctx, raw.Object{
		"token": "deprecated", "team_id": team, "team_domain": "sandbox", "channel_id": c.ID, "channel_name": c.Name,
		"user_id": m.ID, "user_name": m.Key, "command": name, "text": text, "api_app_id": app,
		"is_enterprise_install": "false", "response_url": url, "trigger_id": trigger,
	})
	if err != nil {
		return core.Reaction{Warning: name + " failed: " + err.Error()}, nil
	}
	var answer raw.Object
	if len(body) > 0 && json.Unmarshal(body, &answer) != nil {
		return core.Reaction{Warning: name + " failed with the error \"invalid_response\""}, nil
	}
	cl.Lock()
	defer cl.Unlock()
	if raw.Str(answer, "text") != "" || len(raw.List(answer, "blocks")) > 0 {
		if bad := cl.respond(responseURL{user: m.ID, channel: c.ID}, answer); bad != nil {
			return core.Reaction{Warning: name + " failed with the error \"" + raw.Str(bad, "error") + "\""}, nil
		}
		cl.Touch()
	}
	return core.Reaction{OK: true}, nil
}

// openHome opens the app's Home tab: the app receives an event and publishes a
// view.
func (cl client) openHome(ctx context.Context, m core.Account) (core.Reaction, error) {
	cl.Lock()
	opened := raw.Object{
		"type": "app_home_opened", "user": m.ID, "channel": cl.direct(m.ID).ID, "tab": "home", "event_ts": cl.stamp(),
	}
	if home := cl.homes[m.ID]; home != nil {
		opened["view"] = home.json(nil)
	}
	cl.Unlock()
	if _, err := cl.delivery.deliver(ctx, event(opened)); err != nil {
		return core.Reaction{Warning: "the Home tab stays as it was: " + err.Error()}, nil
	}
	return core.Reaction{OK: true}, nil
}

// send posts a message of a member to the channel, or to the thread of a
// message. The bot receives it as an event, and as another event if it mentions
// the bot. The value subtype is the subtype of the message. A message with
// subtype file_share needs no text.
func (cl client) send(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	c := cl.Chats[a.Channel]
	subtype := strings.Join(a.Values["subtype"], "")
	if c == nil || strings.TrimSpace(a.Text) == "" && subtype != "file_share" {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("nothing to send to %q", a.Channel)
	}
	root := ""
	if a.Do == "reply" {
		of := c.Message(a.Message)
		if of == nil {
			cl.Unlock()
			return core.Reaction{}, cl.Errorf("no message %q in %s", a.Message, a.Channel)
		}
		if root = raw.Str(of, "thread_ts"); root == "" {
			root = a.Message
		}
	}
	text := escaper.Replace(a.Text)
	text = strings.ReplaceAll(text, "&lt;@"+BotUser+"&gt;", "<@"+BotUser+">")
	msg := raw.Object{
		"type": "message", "user": m.ID, "text": text, "ts": cl.stamp(), "team": team, "client_msg_id": uuid.NewString(),
	}
	if root != "" {
		msg["thread_ts"] = root
	}
	if subtype != "" {
		msg["subtype"] = subtype
	}
	c.Add(msg)
	cl.Touch()
	said := raw.Copy(msg)
	said["channel"], said["event_ts"], said["channel_type"] = c.ID, msg["ts"], channelType(c)
	if first := c.Message(root); first != nil {
		said["parent_user_id"] = raw.Str(first, "user")
		if subtype == "thread_broadcast" {
			said["root"] = raw.Copy(first)
		}
	}
	cl.Unlock()
	cl.hears(ctx, c, said)
	if strings.Contains(text, "<@"+BotUser+">") {
		mention := raw.Copy(said)
		mention["type"] = "app_mention"
		delete(mention, "channel_type")
		cl.tell(ctx, mention)
	}
	return core.Reaction{OK: true}, nil
}

// tell sends the app an event. Members do not notice whether it arrives.
func (cl client) tell(ctx context.Context, content raw.Object) {
	_, _ = cl.delivery.deliver(ctx, event(content))
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

// stop clicks the stop button of an agent's session.
func (cl client) stop(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	s := cl.sessions[a.Channel+" "+a.Message]
	if s == nil || s.Status != "processing" {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("no agent is working in the thread %q of %q", a.Message, a.Channel)
	}
	content := raw.Object{
		"type": "agent_session_stopped", "channel": a.Channel, "thread_ts": a.Message, "user": m.ID,
		"event_ts": cl.stamp(), "streaming_message_ts": []any{},
	}
	cl.Unlock()
	if _, err := cl.delivery.deliver(ctx, event(content)); err != nil {
		return core.Reaction{Warning: "the agent was not stopped: " + err.Error()}, nil
	}
	return core.Reaction{OK: true}, nil
}
