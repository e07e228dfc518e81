package bridge

import (
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

// LinkTTL is the lifetime of an account-linking code.
const LinkTTL = 10 * time.Minute
