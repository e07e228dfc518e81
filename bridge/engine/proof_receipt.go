package engine

import (
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// proveResponse makes the receipt of a response that decides.
func (p *prover) proveResponse(i bridge.Interaction, resp *bridge.Response, votes []bridge.Vote) error {
	if !resp.Decided() {
		return nil
	}
	r, err := proof.ReceiptOf(i, proof.Content(i), *resp, votes)
	if err != nil {
		return err
	}
	if resp.Proof, err = p.signer.Sign(proof.TypeReceipt, r); err != nil {
		return err
	}
	p.known.add(resp.Proof, string(proof.Stable(r)))
	return nil
}

// problem says why a record is not to be acted on. It is empty for one that is
// as the daemons left it.
func (p *prover) problem(r bridge.Record) string {
	content, why := p.interactionProblem(r.Interaction)
	if why != "" {
		return why
	}
	if why := p.votesProblem(r); why != "" {
		return why
	}
	if why := p.deadlineProblem(r); why != "" {
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
	return p.responseProblem(r, content)
}

func (p *prover) responseProblem(r bridge.Record, content []byte) string {
	i, resp := r.Interaction, *r.Response
	if !resp.Decided() {
		return ""
	}
	if resp.Proof == "" {
		if p.strict {
			return whyNoProof
		}
		return ""
	}
	claims, known := p.known.get(resp.Proof)
	if !known {
		got, err := p.signer.PublicKeys().VerifyReceipt(resp.Proof)
		if err != nil {
			return whyForged
		}
		claims = string(proof.Stable(got))
		p.known.add(resp.Proof, claims)
	}
	want, err := proof.ReceiptOf(i, content, resp, r.Votes)
	if err != nil || claims != string(proof.Stable(want)) || resp.Digest != i.Digest {
		return whyForged
	}
	if resp.Prepared() && resp.At.After(time.Now().Add(earlyBy)) {
		return whyForged // it is for the deadline, which has not passed
	}
	if i.ByVotes(resp) && !r.Carried() {
		return whyVotes
	}
	return ""
}

// votesProblem says why the votes of a record do not count.
func (p *prover) votesProblem(r bridge.Record) string {
	for n, v := range r.Votes {
		if slices.ContainsFunc(r.Votes[:n], func(w bridge.Vote) bool { return w.SameVoter(v) }) {
			return whyVotes // one person counts once
		}
		if v.Proof == "" && !p.strict {
			continue
		}
		if !p.knownVote(r.Interaction.ID, v) || v.State == bridge.StateApproved && v.Shown != proof.ShownHash(r.Interaction) {
			return whyVotes // it is forged, or was given under other terms
		}
	}
	return ""
}

// marked is a record with what its proof is worth: its receipt, or why it has
// none that counts.
func (p *prover) marked(r bridge.Record) bridge.Record {
	if p == nil {
		return r
	}
	r = p.delivered(r)
	if r.Unverified = p.problem(r); r.Unverified == "" && r.Response != nil {
		r.Receipt = r.Response.Proof
	}
	return r
}

// checked is a record as it may be acted on.
func (p *prover) checked(r bridge.Record) bridge.Record {
	if r = p.marked(r); r.Unverified != "" {
		return r.Distrusted()
	}
	return r
}
