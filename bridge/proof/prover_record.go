package proof

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// ProveResponse adds the receipt to a response that is a decision. It returns
// CodeForbidden if a person signed another decision.
func (p *Prover) ProveResponse(i bridge.Interaction, resp *bridge.Response, votes []bridge.Vote) error {
	if !resp.Decided() {
		return nil
	}
	r, err := receiptOf(i, *resp, votes)
	if err == nil {
		err = r.checkSigned()
	}
	if err != nil {
		return err
	}
	err = bridge.UseMarshaled(&r, func(claims []byte) {
		resp.Proof = p.signer.signText(typeReceipt, claims)
		p.known.Add(resp.Proof, string(stabilized(claims)))
	})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	return nil
}

// ProveDecision adds the receipt to a response, like ProveResponse, if the
// interaction verifies. Otherwise it returns the reason why it does not, and
// leaves the response unchanged.
func (p *Prover) ProveDecision(i bridge.Interaction, resp *bridge.Response) (why string, err error) {
	if why = p.InteractionProblem(i); why != "" {
		return why, nil
	}
	return "", p.ProveResponse(i, resp, nil)
}

// problem returns the reason why a record does not verify. It returns "" if the
// record is as daemons stored it.
func (p *Prover) problem(r bridge.Record) string {
	if why := p.InteractionProblem(r.Interaction); why != "" {
		return why
	}
	if why := p.votesProblem(r); why != "" {
		return why
	}
	if !r.State.Final() {
		if r.Response != nil || r.State != bridge.StatePending {
			return whyForged
		}
		return ""
	}
	if r.Response == nil || r.Response.State != r.State {
		return whyForged
	}
	return p.responseProblem(r)
}

func (p *Prover) responseProblem(r bridge.Record) string {
	i, resp := r.Interaction, *r.Response
	if !resp.Decided() {
		return ""
	}
	if resp.Proof == "" {
		return whyNoProof
	}
	claims, known := p.known.Get(resp.Proof)
	if !known {
		var err error
		if claims, err = p.learn(resp.Proof); err != nil {
			return whyForged
		}
	}
	want, err := receiptOf(i, resp, r.Votes)
	same := false
	useStable(&want, func(text []byte) { same = claims == string(text) })
	if err != nil || !same || resp.Digest != i.Digest {
		return whyForged
	}
	if resp.Prepared() && resp.At.After(time.Now().Add(earlyBy)) {
		return whyForged // the response is for the deadline, which has not passed
	}
	if i.ByVotes(resp) && !r.Carried() {
		return whyVotes
	}
	return ""
}

// learn verifies a receipt of another process, and remembers its claims.
func (p *Prover) learn(token string) (claims string, err error) {
	got, err := p.signer.PublicKeys().VerifyReceipt(token)
	if err != nil {
		return "", err
	}
	claims = string(Stable(got))
	p.known.Add(token, claims)
	return claims, nil
}

// receipt is JWKS.VerifyReceipt, which checks each signature only once.
func (p *Prover) receipt(token string) (r Receipt, err error) {
	claims, known := p.known.Get(token)
	if !known {
		if claims, err = p.learn(token); err != nil {
			return r, err
		}
	}
	return r, json.Unmarshal([]byte(claims), &r)
}

// votesProblem returns the reason why the votes of a record do not count. It
// returns "" if they do.
func (p *Prover) votesProblem(r bridge.Record) string {
	for n, v := range r.Votes {
		if slices.ContainsFunc(r.Votes[:n], func(w bridge.Vote) bool { return w.SameVoter(v) }) {
			return whyVotes // one person has one vote
		}
		if !p.AcceptsVote(r.Interaction.ID, v) || v.State == bridge.StateApproved && v.Content != r.Interaction.Content {
			return whyVotes // the vote is forged, or was given under other terms
		}
	}
	return ""
}

// Marked returns a record with its receipt if it verifies, and otherwise with
// the reason in Unverified. A reason that the store has found stays.
func (p *Prover) Marked(r bridge.Record) bridge.Record {
	if p == nil {
		return r
	}
	if r.Unverified == "" {
		r.Unverified = p.problem(r)
	}
	if r.Unverified == "" && r.Response != nil {
		resp := *r.Response
		r.Receipt, resp.Proof = resp.Proof, "" // callers get it once
		r.Response = &resp
	}
	return r
}

// Checked returns a record in the form that callers may act on. A record that
// does not verify is returned as closed without a decision.
func (p *Prover) Checked(r bridge.Record) bridge.Record {
	if r = p.Marked(r); r.Unverified != "" {
		return r.Distrusted()
	}
	return r
}
