package slack

import (
	"context"
	"html"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// isReply reports whether an event is a message that a person wrote in a
// thread, and not an edit or the message of a bot. Slack sends such events if
// the app has the scopes and subscriptions for them.
func (e event) isReply() bool {
	written := e.Subtype == "" || e.Subtype == "thread_broadcast"
	return e.Type == "message" && written && e.Bot == "" && e.User != "" && e.Thread != "" && e.Thread != e.TS
}

// replied takes a message in the thread of a card as an answer to a text
// question. It returns a function to run after the acknowledgment, or nil.
func (i inbound) replied(ctx context.Context, e event) func(context.Context) {
	listener, ok := i.sink.(bridge.Listener)
	if !ok || e.Parent != i.self(ctx).UserID {
		return nil // a thread that nod did not start
	}
	s := bridge.Said{
		Actor: bridge.Actor{Platform: i.name, User: e.User},
		Card:  bridge.MessageRef{Channel: e.Channel, Thread: e.Thread}, Message: e.TS, Text: written(e.Text), At: moment(e.TS),
		After: func(card bridge.MessageRef) bool { return moment(e.TS).After(moment(card.Message)) },
	}
	v, err := listener.Reply(ctx, s)
	if err != nil {
		i.log.Error("reply not recorded", "platform", i.name, "error", err)
		v.Note = bridge.NoteNotRecorded
	}
	if v.Kind == bridge.VerdictSettled {
		return nil // the card shows the answer in a moment
	}
	return func(ctx context.Context) {
		i.replies.tell(ctx, bridge.Click{Actor: s.Actor, Ref: s.Card}, "", v.Note)
	}
}

// token matches what Slack writes for a link or a mention.
var token = regexp.MustCompile(`<([^<>|]*)(?:\|([^<>]*))?>`)

// written returns the text of a message as the person wrote it: Slack writes
// links, mentions and three characters in its own way.
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
	micros, _ := strconv.ParseInt(fraction, 10, 64) // a second without a fraction is its beginning
	return time.Unix(s, micros*1000)
}
