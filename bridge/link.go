package bridge

import (
	"context"
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

// Links keeps the accounts that people linked.
type Links interface {
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
