package discord

import (
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// threadState is the part of a channel that only threads have:
// docs.discord.com/developers/topics/threads.
type threadState struct {
	closed    bool // archived by a member
	locked    bool
	active    time.Time // time of the last message or of the last reopening
	archiveIn time.Duration
}

// defaultArchive is the auto-archive duration of a thread whose creator gives
// none.
const defaultArchive = 24 * time.Hour

// isThread reports whether a channel is a thread, including a thread of a news
// channel.
func (ch *channel) isThread() bool { return ch.Kind == thread || ch.Kind == newsThread }

// archived reports whether a thread is archived: a member closed it, or it had
// no message for its auto-archive duration.
func (ch *channel) archived() bool {
	return ch.isThread() && (ch.closed || time.Since(ch.active) > ch.archiveIn)
}

// reopen unarchives a thread. A new message does the same.
func (ch *channel) reopen() { ch.closed, ch.active = false, time.Now() }

func (ch *channel) threadJSON() raw.Object {
	return raw.Object{
		"archived": ch.archived(), "auto_archive_duration": int(ch.archiveIn.Minutes()), "locked": ch.locked,
		"archive_timestamp": ch.active.UTC().Format(time.RFC3339),
	}
}

// threadShape has the fields that a bot sets when it starts a thread.
var threadShape = shape{
	{"name", text(1, maxThreadName)}, {"auto_archive_duration", optional(oneOf(60, 1440, 4320, 10080))},
}

// createThread starts a thread, which gets the ID of its message.
func (e *Emulator) createThread(c *call) any {
	ch, m := c.channel, c.message
	if !e.may(ch, "CREATE_PUBLIC_THREADS") {
		return notAllowed
	}
	if bad := threadShape.check("", c.args, false); bad != nil {
		return bad
	}
	if m["thread"] != nil { // applies even after the thread was deleted
		return hasThread
	}
	kind := thread
	if ch.Kind == newsChannel {
		kind = newsThread
	}
	t := e.add(raw.Str(m, "id"), raw.Str(c.args, "name"), kind)
	t.Parent, t.active, t.archiveIn = ch.ID, time.Now(), defaultArchive
	if minutes, given := raw.Number(c.args, "auto_archive_duration"); given {
		t.archiveIn = time.Duration(minutes) * time.Minute
	}
	m["thread"] = t.json()
	e.Touch()
	c.status = 201
	return t.json()
}

// modify changes a thread. The bot may only reopen a thread that is not locked.
func (e *Emulator) modify(c *call) any {
	ch := c.channel
	archived, given := c.args["archived"].(bool)
	if !ch.isThread() || !given || archived || len(c.args) != 1 || ch.locked ||
		!e.may(ch, "SEND_MESSAGES_IN_THREADS") {
		return notAllowed // this requires Manage Channels or Manage Threads
	}
	ch.reopen()
	e.Touch()
	return ch.json()
}

// moderate lets a member close, lock or delete a thread, make it look as old as
// its auto-archive duration, or turn a text channel into a news channel.
func (e *Emulator) moderate(a core.Action) error {
	ch := e.channels[a.Channel]
	if ch != nil && ch.Kind == textChannel && a.Text == "news" {
		ch.Kind = newsChannel
		e.Touch()
		return nil
	}
	if ch == nil || !ch.isThread() {
		return e.Errorf("no thread %q", a.Channel)
	}
	switch a.Text {
	case "archive":
		ch.closed = true
	case "lock":
		ch.closed, ch.locked = true, true
	case "delete":
		delete(e.channels, ch.ID)
		delete(e.Chats, ch.ID)
	case "idle":
		ch.active = time.Now().Add(-ch.archiveIn - time.Second)
	default:
		return e.Errorf("a thread takes archive, lock, delete or idle, not %q", a.Text)
	}
	e.Touch()
	return nil
}
