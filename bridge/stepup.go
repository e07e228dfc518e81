package bridge

import (
	"cmp"
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

// Statement is a decision that a person signs with a passkey. All fields are
// required.
type Statement struct {
	Version int    `json:"version"` // StatementVersion
	Nonce   string `json:"nonce"`   // unpadded base64url of 32 random bytes
	Request string `json:"request"` // the ID of the request
	// Payload is the digest of the approved content: the request digest, or the
	// digest with the edited input. Receipts contain the same digest.
	Payload string `json:"payload"`
	// Content is the hash of what the person saw. Receipts contain the same
	// hash.
	Content  string `json:"content"`
	Decision string `json:"decision"` // such as "approved"
	Scope    string `json:"scope"`    // such as "once"
	Person   string `json:"person"`   // the name of the person in the config
	// At is the time at which the person was asked to sign, in RFC 3339. The
	// decision follows within TicketTTL.
	At string `json:"at"`
}

// StatementVersion is the version of the statements that this release creates.
const StatementVersion = 1

// StatementOf returns the statement that a person signs to give a response,
// without the nonce and the time. The page shows it. nod compares a decision
// with it before it records the decision, and whenever it verifies the
// decision.
func (i Interaction) StatementOf(r Response, person string) Statement {
	return Statement{
		Version: StatementVersion, Request: string(i.ID), Payload: cmp.Or(r.ApprovedDigest, i.Digest), Content: i.Content,
		Decision: string(r.State), Scope: string(r.Scope), Person: person,
	}
}

// Differs returns the name of the first field in which the statement differs
// from a decision that was made at the given time. It returns "" if the
// statement is about this decision.
func (s Statement) Differs(made Statement, at time.Time) string {
	for _, f := range []struct{ name, signed, made string }{
		{"request", s.Request, made.Request}, {"payload", s.Payload, made.Payload}, {"content", s.Content, made.Content},
		{"decision", s.Decision, made.Decision}, {"scope", s.Scope, made.Scope}, {"person", s.Person, made.Person},
	} {
		if f.signed != f.made {
			return f.name
		}
	}
	if asked, err := time.Parse(time.RFC3339, s.At); err != nil || at.Before(asked.Add(-statementSkew)) || at.After(asked.Add(TicketTTL+statementSkew)) {
		return "time"
	}
	return ""
}

// statementSkew is the maximum difference between the clocks of the daemon that
// asks for a signature and the one that records the decision.
const statementSkew = 2 * time.Minute

// Assertion is a statement with a person's signature. Binary fields are
// unpadded base64url, as the browser returns them. Package bridge/passkey
// creates and verifies assertions.
type Assertion struct {
	Statement         Statement `json:"statement"`
	Credential        string    `json:"credential"`  // the ID of the key
	ClientData        string    `json:"client_data"` // the JSON text that the browser wrote
	AuthenticatorData string    `json:"authenticator_data"`
	Signature         string    `json:"signature"`
	RPID              string    `json:"rp_id"`  // the host name that the key belongs to
	Origin            string    `json:"origin"` // the origin of the page
}
