package bridge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Said is a message that a person wrote in reply to a card.
type Said struct {
	Actor Actor // account that the platform authenticated
	// Card is the card that the person replied to. If its Message is empty, it
	// stands for all cards of its Thread. If Thread is the ID of Channel, the
	// thread is a separate channel, which started with the message of the same
	// ID in another channel.
	Card MessageRef
	// Message is the ID of the reply. A reply counts at most once.
	Message string
	// In is the thread that contains the reply, if it is not the thread of
	// Card.
	In   string
	Text string // empty if the platform hides it from nod
	// Standing is the capacity in which the author wrote the reply.
	Standing Standing
	At       time.Time // when the reply was written, by the clock of the platform
	// After reports whether the reply is later than a card, by the clock of the
	// platform. Such a reply does not answer the request of a later card.
	After func(card MessageRef) bool
}

// Written returns the reply without its card.
func (s Said) Written() MessageRef {
	return MessageRef{Channel: s.Card.Channel, Message: s.Message, Thread: cmp.Or(s.In, s.Card.Thread)}
}

// Listener is a Sink that accepts replies to cards.
type Listener interface {
	// Reply answers the text question of a card with the text of a reply, or
	// passes the reply to the agent. A verdict without a note means that the
	// person gets no reply. If Reply returns an error, nothing was recorded,
	// and the platform may repeat the call.
	Reply(context.Context, Said) (Verdict, error)
}

// SessionStopper is a Sink for stops that people click in a control of the
// platform itself.
type SessionStopper interface {
	// StopThread stops the session whose message or card began a thread. A
	// verdict without a note means that the thread does not belong to a
	// session.
	StopThread(ctx context.Context, who Actor, thread MessageRef) (Verdict, error)
}

// Remover is a Sink that receives deletions of nod's messages.
type Remover interface {
	// Deleted handles a message that no longer exists on a platform. Its Thread
	// may be empty.
	Deleted(ctx context.Context, platform string, message MessageRef) error
}

// InThread reports whether the message is in a channel that is a thread, and not
// a reply to one card.
func (s Said) InThread() bool {
	return s.Card.Message == "" && s.Card.Thread != "" && s.Card.Thread == s.Card.Channel
}

// Shows reports whether a card is one of the cards that a person replied to.
func (s Said) Shows(ref MessageRef) bool {
	if s.InThread() {
		return ref.Channel == s.Card.Thread || ref.Message == s.Card.Thread
	}
	if ref.Channel != s.Card.Channel {
		return false
	}
	if s.Card.Message != "" {
		return ref.Message == s.Card.Message
	}
	return s.Card.Thread != "" && (ref.Message == s.Card.Thread || ref.Thread == s.Card.Thread)
}

// Destination returns the destination of a record to whose card a person
// replied.
func (s Said) Destination(r Record) (int, bool) {
	for n, d := range r.Interaction.Destinations {
		if ref, ok := r.Messages[n]; ok && d.Platform == s.Actor.Platform && s.Shows(ref) {
			return n, true
		}
	}
	return 0, false
}

// Desk is a Sink with a page for each person that shows their requests, grants
// and decisions.
type Desk interface {
	// Overview returns the content of a person's page, with up to n pending
	// requests.
	Overview(ctx context.Context, actor Actor, n int) (Overview, error)
	// Changes returns a text that differs whenever the pending requests, their
	// votes and decisions, or the grants change.
	Changes(context.Context) (string, error)
	// RevokeAs revokes a grant on behalf of a person, and returns the reply to
	// the person.
	RevokeAs(ctx context.Context, actor Actor, grant string) (string, error)
}

// Overview holds the requests, grants and decisions of a person's page.
type Overview struct {
	// Waiting lists the pending requests that the person may answer and has not
	// voted on, by deadline.
	Waiting []Waiting
	More    bool // there are more pending requests
	// Unreadable is the number of pending requests and grants that nod cannot read.
	Unreadable int
	Grants     []Grant // grants that the person may revoke, ordered by expiration
	// Decided lists closed requests that the person may read, newest first.
	Decided []Record
}

// Waiting is a pending request on the page of a person.
type Waiting struct {
	// View shows only the request.
	View View
	// Elsewhere means that the person cannot answer on this platform, because
	// its card does not show everything.
	Elsewhere bool
	// Card is the message with the request on the platform of the person. It is
	// zero if there is no such message.
	Card MessageRef
}

// Histories lists requests.
type Histories interface {
	// List returns a page of records, newest first.
	List(context.Context, ListFilter) (List, error)
}

// ShownIn reports whether a destination is one of these channels of a platform.
func (p Placement) ShownIn(platform string, channels []string) bool {
	return slices.ContainsFunc(p.Destinations, func(d Destination) bool {
		return d.Platform == platform && slices.Contains(channels, d.Channel)
	})
}

// Left returns the remaining time to answer, as text.
func (s Schedule) Left(now time.Time) string {
	d := s.Remaining(now)
	if d >= time.Minute {
		return Brief(d.Round(time.Minute))
	}
	return Brief(d)
}

// CanWait reports whether people can snooze a request or delegate it.
func (i Interaction) CanWait() bool { return i.Snooze > 0 || len(i.HandOver) > 0 }

// CommandName is the name of the chat command.
const CommandName = "nod"

// Suggester is a Sink that completes chat commands.
type Suggester interface {
	// Suggest returns up to n values for the last argument of a command. The
	// text of the command may be incomplete. Suggest offers only values that
	// the actor may see.
	Suggest(ctx context.Context, c Command, n int) ([]Suggestion, error)
}

// Suggestion is a value for an argument of a chat command.
type Suggestion struct {
	Value string
	Label string // meaning of the value, in nod's words
	Note  string // short details, such as the agent
}

// Matches reports whether the suggestion contains the text that a person typed.
func (s Suggestion) Matches(typed string) bool {
	typed = strings.ToLower(strings.TrimSpace(typed))
	return strings.Contains(strings.ToLower(s.Value+" "+s.Label+" "+s.Note), typed)
}
