package engine

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// linking is what waits for a code: who pressed, and what.
type linking struct {
	Click bridge.Click `json:"click"`
}

func linkNote(code string) string { return "link:" + code }

// codes keeps what unknown accounts pressed until their codes are entered.
type codes struct {
	notes bridge.Notes
}

// offer keeps what an unknown account pressed, and returns what to tell
// that person.
func (k *codes) offer(ctx context.Context, c bridge.Click) (string, error) {
	raw, err := json.Marshal(linking{Click: c})
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "link")
	}
	var b [8]byte
	rand.Read(b[:])
	code := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
	if _, err := k.notes.PutNote(ctx, linkNote(code), string(raw), bridge.LinkTTL); err != nil {
		return "", err
	}
	then := "What you pressed is kept, and counts then."
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		then = "Then press again."
	}
	return "I do not know this account, so nothing was recorded. If you are one of those asked, link it within 10 minutes: where I know you, send /" + bridge.CommandName + " link " + code +
		" or run " + bridge.CommandName + " link " + code + ". " + then + " Never enter a code that somebody else gave you.", nil
}

// Links links accounts to people.
type Links struct {
	notes   bridge.Notes
	store   bridge.Links
	journal *journal
	clicks  *clicks
	log     *slog.Logger
}

// Link makes an account that a code was given to the person's who enters it,
// once that was confirmed, and applies what was pressed. It returns what to
// tell the person. CodeNotFound for a code that does not hold.
func (ls *Links) Link(ctx context.Context, by bridge.Actor, code string, confirmed bool) (string, error) {
	if by.Person == "" {
		return "", bridge.Errorf(bridge.CodeForbidden, "you are nobody of the config, so no account can be linked to you")
	}
	code = strings.ToLower(strings.TrimSpace(code))
	raw, err := ls.notes.Note(ctx, linkNote(code))
	if err != nil {
		return "", err
	}
	var l linking
	if raw == "" || json.Unmarshal([]byte(raw), &l) != nil {
		return "", bridge.Errorf(bridge.CodeNotFound, "there is no such code, or it is older than 10 minutes").WithHint("press again to get a new one")
	}
	account := bridge.Actor{Platform: l.Click.Actor.Platform, User: l.Click.Actor.User, Name: l.Click.Actor.Name}
	if !confirmed {
		return "From then on " + bridge.OneLine(account.Display()) + " on " + account.Platform + " (" + account.User + ") answers as you, " + by.Person +
			". If that is your own account, send /" + bridge.CommandName + " link " + code + " yes (or run it with --yes). If it is not, do nothing.", nil
	}
	if err := ls.notes.DropNote(ctx, linkNote(code)); err != nil { // a code is good once
		return "", err
	}
	link := bridge.Link{Platform: account.Platform, User: account.User, Name: account.Name, Person: by.Person, By: by, At: time.Now().UTC().Truncate(time.Millisecond)}
	if err := ls.journal.write(ctx, bridge.AuditLink, bridge.Interaction{}, link); err != nil {
		return "", err // no link without its entry
	}
	if err := ls.store.PutLink(ctx, link); err != nil {
		return "", err
	}
	ls.log.Info("account linked", "person", by.Person, "platform", account.Platform, "user", account.User)
	said := "Linked: " + bridge.OneLine(account.Display()) + " on " + account.Platform + " is you."
	if bridge.PeekAction(l.Click.Token) == bridge.ActionInput {
		return said + " Press again there.", nil
	}
	v, err := ls.clicks.click(ctx, l.Click)
	if err != nil {
		return said + " " + bridge.NoteNotRecorded, nil
	}
	return said + " " + v.Note, nil
}

// List lists the accounts that people linked.
func (ls *Links) List(ctx context.Context) ([]bridge.Link, error) { return ls.store.Links(ctx) }

// Unlink forgets a link; CodeNotFound where there is none.
func (ls *Links) Unlink(ctx context.Context, by bridge.Actor, platform, user string) error {
	if err := ls.journal.write(ctx, bridge.AuditLink, bridge.Interaction{}, bridge.Link{Platform: platform, User: user, By: by, At: time.Now().UTC().Truncate(time.Millisecond), Removed: true}); err != nil {
		return err
	}
	was, err := ls.store.DropLink(ctx, platform, user)
	if err == nil && !was {
		return bridge.Errorf(bridge.CodeNotFound, "no account %s/%s is linked", platform, user)
	}
	return err
}
