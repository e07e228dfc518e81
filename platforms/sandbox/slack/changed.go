package slack

import (
	"context"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// change returns the event for a message that was edited or deleted:
// docs.slack.dev/reference/events/message. The caller holds the lock.
func (w *workspace) change(c *core.Chat, before, after raw.Object) raw.Object {
	ts := w.stamp()
	out := raw.Object{
		"type": "message", "channel": c.ID, "channel_type": channelType(c), "ts": ts, "event_ts": ts, "hidden": true,
		"previous_message": w.thread(c, before),
	}
	if after == nil {
		out["subtype"], out["deleted_ts"] = "message_deleted", before["ts"]
		return out
	}
	out["subtype"], out["message"] = "message_changed", w.thread(c, after)
	return out
}

// thread returns a copy of a message with the author of its thread.
func (w *workspace) thread(c *core.Chat, m raw.Object) raw.Object {
	out := raw.Copy(m)
	if first := c.Message(raw.Str(m, "thread_ts")); first != nil {
		out["parent_user_id"] = raw.Str(first, "user")
	}
	return out
}

// remove deletes a message in the way of a workspace administrator. The app
// learns of it if it may read the conversation.
func (cl client) remove(ctx context.Context, a core.Action) (core.Reaction, error) {
	cl.Lock()
	c := cl.Chats[a.Channel]
	if c == nil || c.Find(a.Message) < 0 {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("no message %q in %q", a.Message, a.Channel)
	}
	before := raw.Copy(c.Message(a.Message))
	cl.workspace.remove(c, a.Message)
	content := cl.change(c, before, c.Message(a.Message))
	cl.Unlock()
	cl.hears(ctx, c, content)
	return core.Reaction{OK: true}, nil
}

// edit changes the text of a message by the member.
func (cl client) edit(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	c := cl.Chats[a.Channel]
	if c == nil || c.Message(a.Message) == nil || raw.Str(c.Message(a.Message), "user") != m.ID || strings.TrimSpace(a.Text) == "" {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("no message %q of %s in %q to edit", a.Message, m.Key, a.Channel)
	}
	before := raw.Copy(c.Message(a.Message))
	after := c.Message(a.Message)
	after["text"], after["edited"] = escaper.Replace(a.Text), raw.Object{"user": m.ID, "ts": cl.stamp()}
	cl.Touch()
	content := cl.change(c, before, after)
	cl.Unlock()
	cl.hears(ctx, c, content)
	return core.Reaction{OK: true}, nil
}

// hears tells the app about a message in a conversation that it may read.
func (cl client) hears(ctx context.Context, c *core.Chat, content raw.Object) {
	if cl.Fault(historyScope[channelType(c)], "missing_scope") == nil {
		cl.tell(ctx, content)
	}
}

// convert makes a public channel private. Its ID stays the same, and a message
// announces the change:
// docs.slack.dev/reference/events/message/channel_convert_to_private.
func (cl client) convert(ctx context.Context, m core.Account, a core.Action) (core.Reaction, error) {
	cl.Lock()
	c := cl.Chats[a.Channel]
	if c == nil || c.User != "" || c.Closed {
		cl.Unlock()
		return core.Reaction{}, cl.Errorf("no public channel %q", a.Channel)
	}
	c.Closed = true
	msg := raw.Object{
		"type": "message", "subtype": "channel_convert_to_private", "user": m.ID, "ts": cl.stamp(), "text": "made this channel *private*.",
	}
	c.Add(msg)
	cl.Touch()
	said := raw.Copy(msg)
	said["channel"], said["event_ts"], said["channel_type"] = c.ID, msg["ts"], channelType(c)
	cl.Unlock()
	cl.hears(ctx, c, said)
	return core.Reaction{OK: true}, nil
}
