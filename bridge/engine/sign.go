package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/proof"
)

// SignPage holds the content of the page of a ticket.
type SignPage struct {
	Ticket bridge.Ticket
	// Record is the request in the form that people see.
	Record bridge.Record
	// Options are the options for navigator.credentials.get. They are empty
	// if the person has no passkey.
	Options []byte
}

// SignPath is the path of the page of a ticket, before its secret.
const SignPath = "/sign/"

// signer makes tickets for approvals that require a proof, and checks the
// proofs.
type signer struct {
	keys    *Passkeys
	notes   bridge.Notes
	records bridge.Records
	people  *People
	reader  *reader
	journal *journal
	log     *slog.Logger
}

// ticketKey returns the key of a ticket. The secret is only in the link.
func ticketKey(secret string) string { return "ticket:" + hashedText(secret) }

// usedKey returns the key that marks a signature as used.
func usedKey(signature string) string { return "signed:" + hashedText(signature) }

// ask makes a ticket for an approval, and returns the verdict with its link.
func (s *signer) ask(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (*bridge.Verdict, error) {
	i := rec.Interaction
	refuse := func(note string) (*bridge.Verdict, error) {
		s.journal.refuse(ctx, i, actor, "no proof")
		return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}, nil
	}
	if s.keys.Ready() != nil {
		return refuse(noteNoProofs)
	}
	able, err := s.keys.Has(ctx, actor.Person)
	if err != nil {
		return nil, err
	}
	if !able {
		return refuse(noteNoPasskey(s.keys.Site.Origins()[0]))
	}
	payload := i.Digest
	if r.ApprovedDigest != "" {
		payload = r.ApprovedDigest
	}
	st := passkey.NewStatement(string(i.ID), payload, string(r.State), string(r.Scope), actor.Person)
	t := bridge.Ticket{
		ID: i.ID, Actor: actor, Response: r, Shown: proof.ShownHash(i), Statement: bridge.Statement(st),
		Expires: time.Now().UTC().Add(bridge.TicketTTL),
	}
	raw, err := bridge.EncodeJSON(t)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "ticket")
	}
	secret := newSecret()
	if _, err := s.notes.PutNote(ctx, ticketKey(secret), string(raw), bridge.TicketTTL); err != nil {
		return nil, err
	}
	return &bridge.Verdict{
		Kind: bridge.VerdictSign, Note: noteSign, Link: s.keys.Site.Origins()[0] + SignPath + secret,
	}, nil
}

// open returns the ticket of a secret, with its pending request.
func (s *signer) open(ctx context.Context, secret string) (bridge.Ticket, bridge.Record, error) {
	var t bridge.Ticket
	if s.keys.Ready() != nil {
		return t, bridge.Record{}, errTicket()
	}
	raw, err := s.notes.Note(ctx, ticketKey(secret))
	if err != nil {
		return t, bridge.Record{}, err
	}
	if raw == "" || json.Unmarshal([]byte(raw), &t) != nil || !time.Now().Before(t.Expires) {
		return t, bridge.Record{}, errTicket()
	}
	rec, err := s.records.Load(ctx, t.ID)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return t, rec, errTicket()
	case err != nil:
		return t, rec, err
	case rec.State.Final():
		return t, rec, bridge.Errorf(bridge.CodeConflict, "%s", noteLate(rec, t.Actor))
	case proof.ShownHash(rec.Interaction) != t.Shown:
		return t, rec, bridge.Errorf(bridge.CodeConflict, "%s", noteChanged)
	}
	return t, rec, nil
}

// page implements Engine.SignPage.
func (s *signer) page(ctx context.Context, secret string) (SignPage, error) {
	t, _, err := s.open(ctx, secret)
	if err != nil {
		return SignPage{}, err
	}
	out := SignPage{Ticket: t}
	if out.Record, err = s.reader.shown(ctx, t.ID); err != nil {
		return out, err
	}
	keys, err := s.keys.Of(ctx, t.Actor.Person)
	if err != nil {
		return out, err
	}
	if slices.ContainsFunc(keys, passkey.Credential.Valid) {
		if out.Options, err = s.keys.Site.Request(passkey.Statement(t.Statement), keys); err != nil {
			return out, err
		}
	}
	return out, nil
}

// prove checks the response of a passkey for a ticket, and adds its signature to
// the response of the person.
func (s *signer) prove(ctx context.Context, t bridge.Ticket, signed json.RawMessage) (bridge.Response, error) {
	r := t.Response
	keys, err := s.keys.Of(ctx, t.Actor.Person)
	if err != nil {
		return r, err
	}
	a, used, err := s.keys.Site.Check(passkey.Statement(t.Statement), keys, signed)
	if err != nil {
		return r, err
	}
	if err := s.once(ctx, a.Signature); err != nil {
		return r, err
	}
	if err := s.keys.Use(ctx, used); err != nil {
		return r, err
	}
	r.Assurance, r.Assertion = bridge.AssurancePasskey, &a
	return r, nil
}

// once returns CodeForbidden if a signature was used before. Synchronized
// passkeys have no counter that would show it.
func (s *signer) once(ctx context.Context, signature string) error {
	first, err := claim(ctx, s.notes, usedKey(signature), 2*bridge.TicketTTL)
	if err == nil && !first {
		err = bridge.Errorf(bridge.CodeForbidden, "this signature was already used; nothing was recorded").
			WithHint("sign again")
	}
	return err
}

// sign implements Engine.Sign.
func (cl *clicks) sign(ctx context.Context, secret string, signed json.RawMessage) (string, error) {
	s := cl.settler.signer
	t, rec, err := s.open(ctx, secret)
	if err != nil {
		return "", err
	}
	i := rec.Interaction
	actor, no := cl.people.eligible(ctx, i, t.Actor)
	if no.why == "" && actor.Person != t.Actor.Person {
		no.why = whyNobody
	}
	if no.why != "" {
		cl.journal.refuse(ctx, i, actor, no.why)
		return "", bridge.Errorf(no.code(), "%s", noteWhy(i, no))
	}
	r, err := s.prove(ctx, t, signed)
	if err != nil {
		if c := bridge.ErrorCode(err); c == bridge.CodeForbidden || c == bridge.CodeInvalid {
			cl.journal.refuse(ctx, i, actor, "proof not accepted")
			cl.log.Warn("proof not accepted", "id", i.ID, "person", actor.Person, "error", err)
		}
		return "", err
	}
	got, result, refusal, err := cl.settler.conclude(ctx, actor, rec, r)
	if err != nil {
		return "", err
	}
	if refusal != nil {
		return "", bridge.Errorf(bridge.CodeConflict, "%s", refusal.Note)
	}
	if err := s.notes.DropNote(ctx, ticketKey(secret)); err != nil {
		cl.log.Warn("ticket not removed, it will expire", "id", i.ID, "error", err)
	}
	switch result {
	case bridge.BallotLate:
		return "", bridge.Errorf(bridge.CodeConflict, "%s", noteLate(got, actor))
	case bridge.BallotRepeat:
		return "", bridge.Errorf(bridge.CodeConflict, "%s", noteVotedBefore)
	}
	return noteRecorded(got), nil
}

func errTicket() error {
	const why = "it was used, it has expired, or its request is gone"
	return bridge.Errorf(bridge.CodeNotFound, "this link is not valid: %s; nothing was recorded", why).
		WithHint("approve the request again to get a new link")
}
