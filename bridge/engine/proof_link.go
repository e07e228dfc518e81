package engine

import (
	"context"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Linked implements Links. It ignores a link that does not verify. The account
// then has to be linked again.
func (s provenLinks) Linked(ctx context.Context, platform, user string) (bridge.Link, error) {
	l, err := s.store.Linked(ctx, platform, user)
	if err != nil || l.Person == "" {
		return bridge.Link{}, err
	}
	if !s.p.AcceptsLink(l, platform, user) {
		s.log.Warn("account link does not verify", "platform", platform, "user", user)
		return bridge.Link{}, nil
	}
	return l, nil
}

// Links implements Links.
func (s provenLinks) Links(ctx context.Context) ([]bridge.Link, error) {
	all, err := s.store.Links(ctx)
	out := make([]bridge.Link, 0, len(all))
	for _, l := range all {
		if s.p.AcceptsLink(l, l.Platform, l.User) {
			out = append(out, l)
		}
	}
	return out, err
}

// PutLink implements Links.
func (s provenLinks) PutLink(ctx context.Context, l bridge.Link) error {
	s.p.ProveLink(&l)
	return s.store.PutLink(ctx, l)
}

// DropLink implements Links.
func (s provenLinks) DropLink(ctx context.Context, platform, user string) (bool, error) {
	return s.store.DropLink(ctx, platform, user)
}

// sealedNotes lists the prefixes of notes that authorize an action:
// account-linking codes, the requests that typed replies belong to, the sessions
// that replies to messages reach, and who has the turn of a rotation.
var sealedNotes = []string{"link:", "reply:", "shown:", "rotation:"}

func sealedNote(key string) bool {
	for _, prefix := range sealedNotes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// PutNote implements Notes.
func (s provenNotes) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	if !sealedNote(key) {
		return s.Notes.PutNote(ctx, key, value, ttl)
	}
	got, err := s.Notes.PutNote(ctx, key, s.p.ProveNote(key, value), ttl)
	return s.p.Note(key, got), err
}

// SetNote implements Notes.
func (s provenNotes) SetNote(ctx context.Context, key, value string, ttl time.Duration) error {
	if sealedNote(key) {
		value = s.p.ProveNote(key, value)
	}
	return s.Notes.SetNote(ctx, key, value, ttl)
}

// Note implements Notes.
func (s provenNotes) Note(ctx context.Context, key string) (string, error) {
	got, err := s.Notes.Note(ctx, key)
	if !sealedNote(key) {
		return got, err
	}
	return s.p.Note(key, got), err
}
