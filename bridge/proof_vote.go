package bridge

import (
	"context"
	"slices"
)

// voteTries bounds how often a vote is counted again because another vote came
// first. Each try that fails means that another vote was counted.
const voteTries = 256

// sameVoter reports whether two votes are of one human or of one account, which
// count once.
func (v Vote) sameVoter(w Vote) bool {
	a, b := v.Actor, w.Actor
	return a.Voter() == b.Voter() || a.Platform == b.Platform && a.User == b.User
}

// shownHash identifies what people are shown of an interaction, and under which
// terms. It does not depend on the people who are asked.
func (i Interaction) shownHash() string {
	return contentHash(stable(struct {
		Terms               int
		Prompt, Error, Risk string
		Approval            *Approval
	}{i.Terms, i.Prompt, i.Error, i.Risk, i.Approval}))
}

func (v Vote) proofBytes() []byte {
	v.Proof = ""
	return stable(v)
}

func (p *prover) proveVote(id ID, v *Vote) {
	v.Proof = p.signer.detached(domainVote, []byte(id), v.proofBytes())
	p.known.add(v.Proof, string(id)+string(v.proofBytes()))
}

// knownVote reports whether a vote on an interaction was signed by a daemon.
func (p *prover) knownVote(id ID, v Vote) bool {
	text := v.proofBytes()
	if known, ok := p.known.get(v.Proof); ok {
		return known == string(id)+string(text)
	}
	if !p.signer.PublicKeys().detachedIs(v.Proof, domainVote, []byte(id), text) {
		return false
	}
	p.known.add(v.Proof, string(id)+string(text))
	return true
}

// Vote implements Records. It counts the votes that are proven, signs the
// decision only if this vote decides, and has the store take it only if no
// other vote came first: what is signed is what is stored.
func (s provenStore) Vote(ctx context.Context, b Ballot) (Record, BallotResult, error) {
	b.Vote.Covers = b.Covers
	s.p.proveVote(b.ID, &b.Vote)
	for range voteTries {
		rec, err := s.Load(ctx, b.ID)
		if err != nil || rec.Unverified != "" {
			return rec, BallotLate, err
		}
		try := b
		try.Revision = rec.Revision
		if !rec.State.Final() {
			after := rec
			after.Votes = append(slices.DeleteFunc(slices.Clone(rec.Votes), func(v Vote) bool { return v.sameVoter(b.Vote) }), b.Vote)
			if err := s.proveCount(after, &try.Response); err != nil {
				return rec, "", err
			}
		}
		got, result, err := s.Store.Vote(ctx, try)
		if err == nil && result == BallotChanged {
			continue
		}
		return s.p.checked(got), result, err
	}
	return Record{}, "", Errorf(CodeUnavailable, "the votes on interaction %s keep changing", b.ID).WithHint("click again")
}

// proveCount signs the response of a vote that decides, as far-reaching as the
// narrowest approval.
func (s provenStore) proveCount(after Record, resp *Response) error {
	if !after.enough(resp.State) {
		return nil
	}
	if resp.State == StateApproved {
		for _, v := range after.Votes {
			if v.State == StateApproved && scopeOrder(v.Scope) < scopeOrder(resp.Scope) {
				resp.Scope, resp.Covers = v.Scope, after.Interaction.Coverage(v.Scope)
			}
		}
	}
	return s.p.proveResponse(after.Interaction, resp, after.Votes)
}
