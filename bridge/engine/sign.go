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
	// Done describes the approval that the person has signed and nod has
	// recorded. It is empty before that.
	Done string
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

// ticketKept is the time for which the store keeps a ticket, so that nod can say
// what its signature recorded.
const ticketKept = 24 * time.Hour

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
	st := passkey.NewStatement(i.StatementOf(r, actor.Person))
	t := bridge.Ticket{ID: i.ID, Actor: actor, Response: r, Statement: bridge.Statement(st)}
	raw, err := bridge.EncodeJSON(t)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "ticket")
	}
	secret := newSecret()
	if _, err := s.notes.PutNote(ctx, ticketKey(secret), string(raw), ticketKept); err != nil {
		return nil, err
	}
	return &bridge.Verdict{
		Kind: bridge.VerdictSign, Note: noteSign, Link: s.keys.Site.Origins()[0] + SignPath + secret,
	}, nil
}

// open returns the ticket of a secret, with its request. The request is pending,
// or has the signature of the ticket.
func (s *signer) open(ctx context.Context, secret string) (bridge.Ticket, bridge.Record, error) {
	var t bridge.Ticket
	if s.keys.Ready() != nil {
		return t, bridge.Record{}, errTicket()
	}
	raw, err := s.notes.Note(ctx, ticketKey(secret))
	if err != nil {
		return t, bridge.Record{}, err
	}
	if raw == "" || json.Unmarshal([]byte(raw), &t) != nil {
		return t, bridge.Record{}, errTicket()
	}
	rec, err := s.records.Load(ctx, t.ID)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return t, rec, errTicket()
	case err != nil || t.Recorded(rec):
		return t, rec, err
	case !time.Now().Before(t.Expires()):
		return t, rec, errTicket()
	case rec.State.Final():
		return t, rec, bridge.Errorf(bridge.CodeConflict, "%s", noteLate(rec, t.Actor))
	case rec.Interaction.Content != t.Statement.Content:
		return t, rec, bridge.Errorf(bridge.CodeConflict, "%s", noteChanged)
	}
	return t, rec, nil
}

// page implements Engine.SignPage.
func (s *signer) page(ctx context.Context, secret string) (SignPage, error) {
	t, rec, err := s.open(ctx, secret)
	if err != nil {
		return SignPage{}, err
	}
	if t.Recorded(rec) {
		return SignPage{Ticket: t, Done: noteRecorded(rec)}, nil
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
// the response of the person. The ticket may have been changed in the store, so
// the statement must be about the response, and its input.
func (s *signer) prove(ctx context.Context, i bridge.Interaction, t bridge.Ticket, signed json.RawMessage) (bridge.Response, error) {
	r := t.Response
	if r.ApprovedDigest = ""; len(r.Input) > 0 {
		var err error
		if r.ApprovedDigest, err = proof.ApprovedDigest(i, r.Input); err != nil {
			return r, err
		}
	}
	if field := t.Statement.Differs(i.StatementOf(r, t.Actor.Person), time.Now()); field != "" {
		return r, bridge.Errorf(bridge.CodeForbidden, "the link is for another %s than its approval", field)
	}
	keys, err := s.keys.Of(ctx, t.Actor.Person)
	if err != nil {
		return r, err
	}
	a, err := s.keys.accept(ctx, passkey.Statement(t.Statement), keys, signed)
	if err != nil {
		return r, err
	}
	r.Assurance, r.Assertion = bridge.AssurancePasskey, &a
	return r, nil
}

// sign implements Engine.Sign.
func (cl *clicks) sign(ctx context.Context, secret string, signed json.RawMessage) (string, error) {
	s := cl.settler.signer
	t, rec, err := s.open(ctx, secret)
	if err != nil {
		return "", err
	}
	if t.Recorded(rec) {
		return noteRecorded(rec), nil
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
	r, err := s.prove(ctx, i, t, signed)
	if err != nil {
		// The first try may have been recorded while this one waited for it.
		if _, now, again := s.open(ctx, secret); again == nil && t.Recorded(now) {
			return noteRecorded(now), nil
		}
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
	switch {
	case t.Recorded(got): // also by the same signature, at the same time
		return noteRecorded(got), nil
	case result == bridge.BallotLate:
		return "", bridge.Errorf(bridge.CodeConflict, "%s", noteLate(got, actor))
	case result == bridge.BallotRepeat:
		return "", bridge.Errorf(bridge.CodeConflict, "%s", noteVotedBefore)
	}
	return noteRecorded(got), nil
}

func errTicket() error {
	return bridge.Errorf(bridge.CodeNotFound, "this link is not valid: it has expired, or its request is gone; nothing was recorded with it").
		WithHint("look at the card: if the request is still open, approve it again to get a new link")
}
