package bridge

import (
	"context"
)

// Directory looks up people, their accounts and their groups. An error means
// that the answer is unknown right now, and the caller must deny access. A
// Directory is safe for concurrent use.
type Directory interface {
	// Identify returns the person that an account belongs to. It returns ""
	// for an unknown account.
	Identify(context.Context, Actor) (string, error)
	// Member reports whether an actor is in a group.
	Member(ctx context.Context, group string, who Actor) (bool, error)
	// Now returns the current members of a group that are known: those in
	// the config, and the people on call.
	Now(ctx context.Context, group string) ([]string, error)
	// Accounts returns the accounts of a person. It returns none for an
	// unknown person.
	Accounts(ctx context.Context, person string) ([]Responder, error)
	// Standing returns why an account that Identify does not know is not
	// recognized by its email address. It is empty if the standing of the account
	// is not the reason.
	Standing(context.Context, Actor) (Standing, error)
	// Native returns the group of a platform that a group includes, in the
	// platform's own format. It returns "" if there is none.
	Native(group, platform string) string
}

// Grouper is a Platform with groups of its own.
type Grouper interface {
	// Belongs reports whether a user is in a group. The group has the
	// platform's own format.
	Belongs(ctx context.Context, group, user string) (bool, error)
}

// EmailResolver is a Platform that knows the verified email addresses of people.
type EmailResolver interface {
	// Email returns the address of a user, and the standing of the account. The
	// address is empty if none is visible.
	Email(ctx context.Context, user string) (string, Standing, error)
}

// GroupMark is the prefix of a group name in lists of people and groups.
const GroupMark = "@"

// PlatformAPI is the platform of people who respond with their own token.
const PlatformAPI = "api"

// Actor is the account, and if known the person, that did something.
type Actor struct {
	Platform string `json:"platform"`
	User     string `json:"user"`
	Name     string `json:"name,omitempty"`   // display name, untrusted text
	Person   string `json:"person,omitempty"` // set once the account is identified
}

// Display returns the name to show: the configured person, or else the display
// name on the platform, or else the user ID.
func (a Actor) Display() string {
	switch {
	case a.Person != "":
		return a.Person
	case a.Name != "":
		return a.Name
	}
	return a.User
}

// Voter identifies a human, who has one vote across all accounts.
func (a Actor) Voter() string {
	if a.Person != "" {
		return a.Person
	}
	return a.Platform + "/" + a.User
}

// Same reports whether both actors are the same human.
func (a Actor) Same(b Actor) bool {
	if a.Person != "" && a.Person == b.Person {
		return true
	}
	return a.Platform == b.Platform && a.User == b.User
}
