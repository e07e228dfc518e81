package bridge

import (
	"cmp"
	"time"
)

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
