package bridge

import (
	"slices"
	"time"
)

// decided reports whether a response says that someone, or a rule, decided:
// such a response has a receipt. An end without a decision has none.
func (r Response) decided() bool {
	return r.State.Decided() || r.Actor != nil || len(r.Answers) > 0
}

// receiptOf returns the claims about a response to an interaction, whose
// content is given.
func receiptOf(i Interaction, content []byte, resp Response, votes []Vote) (Receipt, error) {
	out := Receipt{
		ID: i.ID, Kind: i.Kind, Agent: i.Agent, Session: i.Session, Route: i.Route, Digest: i.Digest, State: resp.State, Scope: resp.Scope,
		ApprovedDigest: resp.ApprovedDigest, Reason: resp.Reason, Actor: resp.Actor, At: resp.At, Rule: i.Rule, Risk: i.Risk,
		Message: resp.Message, Content: contentHash(content), Permits: resp.Covers, Grant: resp.Grant, Stop: resp.Stop, Quorum: i.Quorum, Policy: resp.Rule,
	}
	if i.byVotes(resp) {
		out.Votes = votes
	}
	var err error
	if len(resp.Answers) > 0 {
		if out.Answers, err = looseDigest(resp.Answers); err != nil {
			return out, err
		}
	}
	if len(resp.Annotations) > 0 {
		if out.Annotations, err = looseDigest(resp.Annotations); err != nil {
			return out, err
		}
	}
	if len(resp.Input) > 0 {
		out.Input, err = looseDigest(resp.Input)
	}
	return out, err
}

// byVotes reports whether a response is the result of votes. A rule or a grant
// can end a request on which people have voted, and their votes are then no
// part of the decision.
func (i Interaction) byVotes(resp Response) bool {
	return i.counted() && resp.Actor != nil && resp.Grant == ""
}

// proveResponse makes the receipt of a response that decides.
func (p *prover) proveResponse(i Interaction, resp *Response, votes []Vote) error {
	if !resp.decided() {
		return nil
	}
	r, err := receiptOf(i, i.content(), *resp, votes)
	if err != nil {
		return err
	}
	if resp.Proof, err = p.signer.sign(typeReceipt, r); err != nil {
		return err
	}
	p.known.add(resp.Proof, string(stable(r)))
	return nil
}

// problem says why a record is not to be acted on. It is empty for one that is
// as the daemons left it.
func (p *prover) problem(r Record) string {
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
		if r.Response != nil || r.State != StatePending {
			return whyForged
		}
		return ""
	}
	if r.Response == nil || r.Response.State != r.State {
		return whyForged
	}
	return p.responseProblem(r, content)
}

func (p *prover) responseProblem(r Record, content []byte) string {
	i, resp := r.Interaction, *r.Response
	if !resp.decided() {
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
		claims = string(stable(got))
		p.known.add(resp.Proof, claims)
	}
	want, err := receiptOf(i, content, resp, r.Votes)
	if err != nil || claims != string(stable(want)) || resp.Digest != i.Digest {
		return whyForged
	}
	if resp.prepared() && resp.At.After(time.Now().Add(earlyBy)) {
		return whyForged // it is for the deadline, which has not passed
	}
	if i.byVotes(resp) && !r.carried() {
		return whyVotes
	}
	return ""
}

// prepared reports whether the response was made when the interaction was
// opened, for its deadline.
func (r Response) prepared() bool { return r.Actor == nil && r.Rule == "" && r.Grant == "" }

// votesProblem says why the votes of a record do not count.
func (p *prover) votesProblem(r Record) string {
	for n, v := range r.Votes {
		if slices.ContainsFunc(r.Votes[:n], func(w Vote) bool { return w.sameVoter(v) }) {
			return whyVotes // one person counts once
		}
		if v.Proof == "" && !p.strict {
			continue
		}
		if !p.knownVote(r.Interaction.ID, v) || v.State == StateApproved && v.Shown != r.Interaction.shownHash() {
			return whyVotes // it is forged, or was given under other terms
		}
	}
	return ""
}

// carried reports whether the votes of a record are enough for its response.
func (r Record) carried() bool {
	return r.enough(r.Response.State) && (r.State != StateApproved || !slices.ContainsFunc(r.Votes, func(v Vote) bool {
		return v.State == StateApproved && scopeOrder(v.Scope) < scopeOrder(r.Response.Scope)
	}))
}

// enough reports whether the votes of a record suffice to end it in a state.
func (r Record) enough(s State) bool {
	if s == StateApproved {
		return r.Missing() == ""
	}
	no := len(r.Voters(StateDenied))
	return no > 0 && (!r.Interaction.DenyCounts || no >= r.Interaction.needs())
}

// distrusted is a record that is not acted on, as everything but a plain look
// at it sees it: ended without a decision, for the reason.
func (r Record) distrusted() Record {
	at := r.Interaction.Created
	if r.Response != nil {
		at = r.Response.At
	}
	r.State, r.Votes, r.Receipt, r.Completion, r.Interaction.CompletedView = StateUndeliverable, nil, "", nil, nil
	r.Response = &Response{State: StateUndeliverable, Reason: r.Unverified, Annotations: map[string]Annotation{}, At: at, Digest: r.Interaction.Digest}
	return r
}

// marked is a record with what its proof is worth: its receipt, or why it has
// none that counts.
func (p *prover) marked(r Record) Record {
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
func (p *prover) checked(r Record) Record {
	if r = p.marked(r); r.Unverified != "" {
		return r.distrusted()
	}
	return r
}

// trusted is the error of a record that is not to be acted on.
func (r Record) trusted() error {
	if r.Unverified == "" {
		return nil
	}
	return Errorf(CodeForbidden, "interaction %s is not verified: %s", r.Interaction.ID, r.Unverified).
		WithHint("ask again; see what is stored with: nod show %s", r.Interaction.ID)
}

// memberOf is a record that the messages of r show, by what Redis says: one
// that asked to share them, of the same agent, session and route. Any other is
// not decided there.
func (r Record) memberOf(m Record) Record {
	a, b := r.Interaction, m.Interaction
	if m.State.Final() || a.Agent == b.Agent && a.Session == b.Session && a.Route == b.Route && a.Batch > 0 && b.Batch > 0 {
		return m
	}
	m.Unverified = whyAltered
	return m.distrusted()
}
