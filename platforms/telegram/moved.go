package telegram

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// A basic group that becomes a supergroup gets another ID. The config still
// names the old one, so the new one is remembered.

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

func movedKey(p *Platform, from string) string { return "moved:" + p.name + ":" + from }
func wasKey(p *Platform, to string) string     { return "was:" + p.name + ":" + to }

// current returns the ID of a chat: that of the supergroup if it was a basic
// group.
func (p *Platform) current(ctx context.Context, chat string) string {
	if !strings.HasPrefix(chat, "-") || strings.HasPrefix(chat, supergroups) {
		return chat
	}
	return p.noted(ctx, movedKey(p, chat), chat)
}

// known returns the IDs of a chat that the config may name: its own, and the
// one that it had as a basic group.
func (p *Platform) known(ctx context.Context, chat string) []string {
	if was := p.noted(ctx, wasKey(p, chat), chat); was != chat {
		return []string{chat, was}
	}
	return []string{chat}
}

// noted returns the value of a note, or other if there is none.
func (p *Platform) noted(ctx context.Context, key, other string) string {
	if p.notes == nil {
		return other
	}
	v, err := p.notes.Note(ctx, key)
	if err != nil {
		p.log.Warn("moved group not looked up", "platform", p.name, "error", err)
	}
	if v == "" {
		return other
	}
	return v
}

// learn remembers that a basic group became a supergroup.
func (p *Platform) learn(ctx context.Context, from string, to int64) error {
	next := strconv.FormatInt(to, 10)
	if p.notes == nil || p.current(ctx, from) == next {
		return nil
	}
	p.log.Warn("group became a supergroup; replace its ID in the config", "platform", p.name, "old", from, "new", next)
	if _, err := p.notes.PutNote(ctx, movedKey(p, from), next, movedFor); err != nil {
		return err
	}
	_, err := p.notes.PutNote(ctx, wasKey(p, next), from, movedFor)
	return err
}
