package bridge

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"strings"
	"time"
)

// Link says that an account is a person's.
type Link struct {
	Platform string    `json:"platform"`
	User     string    `json:"user"`
	Name     string    `json:"name,omitempty"` // as the service showed it
	Person   string    `json:"person"`
	By       Actor     `json:"by"` // the account that vouched
	At       time.Time `json:"at"`
	Removed  bool      `json:"removed,omitempty"`
	// Proof shows that a daemon stored the link as it is.
	Proof string `json:"proof,omitempty"`
}

// Linker keeps the accounts that people linked.
type Linker interface {
	// Linked returns the link of an account. Its Person is empty if the account
	// is not linked.
	Linked(ctx context.Context, platform, user string) (Link, error)
	PutLink(context.Context, Link) error
	// DropLink forgets a link, and reports whether there was one.
	DropLink(ctx context.Context, platform, user string) (bool, error)
	Links(context.Context) ([]Link, error)
}

// LinkTTL is how long a code can be entered.
const LinkTTL = 10 * time.Minute

// linking is what waits for a code: who pressed, and what.
type linking struct {
	Click Click `json:"click"`
}

func linkNote(code string) string { return "link:" + code }

// offerLink keeps what an unknown account pressed, and returns what to tell
// that person.
func (e *Engine) offerLink(ctx context.Context, c Click) (string, error) {
	raw, err := json.Marshal(linking{Click: c})
	if err != nil {
		return "", Wrap(CodeInternal, err, "link")
	}
	var b [8]byte
	rand.Read(b[:])
	code := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
	if _, err := e.store.PutNote(ctx, linkNote(code), string(raw), LinkTTL); err != nil {
		return "", err
	}
	then := "What you pressed is kept, and counts then."
	if PeekAction(c.Token) == ActionInput {
		then = "Then press again."
	}
	return "I do not know this account, so nothing was recorded. If you are one of those asked, link it within 10 minutes: where I know you, send /" + CommandName + " link " + code +
		" or run " + CommandName + " link " + code + ". " + then + " Never enter a code that somebody else gave you.", nil
}

// Link makes an account that a code was given to the person's who enters it,
// once that was confirmed, and applies what was pressed. It returns what to
// tell the person. CodeNotFound for a code that does not hold.
func (e *Engine) Link(ctx context.Context, by Actor, code string, confirmed bool) (string, error) {
	if by.Person == "" {
		return "", Errorf(CodeForbidden, "you are nobody of the config, so no account can be linked to you")
	}
	code = strings.ToLower(strings.TrimSpace(code))
	raw, err := e.store.Note(ctx, linkNote(code))
	if err != nil {
		return "", err
	}
	var l linking
	if raw == "" || json.Unmarshal([]byte(raw), &l) != nil {
		return "", Errorf(CodeNotFound, "there is no such code, or it is older than 10 minutes").WithHint("press again to get a new one")
	}
	account := Actor{Platform: l.Click.Actor.Platform, User: l.Click.Actor.User, Name: l.Click.Actor.Name}
	if !confirmed {
		return "From then on " + oneLine(account.Display()) + " on " + account.Platform + " (" + account.User + ") answers as you, " + by.Person +
			". If that is your own account, send /" + CommandName + " link " + code + " yes (or run it with --yes). If it is not, do nothing.", nil
	}
	if err := e.store.DropNote(ctx, linkNote(code)); err != nil { // a code is good once
		return "", err
	}
	link := Link{Platform: account.Platform, User: account.User, Name: account.Name, Person: by.Person, By: by, At: time.Now().UTC().Truncate(time.Millisecond)}
	if err := e.audit(ctx, AuditLink, Interaction{}, link); err != nil {
		return "", err // no link without its entry
	}
	if err := e.store.PutLink(ctx, link); err != nil {
		return "", err
	}
	e.log.Info("account linked", "person", by.Person, "platform", account.Platform, "user", account.User)
	said := "Linked: " + oneLine(account.Display()) + " on " + account.Platform + " is you."
	if PeekAction(l.Click.Token) == ActionInput {
		return said + " Press again there.", nil
	}
	v, err := e.Click(ctx, l.Click)
	if err != nil {
		return said + " " + NoteNotRecorded, nil
	}
	return said + " " + v.Note, nil
}

// Links lists the accounts that people linked.
func (e *Engine) Links(ctx context.Context) ([]Link, error) { return e.store.Links(ctx) }

// Unlink forgets a link; CodeNotFound where there is none.
func (e *Engine) Unlink(ctx context.Context, by Actor, platform, user string) error {
	if err := e.audit(ctx, AuditLink, Interaction{}, Link{Platform: platform, User: user, By: by, At: time.Now().UTC().Truncate(time.Millisecond), Removed: true}); err != nil {
		return err
	}
	was, err := e.store.DropLink(ctx, platform, user)
	if err == nil && !was {
		return Errorf(CodeNotFound, "no account %s/%s is linked", platform, user)
	}
	return err
}
