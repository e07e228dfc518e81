package bridge

import (
	"cmp"
	"context"
	"time"
)

// Directory looks up people, their accounts and their groups. An answer that it
// cannot read is unknown, and gives no one a right. A Directory is safe for concurrent use.
type Directory interface {
	// Identify returns the person that an account belongs to. It returns ""
	// for an unknown account.
	Identify(context.Context, Actor) (string, error)
	// Member reports whether an actor is in a group at a time. It returns an
	// error if it cannot read a part of the group, and no other part includes
	// the actor.
	Member(ctx context.Context, group string, who Actor, at time.Time) (bool, error)
	// Crew returns the members of a group at a time.
	Crew(ctx context.Context, group string, at time.Time) Crew
	// Accounts returns the accounts of a person. It returns none for an
	// unknown person.
	Accounts(ctx context.Context, person string) ([]Responder, error)
	// Standing returns why an account that Identify does not know is not
	// recognized by its email address. It is empty if the standing of the account
	// is not the reason.
	Standing(context.Context, Actor) (Standing, error)
	// Find returns the person whom a text names: by name in any case, display
	// name, email address, ID, or account, which can have the name of its
	// platform in front. It returns "" if that is no one, or several people.
	Find(ctx context.Context, text string) (string, error)
	// Display returns the name of a person that people read. It is empty if that
	// is the name in the config.
	Display(person string) string
	// Everyone returns the members of a group in the config, and whether no one
	// else can be a member.
	Everyone(group string) (people []string, all bool)
	// Native returns the group of a platform that a group includes, in the
	// platform's own format. It returns "" if there is none.
	Native(group, platform string) string
}

// Crew holds the members of a group that are known by name: those in the config,
// and the people on call.
type Crew struct {
	People []string
	// Strangers are on call, but not in the config.
	Strangers []string
	// Unread is the reason why a part of the group cannot be read. It is empty
	// if all of it can.
	Unread string
}

// Named holds the names that a source outside of nod has for a person. Unknown
// fields are empty.
type Named struct {
	Kind  string // kind of the source; a person has an ID for each kind
	ID    string
	Email string
	Name  string
}

// String returns what identifies the person best, with the ID that the source has:
// one whom nod does not know may have the name of a person whom it knows.
func (n Named) String() string {
	best := cmp.Or(n.Email, n.Name)
	switch {
	case best == "":
		return n.ID
	case n.ID == "":
		return best
	}
	return best + " (" + n.Kind + " " + n.ID + ")"
}

// Grouper is a Platform with groups of its own.
type Grouper interface {
	// Belongs reports whether a user is in a group. The group has the
	// platform's own format.
	Belongs(ctx context.Context, group, user string) (bool, error)
}

// MemberLister is a Grouper that returns all members of a group in one call, so
// that many people who click at the same time cost no call each.
type MemberLister interface {
	Members(ctx context.Context, group string) ([]string, error)
}

// AccountMatcher is a Platform on which an account can have several IDs.
type AccountMatcher interface {
	// SameAccount reports whether two IDs are of the same account.
	SameAccount(a, b string) bool
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
	// Known is the display name of the person in the config. It is empty if the
	// person has none.
	Known string `json:"known,omitempty"`
}

// Display returns the name to show: that of the person, or else the account, with
// its display name and a mark, because anyone can choose a display name.
func (a Actor) Display() string {
	switch {
	case a.Person != "":
		return cmp.Or(a.Known, a.Person)
	case a.Platform == PlatformAPI:
		return cmp.Or(a.Name, a.User)
	case a.Name == "":
		return a.User + " (" + a.Platform + ", not in the config)"
	}
	return a.Name + " (" + a.Platform + " " + a.User + ", not in the config)"
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
