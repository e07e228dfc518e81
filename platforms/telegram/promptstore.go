package telegram

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// awaited is the content of the note for a prompt, a menu, or a card that
// accepts replies. It identifies the control to which a reply or a click
// belongs.
type awaited struct {
	Token       string            `json:"t"` // empty for a menu, which takes no reply
	User        string            `json:"u"` // empty for a card, which everyone may reply to
	Card        bridge.MessageRef `json:"c"` // the clicked message
	Interaction bridge.ID         `json:"i"`
	Question    int               `json:"q"`
	Option      int               `json:"o"`
}

// click returns the click that corresponds to a reply with a text, without its
// message.
func (a awaited) click(who bridge.Actor, text string) bridge.Click {
	c := bridge.Click{Token: a.Token, Actor: who}
	switch a.Option {
	case bridge.OptionReason, bridge.OptionEdit, bridge.OptionConfirm, bridge.OptionDecide, bridge.OptionMessage:
		c.Typed = text
	case bridge.OptionOther:
		c.Inputs = map[int]bridge.Input{a.Question: {Other: text, KeepOptions: true}}
	default:
		c.Inputs = map[int]bridge.Input{a.Question: {Text: text}}
	}
	return c
}

// states reports whether it is a menu that states the effect of decisions,
// rather than a message that shows a private request.
func (a awaited) states() bool {
	return a.User != "" && a.Token == "" && a.Option != bridge.OptionReview && a.Option != bridge.OptionRead
}

// promptStore remembers the posted prompts, and removes those that are no longer
// needed. A person has at most one prompt for a card.
type promptStore struct {
	platform string
	notes    platforms.Notes
	client   *client
	log      *slog.Logger

	mu      sync.Mutex
	posting map[string][]chan struct{} // by person
}

// posts records that prompts are being posted for a person, who may see one
// before it is stored. The returned function ends that.
func (s *promptStore) posts(user string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posting == nil {
		s.posting = map[string][]chan struct{}{}
	}
	c := make(chan struct{})
	s.posting[user] = append(s.posting[user], c)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		left := slices.DeleteFunc(s.posting[user], func(o chan struct{}) bool { return o == c })
		if s.posting[user] = left; len(left) == 0 {
			delete(s.posting, user)
		}
		close(c)
	}
}

// replyKey is the key of the note that identifies the purpose of a reply to a
// prompt.
func (s *promptStore) replyKey(prompt bridge.MessageRef) string {
	return "reply:" + s.platform + ":" + prompt.Channel + ":" + prompt.Message
}

// askedKey is the key of the note that names the nth person whom a card
// prompted.
func (s *promptStore) askedKey(card bridge.MessageRef, n int) string {
	return "asked:" + s.platform + ":" + card.Channel + ":" + card.Message + ":" + strconv.Itoa(n)
}

// openKey is the key of the note that names a person's open prompt for a card.
func (s *promptStore) openKey(card bridge.MessageRef, user string) string {
	return "open:" + s.platform + ":" + card.Channel + ":" + card.Message + ":" + user
}

// remember stores the purpose of a reply to a prompt. It replaces the person's
// earlier prompt for the same card.
func (s *promptStore) remember(ctx context.Context, prompt bridge.MessageRef, a awaited, deadline time.Time) error {
	ttl := time.Until(deadline) + time.Hour // a late reply gets an answer
	if err := s.put(ctx, prompt, a, ttl); err != nil {
		return err
	}
	for n := 0; ; n++ { // the first free number of the card, or the person's own
		user, err := s.notes.PutNote(ctx, s.askedKey(a.Card, n), a.User, ttl)
		if err != nil {
			return err
		}
		if user == a.User {
			break
		}
	}
	return s.replace(ctx, prompt, a, ttl)
}

// put stores the purpose of a reply to a message.
func (s *promptStore) put(ctx context.Context, m bridge.MessageRef, a awaited, ttl time.Duration) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = s.notes.PutNote(ctx, s.replyKey(m), string(raw), ttl)
	return err
}

// replace makes a prompt the open prompt of a person for a card, and removes
// the previous one.
func (s *promptStore) replace(ctx context.Context, prompt bridge.MessageRef, a awaited, ttl time.Duration) error {
	key, at := s.openKey(a.Card, a.User), place(a.Card, prompt)
	before, err := s.notes.PutNote(ctx, key, at, ttl)
	if err != nil || before == at {
		return err
	}
	s.remove(ctx, promptAt(a.Card, before), a.User)
	return s.notes.SetNote(ctx, key, at, ttl)
}

// awaits returns the purpose of a person's reply to a prompt, or click on it.
// It returns the zero value if the prompt has no purpose. It first waits for
// prompts that are being posted for the person.
func (s *promptStore) awaits(ctx context.Context, prompt bridge.MessageRef, user string) (awaited, error) {
	s.mu.Lock()
	posting := slices.Clone(s.posting[user])
	s.mu.Unlock()
	for _, done := range posting {
		a, err := s.stored(ctx, prompt)
		if err != nil || a.Card != (bridge.MessageRef{}) {
			return a, err
		}
		select {
		case <-done:
		case <-ctx.Done():
			return a, bridge.Wrap(bridge.CodeUnavailable, ctx.Err(), "telegram: a prompt is still being posted")
		}
	}
	return s.stored(ctx, prompt)
}

// stored returns the stored purpose of a prompt, or the zero value.
func (s *promptStore) stored(ctx context.Context, prompt bridge.MessageRef) (awaited, error) {
	var a awaited
	raw, err := s.notes.Note(ctx, s.replyKey(prompt))
	if err != nil || raw == "" {
		return a, err
	}
	if err := json.Unmarshal([]byte(raw), &a); err != nil {
		s.log.Error("stored prompt cannot be read", "error", err)
		return awaited{}, nil
	}
	return a, nil
}

// remove deletes a prompt of a person.
func (s *promptStore) remove(ctx context.Context, prompt bridge.MessageRef, user string) {
	if id, private := strings.CutPrefix(prompt.Message, privateMark); private {
		s.client.removePrivate(ctx, prompt.Channel, id, user)
		return
	}
	s.client.remove(ctx, prompt)
}

// done removes a prompt that was answered.
func (s *promptStore) done(ctx context.Context, prompt bridge.MessageRef, a awaited) {
	for _, key := range []string{s.replyKey(prompt), s.openKey(a.Card, a.User)} {
		if err := s.notes.DropNote(ctx, key); err != nil {
			s.log.Warn("prompt not forgotten", "error", err)
		}
	}
	s.remove(ctx, prompt, a.User)
}

// retire removes the prompts for a card that no longer ask for anything: those
// for interactions other than the open one, if any. Their notes stay, so that
// the author of a late reply is told that it is late.
func (s *promptStore) retire(ctx context.Context, card bridge.MessageRef, open bridge.ID) error {
	for n := 0; s.notes != nil; n++ {
		user, err := s.notes.Note(ctx, s.askedKey(card, n))
		if err != nil || user == "" {
			return err
		}
		id, err := s.notes.Note(ctx, s.openKey(card, user))
		if err != nil {
			return err
		}
		prompt := promptAt(card, id)
		a, err := s.stored(ctx, prompt)
		if err != nil {
			return err
		}
		if id == "" || open != "" && a.Interaction == open {
			continue
		}
		s.remove(ctx, prompt, user)
		if err := s.notes.DropNote(ctx, s.openKey(card, user)); err != nil {
			return err
		}
	}
	return nil
}
