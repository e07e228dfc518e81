package bridge

import (
	"context"
	"time"
)

// Link states that an account belongs to a person.
type Link struct {
	Platform string    `json:"platform"`
	User     string    `json:"user"`
	Name     string    `json:"name,omitempty"` // display name on the platform
	Person   string    `json:"person"`
	By       Actor     `json:"by"` // the account that confirmed the link
	At       time.Time `json:"at"`
	Removed  bool      `json:"removed,omitempty"`
}

// Links keeps the accounts that people linked.
type Links interface {
	// Linked returns the link of an account. Its Person is empty if the account
	// is not linked.
	Linked(ctx context.Context, platform, user string) (Link, error)
	// PutLink stores a link.
	PutLink(context.Context, Link) error
	// DropLink removes a link and reports whether it existed.
	DropLink(ctx context.Context, platform, user string) (bool, error)
	// Links returns all links.
	Links(context.Context) ([]Link, error)
}

// LinkTTL is the lifetime of an account-linking code.
const LinkTTL = 10 * time.Minute
