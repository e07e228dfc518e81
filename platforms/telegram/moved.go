package telegram

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	movedFor  = 5 * 365 * 24 * time.Hour // how long a move is remembered
	copiedFor = 30 * 24 * time.Hour      // how long a copy is remembered after its request is closed
	// supergroups is the prefix of the IDs of supergroups, which cannot move.
	supergroups = "-100"
)

// movedError is the cause of an error for a basic group that became the
// supergroup with this ID.
type movedError struct{ to string }

// Error implements error.
func (e movedError) Error() string { return "the group became the supergroup " + e.to }

// chats remembers which basic groups became supergroups, and the copies of
// cards there. A basic group gets another ID when it becomes a supergroup, but
// the config and the records of cards still contain the old ID.
type chats struct {
	platform string
	notes    platforms.Notes
	log      *slog.Logger
}

func (c *chats) movedKey(from string) string { return "moved:" + c.platform + ":" + from }
func (c *chats) wasKey(to string) string     { return "was:" + c.platform + ":" + to }

// copyKey is the key of the note with the message that shows a card of a basic
// group in the supergroup.
func (c *chats) copyKey(card bridge.MessageRef) string {
	return "copy:" + c.platform + ":" + card.Channel + ":" + card.Message
}

// originalKey is the key of the note with the card that a message copies.
func (c *chats) originalKey(copied bridge.MessageRef) string {
	return "original:" + c.platform + ":" + copied.Channel + ":" + copied.Message
}

// current returns the current ID of a chat. For a former basic group, it is the
// ID of the supergroup.
func (c *chats) current(ctx context.Context, chat string) string {
	if !strings.HasPrefix(chat, "-") || strings.HasPrefix(chat, supergroups) {
		return chat
	}
	return c.noted(ctx, c.movedKey(chat), chat)
}

// known returns the IDs that the config may contain for a chat: its own ID, and
// its ID as a basic group.
func (c *chats) known(ctx context.Context, chat string) []string {
	if was := c.noted(ctx, c.wasKey(chat), chat); was != chat {
		return []string{chat, was}
	}
	return []string{chat}
}

// noted returns the value of a note, or other if there is none.
func (c *chats) noted(ctx context.Context, key, other string) string {
	if c.notes == nil {
		return other
	}
	v, err := c.notes.Note(ctx, key)
	if err != nil {
		c.log.Warn("moved group not looked up", "error", err)
	}
	if v == "" {
		return other
	}
	return v
}

// learn remembers that a basic group became a supergroup.
func (c *chats) learn(ctx context.Context, from string, to int64) error {
	next := strconv.FormatInt(to, 10)
	if c.notes == nil || c.current(ctx, from) == next {
		return nil
	}
	c.log.Warn("group became a supergroup; replace its ID in the config", "old", from, "new", next)
	if _, err := c.notes.PutNote(ctx, c.movedKey(from), next, movedFor); err != nil {
		return err
	}
	_, err := c.notes.PutNote(ctx, c.wasKey(next), from, movedFor)
	return err
}

// copied records that a message shows a card of a basic group, until some time
// after the deadline. It returns the message that shows the card. This is an
// earlier message if the card was already copied.
func (c *chats) copied(ctx context.Context, card, message bridge.MessageRef, deadline time.Time) (bridge.MessageRef, error) {
	ttl := max(0, time.Until(deadline)) + copiedFor
	if _, err := c.notes.PutNote(ctx, c.originalKey(message), card.Channel+":"+card.Message, ttl); err != nil {
		return message, err
	}
	first, err := c.notes.PutNote(ctx, c.copyKey(card), message.Message, ttl)
	return bridge.MessageRef{Channel: message.Channel, Message: first}, err
}

// shown returns the message that shows a card. If the card has a copy, this is
// the copy.
func (c *chats) shown(ctx context.Context, card bridge.MessageRef) bridge.MessageRef {
	chat := c.current(ctx, card.Channel)
	if chat == card.Channel {
		return card
	}
	if id := c.noted(ctx, c.copyKey(card), ""); id != "" {
		return bridge.MessageRef{Channel: chat, Message: id}
	}
	return card
}

// recorded returns the card that a message shows, in the form of its record.
func (c *chats) recorded(ctx context.Context, message bridge.MessageRef) bridge.MessageRef {
	if !strings.HasPrefix(message.Channel, supergroups) {
		return message
	}
	chat, id, copied := strings.Cut(c.noted(ctx, c.originalKey(message), ""), ":")
	if !copied {
		return message
	}
	return bridge.MessageRef{Channel: chat, Message: id}
}
