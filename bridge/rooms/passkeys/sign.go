package passkeys

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/broker"
)

// SignPage is the content of the page of a ticket.
type SignPage struct {
	Ticket bridge.Ticket
	// Record is the request in the form that people see.
	Record bridge.Record
	// Options are the options for navigator.credentials.get. They are empty
	// if the person has no passkey.
	Options []byte
	// Done describes the approval that the person has signed and nod has
	// recorded. It is empty before that.
	Done string
}

// SignPath is the path of the page of a ticket, before its secret.
const SignPath = "/sign/"

const (
	noteNoProofs = "This approval needs a passkey, which this daemon does not offer. Nothing was recorded. " +
		"Ask your nod administrator to enable the web console."
	noteSign = "This approval needs your passkey. Nothing is recorded yet. Open the link within 5 minutes, " +
		"check the request, and sign it. The link is for you only."
)

// noteNoPasskey returns the note for a person who cannot sign an approval.
func noteNoPasskey(url string) string {
	return "This approval needs a passkey, and you have none. Nothing was recorded. " +
		"Sign in to the console to add one: " + strings.TrimRight(url, "/") + "/console/. You can still deny."
}

// ticketKey returns the key of a ticket. The secret is only in the link.
func ticketKey(secret string) string { return "ticket:" + bridge.HashText(secret) }

// ticketKept is the time for which the store keeps a ticket, so that nod can
// show which approval its signature recorded.
const ticketKept = 24 * time.Hour

// Decide creates a ticket for an approval without the required proof, and
// returns the verdict with the link of the ticket.
func (ps *Room) Decide(ctx context.Context, d *engine.Decision) (*bridge.Verdict, error) {
	if !d.Record.Unproven(d.Response) {
		return nil, nil //nolint:nilnil // no objection
	}
	actor, i := d.Actor, d.Record.Interaction
	refuse := func(note string) (*bridge.Verdict, error) {
		ps.engine.Journal.Refuse(ctx, i, actor, "no proof")
		return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}, nil
	}
	if ps.Ready() != nil {
		return refuse(noteNoProofs)
	}
	able, err := ps.Has(ctx, actor.Person)
	if err != nil {
		return nil, err
	}
	if !able {
		return refuse(noteNoPasskey(ps.Site.Origins()[0]))
	}
	st := passkey.NewStatement(i.StatementOf(d.Response, actor.Person))
	t := bridge.Ticket{ID: i.ID, Actor: actor, Response: d.Response, Statement: bridge.Statement(st)}
	raw, err := bridge.EncodeJSON(t)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "ticket")
	}
	secret := bridge.NewSecret()
	if _, err := ps.notes.PutNote(ctx, ticketKey(secret), string(raw), ticketKept); err != nil {
		return nil, err
	}
	return &bridge.Verdict{
		Kind: bridge.VerdictSign, Note: noteSign, Link: ps.Site.Origins()[0] + SignPath + secret,
	}, nil
}

// open returns the ticket of a secret, with its request. The request is pending,
// or has the signature of the ticket.
func (ps *Room) open(ctx context.Context, secret string) (bridge.Ticket, bridge.Record, error) {
	var t bridge.Ticket
	if ps.Ready() != nil {
		return t, bridge.Record{}, errTicket()
	}
	raw, err := ps.notes.Note(ctx, ticketKey(secret))
	if err != nil {
		return t, bridge.Record{}, err
	}
	if raw == "" || json.Unmarshal([]byte(raw), &t) != nil {
		return t, bridge.Record{}, errTicket()
	}
	rec, err := ps.records.Load(ctx, t.ID)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return t, rec, errTicket()
	case err != nil || t.Recorded(rec):
		return t, rec, err
	case !time.Now().Before(t.Expires()):
		return t, rec, errTicket()
	case rec.State.Final():
		return t, rec, bridge.Errorf(bridge.CodeConflict, "%s", words.Late(rec, t.Actor))
	case rec.Interaction.Content != t.Statement.Content:
		return t, rec, bridge.Errorf(bridge.CodeConflict, "%s", words.Changed)
	}
	return t, rec, nil
}

// SignPage returns the content of the page of a ticket. It changes nothing, so
// link previews are harmless. It returns CodeNotFound for a link that is
// invalid or expired. It returns CodeConflict if the request has closed without
// the signature, or has changed since the link was created.
func (ps *Room) SignPage(ctx context.Context, secret string) (SignPage, error) {
	t, rec, err := ps.open(ctx, secret)
	if err != nil {
		return SignPage{}, err
	}
	if t.Recorded(rec) {
		return SignPage{Ticket: t, Done: words.Recorded(rec)}, nil
	}
	out := SignPage{Ticket: t}
	if out.Record, err = ps.engine.Shown(ctx, t.ID); err != nil {
		return out, err
	}
	keys, err := ps.Of(ctx, t.Actor.Person)
	if err != nil {
		return out, err
	}
	if slices.ContainsFunc(keys, passkey.Credential.Valid) {
		if out.Options, err = ps.Site.Request(passkey.Statement(t.Statement), keys); err != nil {
			return out, err
		}
	}
	return out, nil
}

// prove checks the response of a passkey for a ticket, and adds its signature
// to the response of the person. The ticket may have been changed in the store,
// so prove checks that the statement is about the response and its input.
func (ps *Room) prove(ctx context.Context, i bridge.Interaction, t bridge.Ticket, signed json.RawMessage) (bridge.Response, error) {
	r := t.Response
	if r.ApprovedDigest = ""; len(r.Input) > 0 {
		var err error
		if r.ApprovedDigest, err = proof.Digest(i.Ask.WithInput(r.Input)); err != nil {
			return r, err
		}
	}
	if field := t.Statement.Differs(i.StatementOf(r, t.Actor.Person), time.Now()); field != "" {
		return r, bridge.Errorf(bridge.CodeForbidden, "the %s in the link differs from that of its approval", field)
	}
	keys, err := ps.Of(ctx, t.Actor.Person)
	if err != nil {
		return r, err
	}
	a, err := ps.accept(ctx, passkey.Statement(t.Statement), keys, signed)
	if err != nil {
		return r, err
	}
	r.Assurance, r.Assertion = bridge.AssurancePasskey, &a
	return r, nil
}

// Sign records the approval of a ticket with the response of a passkey, in the
// same way as a click, and returns the note for the person. A repeat returns
// the same note. It returns the errors of SignPage, and CodeForbidden for an
// invalid signature. After an error, nothing is recorded.
func (ps *Room) Sign(ctx context.Context, secret string, signed json.RawMessage) (string, error) {
	t, rec, err := ps.open(ctx, secret)
	if err != nil {
		return "", err
	}
	if t.Recorded(rec) {
		return words.Recorded(rec), nil
	}
	i := rec.Interaction
	actor, no := ps.engine.People.Eligible(ctx, i, t.Actor)
	if no.Why == "" && actor.Person != t.Actor.Person {
		no.Why = people.WhyNobody
	}
	if no.Why != "" {
		ps.engine.Journal.Refuse(ctx, i, actor, no.Why)
		return "", bridge.Errorf(no.Code(), "%s", words.Why(i, no))
	}
	r, err := ps.prove(ctx, i, t, signed)
	if err != nil {
		// Another attempt may have recorded the approval while this one waited
		// for it.
		if _, now, again := ps.open(ctx, secret); again == nil && t.Recorded(now) {
			return words.Recorded(now), nil
		}
		if c := bridge.ErrorCode(err); c == bridge.CodeForbidden || c == bridge.CodeInvalid {
			ps.engine.Journal.Refuse(ctx, i, actor, "proof not accepted")
			ps.log.Warn("proof not accepted", "id", i.ID, "person", actor.Person, "error", err)
		}
		return "", err
	}
	got, result, refusal, err := ps.engine.Conclude(ctx, actor, rec, r)
	if err != nil {
		return "", err
	}
	if refusal != nil {
		return "", bridge.Errorf(bridge.CodeConflict, "%s", refusal.Note)
	}
	switch {
	case t.Recorded(got): // even if a concurrent call recorded the same signature
		return words.Recorded(got), nil
	case result == core.BallotLate:
		return "", bridge.Errorf(bridge.CodeConflict, "%s", words.Late(got, actor))
	case result == core.BallotRepeat:
		return "", bridge.Errorf(bridge.CodeConflict, "%s", words.VotedBefore)
	}
	return words.Recorded(got), nil
}

// Also adds the condition that the key that signed an approval is not revoked.
func (ps *Room) Also(ctx context.Context, r bridge.Record) (broker.Change, error) {
	var by *bridge.Assertion
	switch votes := r.Votes; {
	case r.State != bridge.StatePending && r.State != bridge.StateApproved:
	case r.Response != nil && r.Response.Assertion != nil:
		by = r.Response.Assertion
	case len(votes) > 0: // the newest vote
		by = votes[len(votes)-1].Assertion
	}
	if by == nil {
		return broker.Change{}, nil
	}
	c, err := ps.store.unrevoked(ctx, by.Credential)
	return c, documents.Public(err)
}

func errTicket() error {
	return bridge.Errorf(bridge.CodeNotFound, "this link is not valid: it has expired, or its request is gone; nothing was recorded with it").
		WithHint("look at the card: if the request is still open, approve it again to get a new link")
}
