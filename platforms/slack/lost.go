package slack

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
)

// marked is the type of the metadata by which nod recognizes its messages.
// Every app and member of the workspace can read it.
const marked = "nod_message"

// mark identifies the message of a request in its metadata, because Slack has
// no idempotency key for posts.
type mark string

// markOf returns the mark of a card.
func markOf(v bridge.View) mark {
	return mark(fmt.Sprintf("%s %d", v.Record.Interaction.ID, v.Destination))
}

func (m mark) option() slack.MsgOption {
	return slack.MsgOptionMetadata(slack.SlackMetadata{EventType: marked, EventPayload: map[string]any{"id": m}})
}

// lost finds messages that Slack posted although nod did not get the response.
// It covers messages of this process, because the outbox repeats a failed post
// within minutes.
type lost struct {
	*workspace

	mu    sync.Mutex
	posts map[mark]period // posts without a response
}

// period is the time between the first and the last failure of a post.
type period struct{ from, to time.Time }

const (
	lostFor    = time.Hour       // time after which a post that was not repeated is forgotten
	lostMargin = 2 * time.Minute // allowance for the duration of the post and the difference of the clocks
	lostWithin = 200             // number of messages to search; Slack advises at most 200
	findTime   = 3 * time.Second // time limit of a search
)

// failed records that a post has failed, if Slack may have accepted it.
func (l *lost) failed(m mark, err error) {
	if !mayBePosted(err) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(l.posts, func(_ mark, p period) bool { return now.Sub(p.to) > lostFor })
	p, known := l.posts[m]
	if !known {
		p.from = now
	}
	p.to = now
	l.posts[m] = p
}

// posted records that a post got a response.
func (l *lost) posted(m mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.posts, m)
}

// find returns the message that a failed post has left. It returns false if
// there is no such message, or if the app may not read the channel, which
// requires the scope channels:history, groups:history or im:history.
func (l *lost) find(ctx context.Context, d bridge.Destination, m mark) (bridge.MessageRef, bool) {
	l.mu.Lock()
	p, failed := l.posts[m]
	l.mu.Unlock()
	if !failed {
		return bridge.MessageRef{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	ref, err := l.search(ctx, d, m, p.from.Add(-lostMargin))
	if err != nil {
		l.log.Warn("cannot find out whether an unconfirmed message exists; posting it again", "platform", l.name, "channel", d.Channel, "error", err)
	}
	return ref, ref.Message != ""
}

// search looks for a message with a mark. The history of a channel also
// contains the replies in its threads, because nod shows them in the channel.
// It returns the zero reference if there is no such message.
func (l *lost) search(ctx context.Context, d bridge.Destination, m mark, since time.Time) (bridge.MessageRef, error) {
	channel := d.Channel
	if isPerson(d.Channel) {
		im, _, _, err := l.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{d.Channel}})
		if err != nil {
			return bridge.MessageRef{}, err
		}
		channel = im.ID
	}
	history, err := l.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
		ChannelID: channel, Oldest: fmt.Sprintf("%d.000000", since.Unix()), Limit: lostWithin, IncludeAllMetadata: true,
	})
	if err != nil {
		return bridge.MessageRef{}, err
	}
	for _, found := range history.Messages {
		if data := found.Metadata; data.EventType == marked && data.EventPayload["id"] == string(m) {
			return bridge.MessageRef{Channel: channel, Message: found.Timestamp, Thread: found.ThreadTimestamp}, nil
		}
	}
	return bridge.MessageRef{}, nil
}
