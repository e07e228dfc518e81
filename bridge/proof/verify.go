package proof

import (
	"bytes"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// VerifyRecord checks a record with public keys only: its receipt must be
// valid, and must agree with the record about the request and the decision. The
// error contains the field that differs.
//
// It does not check fields that are not part of the decision: messages and
// failures, delivery and waiting times, people who were added (destinations,
// responders, groups, called), completion, and counters.
func (set *JWKS) VerifyRecord(r bridge.Record) (Receipt, error) {
	if r.Receipt == "" {
		return Receipt{}, bridge.Errorf(bridge.CodeInvalid, "receipt: the record has none, because it ended without a decision")
	}
	got, err := set.receipt(r.Receipt)
	if err != nil {
		return got, err
	}
	if r.Response == nil {
		return got, bridge.Errorf(bridge.CodeForbidden, "response: missing, although the receipt has one")
	}
	i := r.Interaction
	if i.Content, err = Content(i); err != nil {
		return got, err
	}
	want, err := receiptOf(i, *r.Response, r.Votes)
	if err != nil {
		return got, err
	}
	if field := got.differs(want); field != "" {
		return got, bridge.Errorf(bridge.CodeForbidden, "%s: the record differs from its receipt", field)
	}
	if r.State != got.State || r.Response.Digest != got.Digest {
		return got, bridge.Errorf(bridge.CodeForbidden, "state: the record differs from its receipt")
	}
	if r.Interaction.Content != got.Content {
		return got, bridge.Errorf(bridge.CodeForbidden, "content: the record differs from its receipt")
	}
	return got, digestIs(i, got.Digest, r.Response)
}

// digestIs recomputes the digests from an interaction. A redacted interaction
// no longer has the text that the digest covers, so only its Content is
// compared.
func digestIs(i bridge.Interaction, digest string, resp *bridge.Response) error {
	if i.Redacted > 0 {
		return nil
	}
	now, err := Digest(i.Ask)
	if err != nil {
		return err
	}
	if now != digest || i.Digest != digest {
		return bridge.Errorf(bridge.CodeForbidden, "digest: the prompt, input or questions of the record differ from its receipt")
	}
	if len(resp.Input) == 0 || i.Approval == nil {
		return nil
	}
	if now, err = Digest(i.Ask.WithInput(resp.Input)); err == nil && now != resp.ApprovedDigest {
		err = bridge.Errorf(bridge.CodeForbidden, "response.input: differs from the approved input")
	}
	return err
}

// differs returns the name of the first claim that differs between two
// receipts. It returns "" if they are equal.
func (r Receipt) differs(want Receipt) string {
	if bytes.Equal(Stable(r), Stable(want)) {
		return ""
	}
	for _, c := range []struct {
		name string
		a, b any
	}{
		{"id", r.ID, want.ID}, {"agent", r.Agent, want.Agent}, {"state", r.State, want.State}, {"scope", r.Scope, want.Scope},
		{"actor", r.Actor, want.Actor}, {"at", r.At, want.At}, {"reason", r.Reason, want.Reason}, {"answers", r.Answers, want.Answers},
		{"input", r.Input, want.Input}, {"votes", r.Votes, want.Votes}, {"message", r.Message, want.Message}, {"covers", r.Permits, want.Permits},
		{"assurance", r.Assurance, want.Assurance}, {"assertion", r.Assertion, want.Assertion},
		{"interaction", r.Content, want.Content},
	} {
		if !bytes.Equal(Stable(c.a), Stable(c.b)) {
			return c.name
		}
	}
	return "response"
}

// VerifyAnswer checks that a record from a daemon is the answer to a request:
// its receipt must be valid, and must agree with the record about exactly that
// request. A nil set does not check the signature.
func (set *JWKS) VerifyAnswer(rec bridge.Record, req bridge.Request) error {
	receipt, err := set.VerifyRecord(rec)
	if err != nil {
		return err
	}
	var input []byte
	if rec.Response != nil {
		input = rec.Response.Input
	}
	return receipt.Covers(req, slices.Clone(input))
}
