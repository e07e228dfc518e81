package slack

import (
	"context"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// personal are the subtypes of the messages that people write:
// docs.slack.dev/reference/events/message.
var personal = []string{"", "thread_broadcast", "file_share", "me_message"}

// tombstone is the subtype of the placeholder for a deleted message with
// replies.
const tombstone = "tombstone"

// wrote returns the message that a person wrote or edited, and the standing of
// its author. It returns false for any other event. Slack sends these events if
// the app has the required scopes and subscriptions.
func (e event) wrote() (posted, bridge.Standing, bool) {
	m, standing := e.posted, bridge.Standing("")
	if e.Subtype == "message_changed" && e.Message != nil && e.Previous != nil {
		if m, standing = *e.Message, bridge.StandingEdited; m.Text == e.Previous.Text { // Slack added a preview
			return posted{}, "", false
		}
	}
	return m, standing, e.Type == "message" && slices.Contains(personal, m.Subtype) && m.Bot == "" && m.User != ""
}

// author returns the author of the message in an event. It is used to keep the
// messages from a person in order. It is empty for other payloads.
func (e event) author() string {
	m, _, ok := e.wrote()
	if !ok {
		return ""
	}
	return m.User
}

// removed returns the ID of a bot message that someone deleted, or "".
func (e event) removed() string {
	switch {
	case e.Type != "message" || e.Previous == nil || e.Previous.Bot == "":
		return ""
	case e.Subtype == "message_changed" && e.Message != nil && e.Message.Subtype == tombstone:
		return e.Message.TS
	}
	return e.Deleted
}

// seenFor is the time for which nod recognizes a repeated message. Slack
// repeats an event for about five minutes if it gets no acknowledgment.
const seenFor = 15 * time.Minute

// message records a message from a person, or the deletion of a card. It
// returns a function to run after the acknowledgment, or nil.
func (i inbound) message(ctx context.Context, e event) func(context.Context) {
	if gone := e.removed(); gone != "" {
		return i.deleted(bridge.MessageRef{Channel: e.Channel, Message: gone})
	}
	m, standing, ok := e.wrote()
	if !ok {
		return nil
	}
	me := i.known().UserID
	var v bridge.Verdict
	if m.Thread != "" && m.Thread != m.TS && (me == "" || m.Parent == "" || m.Parent == me) {
		v = i.replied(ctx, e.Channel, m, standing)
	}
	toBot := e.Kind == "im" || me != "" && strings.Contains(m.Text, "<@"+me+">")
	if v.Kind == "" && v.Note == "" && standing == "" && toBot && i.seen.First(e.Channel+" "+m.TS, seenFor) {
		v.Note = bridge.NoteToBot
	}
	if v.Note == "" || v.Kind == bridge.VerdictSettled { // the card will show the answer soon
		return nil
	}
	c := bridge.Click{Actor: bridge.Actor{Platform: i.name, User: m.User}, Ref: bridge.MessageRef{Channel: e.Channel, Thread: m.Thread}}
	return func(ctx context.Context) { i.replies.tell(ctx, c, "", v.Note) }
}

// replied handles a message in the thread of a card as an answer to a text
// question.
func (i inbound) replied(ctx context.Context, channel string, m posted, standing bridge.Standing) bridge.Verdict {
	listener, ok := i.sink.(bridge.Listener)
	if !ok {
		return bridge.Verdict{}
	}
	v, err := listener.Reply(ctx, bridge.Said{
		Actor: bridge.Actor{Platform: i.name, User: m.User}, Standing: standing,
		Card: bridge.MessageRef{Channel: channel, Thread: m.Thread}, Message: m.TS, Text: written(m.Text), At: moment(m.TS),
		After: func(card bridge.MessageRef) bool { return moment(m.TS).After(moment(card.Message)) },
	})
	if err != nil {
		i.log.Error("reply not recorded", "platform", i.name, "error", err)
		v.Note = bridge.NotRecorded(err)
	}
	return v
}

// deleted reports the deletion of a message of nod to the sink. It runs after
// the acknowledgment, because no person waits for it.
func (i inbound) deleted(ref bridge.MessageRef) func(context.Context) {
	remover, ok := i.sink.(bridge.Remover)
	if !ok {
		return nil
	}
	return func(ctx context.Context) {
		if err := remover.Deleted(ctx, i.name, ref); err != nil {
			i.log.Warn("deletion of a message not recorded", "platform", i.name, "error", err)
		}
	}
}

// token matches Slack's markup for a link or a mention.
var token = lazyregexp.New(`<([^<>|]*)(?:\|([^<>]*))?>`)

// written returns the text of a message as the person typed it. Slack has its
// own markup for links, mentions and three characters.
func written(text string) string {
	text = token.ReplaceAllStringFunc(text, func(s string) string {
		parts := token.FindStringSubmatch(s)
		address, label := parts[1], parts[2]
		switch {
		case address == "" || strings.ContainsRune("@#!", rune(address[0])):
			return s
		case strings.HasPrefix(address, "mailto:") || strings.HasPrefix(address, "tel:"):
			return label
		}
		return address
	})
	return html.UnescapeString(text)
}

// moment returns the time in the ID of a message.
func moment(ts string) time.Time {
	seconds, fraction, _ := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	micros, _ := strconv.ParseInt(fraction, 10, 64) // a second without a fraction stands for its start
	return time.Unix(s, micros*1000)
}
