package bridge

import (
	"cmp"
	"context"
	"time"
)

// Directory looks up people, their accounts and their groups. If it cannot read
// its source, the answer is unknown, and gives no one any rights. A Directory
// is safe for concurrent use.
type Directory interface {
	// Identify returns the person that an account belongs to. It returns ""
	// for an unknown account.
	Identify(context.Context, Actor) (string, error)
	// Member reports whether an actor is in a group at a time. It returns an
	// error if a part of the group cannot be read and no other part includes
	// the actor.
	Member(ctx context.Context, group string, who Actor, at time.Time) (bool, error)
	// Crew returns the members of a group at a time.
	Crew(ctx context.Context, group string, at time.Time) Crew
	// Accounts returns the accounts of a person. It returns none for an
	// unknown person.
	Accounts(ctx context.Context, person string) ([]Responder, error)
	// Standing returns the reason that nod does not recognize an account by its
	// email address, if Identify does not know the account. It is empty if the
	// standing of the account is not the reason.
	Standing(context.Context, Actor) (Standing, error)
	// Find returns the person that a text identifies: by name (ignoring case),
	// display name, email address, ID, or account. The name of a platform can
	// precede an account. Find returns "" if no one or more than one person
	// matches.
	Find(ctx context.Context, text string) (string, error)
	// Display returns the display name of a person. It is empty if people see
	// the name in the config.
	Display(person string) string
	// Everyone returns the members of a group in the config. It also reports
	// whether no one else can be a member.
	Everyone(group string) (people []string, all bool)
	// Native returns the native group of a platform that a group includes, in
	// the format of the platform. It returns "" if the group includes none.
	Native(group, platform string) string
}

// Crew holds the members of a group that are known by name: those in the config,
// and the people on call.
type Crew struct {
	People []string
	// Strangers are people on call who are not in the config.
	Strangers []string
	// Unread is the reason that a part of the group cannot be read. It is empty
	// if the complete group was read.
	Unread string
}

// Named holds the names that another system has for a person. Unknown fields
// are empty.
type Named struct {
	Kind  string // kind of the system; a person has an ID for each kind
	ID    string
	Email string
	Name  string
}

// String returns the most specific name of the person, with the ID from the
// other system, because someone who is unknown to nod can have the same name as
// a known person.
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
// that nod does not need one call for each click.
type MemberLister interface {
	Members(ctx context.Context, group string) ([]string, error)
}

// AccountMatcher is a Platform on which an account can have several IDs.
type AccountMatcher interface {
	// SameAccount reports whether two IDs identify the same account.
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

// PlatformAPI is the platform of people who respond with their own tokens.
const PlatformAPI = "api"

// Actor is the account that did something, and its person if known.
type Actor struct {
	Platform string `json:"platform"`
	User     string `json:"user"`
	Name     string `json:"name,omitempty"`   // display name, untrusted text
	Person   string `json:"person,omitempty"` // set once the account is identified
	// Known is the display name of the person in the config. It is empty if the
	// config has none.
	Known string `json:"known,omitempty"`
}

// Display returns the name to show. This is the name of the person. For an
// unknown person, it is the account and the display name with a mark, because
// anyone can choose a display name.
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

// Voter identifies a person. A person has one vote across all accounts.
func (a Actor) Voter() string {
	if a.Person != "" {
		return a.Person
	}
	return a.Platform + "/" + a.User
}

// Same reports whether both actors are the same person.
func (a Actor) Same(b Actor) bool {
	if a.Person != "" && a.Person == b.Person {
		return true
	}
	return a.Platform == b.Platform && a.User == b.User
}

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

// Standing is the capacity in which someone acts or writes on a platform. The
// zero value is a member of the workspace or server.
type Standing string

// The standings other than that of a member.
const (
	StandingGuest       Standing = "guest"
	StandingOutsider    Standing = "outsider"    // a member of another workspace, in a shared channel
	StandingUnconfirmed Standing = "unconfirmed" // the email address is not confirmed
	StandingSeveral     Standing = "several"     // the account belongs to several people in the config
	StandingBot         Standing = "bot"         // a bot or another program
	StandingAnonymous   Standing = "anonymous"   // an account that writes as a group or a channel
	StandingForwarded   Standing = "forwarded"   // a message that was forwarded from someone else
	StandingEdited      Standing = "edited"      // an edit of an earlier message
)

// Right holds the rights of someone with a standing.
type Right struct {
	// Email means that nod may use the email address of the account to find its
	// person. An account in the config and a linked account do not need this
	// right.
	Email bool
	// Acts means that clicks, replies and commands of the account count.
	Acts bool
	// Why is the reason that nod gives to the person. It is empty for bots.
	// Bots get no reply, so two bots never answer each other endlessly.
	Why string
}

// Rights holds the rights of each standing.
var Rights = map[Standing]Right{
	"": {Email: true, Acts: true},
	StandingGuest: {Acts: true, Why: "You are a guest of this workspace, and nod does not recognize guests by their email address. " +
		"Ask your nod administrator to add your account under people in the config."},
	StandingOutsider: {Acts: true, Why: "Your account belongs to another workspace, and nod does not recognize members of another " +
		"workspace by email address. Ask your nod administrator to add your account under people in the config."},
	StandingUnconfirmed: {Acts: true, Why: "The email address of your account is not confirmed, so nod does not recognize you by it. " +
		"Confirm it, or ask your nod administrator to add your account under people in the config."},
	StandingSeveral: {Acts: true, Why: "The config lists your account for several people, or your email address for a person with another " +
		"account, so nod cannot identify you. Ask your nod administrator to correct the config."},
	StandingBot:       {},
	StandingAnonymous: {Why: "nod ignores anonymous members. Write with your own account."},
	StandingForwarded: {Why: "A forwarded message has no effect, because someone else wrote it. Write your own reply."},
	StandingEdited:    {Why: "Edits have no effect. nod keeps the original reply. To change it, write a new reply."},
}
