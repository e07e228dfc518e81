package bridge

import (
	"context"
)

// Directory knows people, their accounts and their groups, as they are now. An
// error means that this is not known right now, and nobody is let in. It is
// safe for concurrent use.
type Directory interface {
	// Identify returns the person that an account belongs to; empty: nobody
	// that is known.
	Identify(context.Context, Actor) (string, error)
	// Member reports whether somebody is in a group.
	Member(ctx context.Context, group string, who Actor) (bool, error)
	// Now are the people whom a group names at this moment, as far as they are
	// known: its own, and who is on call.
	Now(ctx context.Context, group string) ([]string, error)
	// Accounts are those of a person; none for one who is not known.
	Accounts(ctx context.Context, person string) ([]Responder, error)
}

// Grouper is a Platform that knows who is in a group of its service.
type Grouper interface {
	// Belongs reports whether a user is in a group, which is named in the
	// service's own form.
	Belongs(ctx context.Context, group, user string) (bool, error)
}

// Mailer is a Platform that vouches for people's email addresses.
type Mailer interface {
	// Email is a user's address; empty: none that may be seen.
	Email(ctx context.Context, user string) (string, error)
}

// GroupMark begins the name of a group where people and groups stand side by
// side.
const GroupMark = "@"

// PlatformAPI is the platform of people who answer with a token of their own.
const PlatformAPI = "api"

// Actor is who did something.
type Actor struct {
	Platform string `json:"platform"`
	User     string `json:"user"`
	Name     string `json:"name,omitempty"`   // display name, untrusted text
	Person   string `json:"person,omitempty"` // set once recognised as a Responder
}

// Display is the name a human reads: the configured person, else the
// platform's display name, else the id.
func (a Actor) Display() string {
	switch {
	case a.Person != "":
		return a.Person
	case a.Name != "":
		return a.Name
	}
	return a.User
}

// Voter names a human: each has one vote, from whatever account.
func (a Actor) Voter() string {
	if a.Person != "" {
		return a.Person
	}
	return a.Platform + "/" + a.User
}

// Same reports whether both are one human.
func (a Actor) Same(b Actor) bool {
	if a.Person != "" && a.Person == b.Person {
		return true
	}
	return a.Platform == b.Platform && a.User == b.User
}
