package engine

import (
	"context"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// link is a stored link that verifies, for the account that it was asked for.
func (p *prover) link(l bridge.Link, platform, user string) (bridge.Link, bool) {
	if l.Person == "" || l.Platform != platform || l.User != user {
		return bridge.Link{}, false
	}
	if l.Proof == "" && !p.strict {
		return l, true
	}
	return l, p.signer.MacIs(l.Proof, domainLink, proof.LinkBytes(l))
}

// Linked implements Linker. It ignores a link that does not verify, so that
// the account has to be linked again.
func (s provenStore) Linked(ctx context.Context, platform, user string) (bridge.Link, error) {
	l, err := s.Store.Linked(ctx, platform, user)
	if err != nil || l.Person == "" {
		return bridge.Link{}, err
	}
	good, ok := s.p.link(l, platform, user)
	if !ok {
		s.log.Warn("linked account not verified", "platform", platform, "user", user)
		return bridge.Link{}, nil
	}
	return good, nil
}

// Links implements Linker.
func (s provenStore) Links(ctx context.Context) ([]bridge.Link, error) {
	all, err := s.Store.Links(ctx)
	out := make([]bridge.Link, 0, len(all))
	for _, l := range all {
		if good, ok := s.p.link(l, l.Platform, l.User); ok {
			out = append(out, good)
		}
	}
	return out, err
}

// PutLink implements Linker.
func (s provenStore) PutLink(ctx context.Context, l bridge.Link) error {
	l.Proof = s.p.signer.Mac(domainLink, proof.LinkBytes(l))
	return s.Store.PutLink(ctx, l)
}

// sealedNotes are the prefixes of notes that decide who is believed: a code
// that links an account, and what a typed reply belongs to.
var sealedNotes = []string{"link:", "reply:"}

func sealedNote(key string) bool {
	for _, prefix := range sealedNotes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// PutNote implements Notes.
func (s provenStore) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	if !sealedNote(key) {
		return s.Store.PutNote(ctx, key, value, ttl)
	}
	got, err := s.Store.PutNote(ctx, key, s.p.signer.Mac(domainNote, []byte(key), []byte(value))+" "+value, ttl)
	return s.p.note(key, got), err
}

// Note implements Notes.
func (s provenStore) Note(ctx context.Context, key string) (string, error) {
	got, err := s.Store.Note(ctx, key)
	if !sealedNote(key) {
		return got, err
	}
	return s.p.note(key, got), err
}

// note is the value of a note that verifies; empty for any other.
func (p *prover) note(key, stored string) string {
	proof, value, ok := strings.Cut(stored, " ")
	if !ok || !p.signer.MacIs(proof, domainNote, []byte(key), []byte(value)) {
		return ""
	}
	return value
}
