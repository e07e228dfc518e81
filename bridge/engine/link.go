package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/journal"
)

// linking is the click for which nod created a linking code.
type linking struct {
	Click bridge.Click `json:"click"`
}

func linkNote(code string) string { return "link:" + code }

// codes stores the clicks of unknown accounts until their codes are entered.
type codes struct {
	notes documents.Notes
}

// offer stores the click of an unknown account, and returns the reply with a
// code.
func (k *codes) offer(ctx context.Context, c bridge.Click) (string, error) {
	c.At = time.Time{} // the click was in time; from now on, the code limits its age
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
	then := "nod saves your click, and applies it once the account is linked."
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		then = "Then click again."
	}
	return "nod does not know this account, so nothing was recorded. If you are a responder, link the account within 10 minutes: " +
		"from an account that nod knows, send /" + bridge.CommandName + " link " + code +
		" or run " + bridge.CommandName + " link " + code + ". " + then + " Never enter a code that someone else gave you.", nil
}

// Links links accounts to people.
type Links struct {
	notes   documents.Notes
	store   Linked
	journal *journal.Journal
	clicks  *Clicks
	log     *slog.Logger
}

// Link links the account that received a code to the person who enters and
// confirms the code, and applies the stored click. It returns the reply to the
// person. It returns CodeNotFound for an invalid or expired code.
func (ls *Links) Link(ctx context.Context, by bridge.Actor, code string, confirmed bool) (string, error) {
	if by.Person == "" {
		return "", bridge.Errorf(bridge.CodeForbidden, "you are not listed under people in the config, so you cannot link an account")
	}
	code = strings.ToLower(strings.TrimSpace(code))
	read := ls.notes.Note
	if confirmed {
		read = ls.notes.TakeNote // a code works only once
	}
	raw, err := read(ctx, linkNote(code))
	if err != nil {
		return "", err
	}
	var l linking
	if raw == "" || json.Unmarshal([]byte(raw), &l) != nil {
		return "", bridge.Errorf(bridge.CodeNotFound, "code not found, or older than 10 minutes").WithHint("click again in the chat to get a new code")
	}
	account := bridge.Actor{Platform: l.Click.Actor.Platform, User: l.Click.Actor.User, Name: l.Click.Actor.Name}
	if !confirmed {
		return "If you confirm, " + bridge.OneLine(cmp.Or(account.Name, account.User)) + " on " + account.Platform + " (" + account.User + ") answers as you, " + by.Display() +
			". If it is your own account, send /" + bridge.CommandName + " link " + code + " yes (or run the command with --yes). If it is not, do nothing.", nil
	}
	link := bridge.Link{Platform: account.Platform, User: account.User, Name: account.Name, Person: by.Person, By: by, At: time.Now().UTC().Truncate(time.Millisecond)}
	if err := ls.journal.Write(ctx, bridge.AuditLink, bridge.Interaction{}, link); err != nil {
		return "", err // no link without its entry in the audit log
	}
	if err := ls.store.PutLink(ctx, link); err != nil {
		return "", err
	}
	ls.log.Info("account linked", "person", by.Person, "platform", account.Platform, "user", account.User)
	said := "Linked: " + bridge.OneLine(cmp.Or(account.Name, account.User)) + " on " + account.Platform + " is your account."
	if bridge.PeekAction(l.Click.Token) == bridge.ActionInput {
		return said + " Click again there.", nil
	}
	v, err := ls.clicks.click(ctx, l.Click)
	if err != nil {
		return said + " " + bridge.NotRecorded(err), nil
	}
	return said + " " + v.Note, nil
}

// List returns the accounts that people linked.
func (ls *Links) List(ctx context.Context) (bridge.Page[bridge.Link], error) {
	return ls.store.Links(ctx)
}

// Unlink removes a link. It returns CodeNotFound if the link does not exist.
func (ls *Links) Unlink(ctx context.Context, by bridge.Actor, platform, user string) error {
	if err := ls.journal.Write(ctx, bridge.AuditLink, bridge.Interaction{}, bridge.Link{Platform: platform, User: user, By: by, At: time.Now().UTC().Truncate(time.Millisecond), Removed: true}); err != nil {
		return err
	}
	was, err := ls.store.DropLink(ctx, platform, user)
	if err == nil && !was {
		return bridge.Errorf(bridge.CodeNotFound, "linked account %s/%s not found", platform, user)
	}
	return err
}
