package bridge

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Assurance is the kind of proof that a person gave for an approval, in
// addition to the account that the platform authenticated. It is empty without
// an additional proof. A required assurance applies to every approval. Denials
// never need a proof.
type Assurance string

// AssurancePasskey is an approval that the person signed with a passkey.
const AssurancePasskey Assurance = "passkey"

// With returns the words that follow the name of a person who approved with
// this assurance. They start with a space. Without an assurance, With returns
// "".
func (a Assurance) With() string {
	if a == "" {
		return ""
	}
	return " with a " + string(a)
}

// Accepts reports whether an approval with an assurance satisfies the required
// one.
func (a Assurance) Accepts(given Assurance) bool { return a == "" || a == given }

// Unassured reports whether a response approves an interaction without the
// required assurance. The response of a grant is not a person's approval of
// this interaction, so the assurance of the grant counts. A rule that allows
// the request asks no one.
func (i Interaction) Unassured(r Response) bool {
	ruled := r.Rule != "" && r.Actor == nil
	return r.State == StateApproved && r.Grant == "" && !ruled && !i.StepUp.Accepts(r.Assurance)
}

// Unproven reports whether a response approves a pending record without the
// required assurance.
func (r Record) Unproven(resp Response) bool {
	return !r.State.Final() && r.Interaction.Unassured(resp)
}

// codeLetters are the letters and digits that people do not confuse.
const codeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// SignCode returns a code of six characters. It is on the card and on the page
// where people prove their approval, so that they can compare the two. The code
// only helps people read: the proof itself covers the complete content.
func (i Interaction) SignCode() string {
	sum := sha256.Sum256([]byte("sign " + i.Content))
	var b strings.Builder
	for n, c := range sum[:6] {
		if n == 3 {
			b.WriteByte(' ')
		}
		b.WriteByte(codeLetters[int(c)%len(codeLetters)])
	}
	return b.String()
}

// TicketTTL is the time for which a ticket is valid.
const TicketTTL = 5 * time.Minute

// Ticket is an approval of a person that waits for a proof. Only the person
// receives the link with its secret.
type Ticket struct {
	ID    ID    `json:"id"`
	Actor Actor `json:"actor"` // with Person
	// Response is the approval that the person gave.
	Response Response `json:"response"`
	// Statement is the text that a passkey signs. Its content is the text that
	// the person saw.
	Statement Statement `json:"statement"`
}

// Expires returns the end of the ticket.
func (t Ticket) Expires() time.Time {
	at, _ := time.Parse(time.RFC3339, t.Statement.At) // a ticket without a time has expired
	return at.Add(TicketTTL)
}

// Recorded reports whether a record has the signature of the ticket, as its
// decision or as a vote.
func (t Ticket) Recorded(r Record) bool {
	signed := func(a *Assertion) bool { return a != nil && a.Statement == t.Statement }
	return r.Response != nil && signed(r.Response.Assertion) ||
		slices.ContainsFunc(r.Votes, func(v Vote) bool { return signed(v.Assertion) })
}

// AssuredVoters returns the names of the people who approved, each followed by
// the words for its assurance.
func (r Record) AssuredVoters(s State) []string {
	var names []string
	for _, v := range r.Votes {
		if v.State == s {
			names = append(names, v.Actor.Display()+v.Assurance.With())
		}
	}
	return names
}
