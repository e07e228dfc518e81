package telegram

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

const (
	movedFor = 5 * 365 * 24 * time.Hour // how long a move is remembered
	// supergroups is the prefix of the IDs of supergroups, which cannot move.
	supergroups = "-100"
)

// movedError is the cause of an error for a basic group that became the
// supergroup with this ID.
type movedError struct{ to string }

// Error implements error.
func (e movedError) Error() string { return "the group became the supergroup " + e.to }

// chats knows which basic groups became supergroups. A basic group that becomes
// one gets another ID, while the config still names the old one.
type chats struct {
	platform string
	notes    Notes
	log      *slog.Logger
}

func (c *chats) movedKey(from string) string { return "moved:" + c.platform + ":" + from }
func (c *chats) wasKey(to string) string     { return "was:" + c.platform + ":" + to }

// current returns the ID of a chat: that of the supergroup if it was a basic
// group.
func (c *chats) current(ctx context.Context, chat string) string {
	if !strings.HasPrefix(chat, "-") || strings.HasPrefix(chat, supergroups) {
		return chat
	}
	return c.noted(ctx, c.movedKey(chat), chat)
}

// known returns the IDs of a chat that the config may name: its own, and the
// one that it had as a basic group.
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
