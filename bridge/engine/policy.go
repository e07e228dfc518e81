package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/tell"
)

// judge applies the policy.
type judge struct {
	version string
	policy  bridge.Policy
}

// rule applies the policy to a request for an approval.
func (j *judge) rule(agent bridge.Agent, r *bridge.Request) bridge.Ruling {
	if r.Approval == nil || j.policy == nil {
		return bridge.Ruling{Effect: bridge.EffectAsk}
	}
	a := *r.Approval
	ruling := j.policy.Judge(act(agent, *r))
	if ruling.Effect != bridge.EffectAsk {
		return ruling
	}
	if ruling.Timeout != 0 {
		r.Timeout = ruling.Timeout
	}
	if ruling.OnTimeout != "" {
		r.OnTimeout = ruling.OnTimeout
	}
	if len(ruling.Scopes) > 0 {
		a.Limit(ruling.Scopes)
	}
	if ruling.Confirm != "" {
		a.Confirm = ruling.Confirm
	}
	if a.Confirm != "" || len(ruling.Redact) > 0 {
		a.WithoutEdit()
	}
	r.Approval = &a
	return ruling
}

// act returns the operation of a request for an approval.
func act(agent bridge.Agent, r bridge.Request) bridge.Act {
	a := r.Approval
	return bridge.Act{Agent: agent.Name, Tool: a.Tool, Input: a.Input, Where: a.Where, Gate: r.Gate, Doubts: r.Doubts}
}

// Review is the result of evaluating a pending request again under the current
// config.
type Review struct {
	Ruling bridge.Ruling
	// Now is the interaction that nod would open at the time of the review.
	Now bridge.Interaction
	// Denied is the response that closes the request. It is nil unless the policy
	// denies the request, or cannot evaluate it.
	Denied *bridge.Response
	// Stricter lists the requirements that are not on the card, as text for
	// people. If it is empty, the request can be approved.
	Stricter []string
}

// evaluator evaluates pending requests again under the current config.
type evaluator struct {
	records  core.Interactions
	people   *people.People
	judge    *judge
	composer *composer
	notifier *tell.Notifier
	routes   routes
	log      *slog.Logger
}

// unchanged reports whether a request was last evaluated under this config, so
// that another evaluation would change nothing.
func (e *evaluator) unchanged(i bridge.Interaction) bool {
	return i.ConfigVersion != "" && i.ConfigVersion == e.composer.version
}

// rejudge evaluates a pending request again with the current policy, routes and
// people.
func (e *evaluator) rejudge(ctx context.Context, rec bridge.Record) (Review, error) {
	i := rec.Interaction
	if i.Kind == bridge.KindNotice {
		return Review{}, nil
	}
	var input json.RawMessage
	if i.Approval != nil {
		input = i.Approval.Input
	}
	v, err := e.evaluate(ctx, rec, input)
	if err != nil || v.Denied != nil {
		return v, err
	}
	v.Stricter = stricterThan(v.Now, i)
	if i.Approval != nil && !slices.Equal(v.Now.Decisions(), i.Decisions()) {
		v.Stricter = append(v.Stricter, "fewer decisions")
	}
	if i.Redacted == 0 && v.Now.Redacted > 0 {
		v.Stricter = append(v.Stricter, "hidden fields")
	}
	return v, nil
}

// rejudgeEdit evaluates the edited input of a person.
func (e *evaluator) rejudgeEdit(ctx context.Context, rec bridge.Record, input json.RawMessage) (Review, error) {
	v, err := e.evaluate(ctx, rec, input)
	if err != nil || v.Denied != nil {
		return v, err
	}
	v.Stricter = stricterThan(v.Now, rec.Interaction)
	if len(v.Ruling.Redact) > 0 {
		v.Stricter = append(v.Stricter, "hidden fields")
	}
	return v, nil
}

// evaluate applies the policy to a request with its input replaced, and rebuilds
// its interaction.
func (e *evaluator) evaluate(ctx context.Context, rec bridge.Record, input json.RawMessage) (Review, error) {
	i := rec.Interaction
	r := bridge.Request{Ask: i.Again()}
	r.OnTimeout = bridge.OnTimeoutExpire
	if i.Approval != nil {
		a := *i.Approval
		a.Input = input
		r.Approval = &a
	}
	agent := e.people.AgentOf(i)
	if len(agent.Scopes) > 0 && r.Approval != nil {
		r.Approval.Limit(agent.Scopes)
	}
	v := Review{Ruling: bridge.Ruling{
		Effect: bridge.EffectAsk, Rule: i.Rule, Reason: i.RuleReason, Risk: i.Risk, Routes: routeNames(i), GrantFor: i.GrantFor, Grants: i.RuleGrants,
	}}
	switch {
	case i.Redacted == 0 || r.Approval == nil:
		v.Ruling = e.judge.rule(agent, &r)
	case e.judge.policy != nil && i.PolicyVersion != e.judge.version:
		v.Denied = overtaken(i, "the policy changed while this was pending, and some of its fields are redacted; "+requestAgain)
		return v, nil
	}
	if v.Ruling.Effect == bridge.EffectDeny {
		v.Denied = ruled(i, v.Ruling)
		v.Denied.At = time.Now().UTC().Truncate(time.Millisecond)
		return v, nil
	}
	var err error
	if v.Now, v.Ruling, err = e.composer.prepareUnder(ctx, agent, r, v.Ruling); err != nil {
		return v, err
	}
	if v.Now.StepUp = cmp.Or(v.Now.StepUp, i.StepUp); i.StepUp != "" {
		v.Now.Approval.Limit(i.Approval.Scopes) // a weaker config does not add choices
	}
	v.Now.Digest, v.Now.Trace = i.Digest, i.Trace
	if i.Redacted > 0 && r.Approval != nil {
		v.Now.KeepHidden(i)
	}
	e.routes.addAgain(&v.Now, i)
	return v, nil
}

const requestAgain = "the agent has to send a new request"

// amended returns a request with the requirements of a review.
func (v Review) amended(was bridge.Interaction) bridge.Interaction {
	next, now := was, v.Now
	next.Route, next.Prompt, next.Approval = now.Route, now.Prompt, now.Approval
	next.Placement, next.Snooze, next.Governance, next.Attention = now.Placement, now.Snooze, now.Governance, now.Attention
	next.Destinations = append(slices.Clone(was.Destinations), bridge.Missing(was.Destinations, now.Destinations)...)
	next.Told, next.Unfound = was.Told, was.Unfound
	next.Requesters = append(slices.Clone(was.Requesters), bridge.Missing(was.Requesters, now.Requesters)...)
	next.Quorum, next.DenyCounts = max(was.Quorum, now.Quorum), was.DenyCounts && now.DenyCounts
	next.Terms = was.Terms + 1
	if now.Risk == "" {
		next.Risk = was.Risk
	}
	next.Redacted = max(was.Redacted, now.Redacted)
	return next
}

// reroute replaces the steps of former routes, so that these steps add no one
// to the new routes.
func (v Review) reroute(a *life.Amendment, rec bridge.Record) {
	was := rec.Interaction
	if slices.Equal(routeNames(v.Now), routeNames(was)) {
		return
	}
	a.Interaction.Steps = append(slices.Clone(was.Steps[:min(rec.Step, len(was.Steps))]), v.Now.Steps...)
	if len(v.Now.Steps) > 0 {
		a.Then = life.StepAt(a.Interaction, rec.Step)
	}
}

// maxTerms is the maximum of Interaction.Terms, which is one byte in a token.
// If the requirements change more often, the agent must send the request again.
const maxTerms = 255

// restate stores the requirements of a review. Approvals under the former
// requirements no longer count.
func (e *evaluator) restate(ctx context.Context, rec bridge.Record, v Review) (bridge.Record, error) {
	i := rec.Interaction
	next := v.amended(i)
	var err error
	if next.Content, err = proof.Content(next); err != nil {
		return rec, err
	}
	if len(next.Destinations) > bridge.MaxDestinations || next.Terms > maxTerms {
		rec, _, err = e.endByRule(ctx, rec, overtaken(i, "the rules changed while this was pending; "+requestAgain))
		return rec, err
	}
	t := e.notifier.Telling(ctx, rec, &next)
	t.Widened(i)
	a := life.Amendment{Expect: rec.Amended, Interaction: next, Reminders: t.Reminders("")}
	v.reroute(&a, rec)
	given := slices.DeleteFunc(slices.Clone(rec.Votes), func(v bridge.Vote) bool { return v.State != bridge.StateApproved })
	e.notifier.Void(ctx, &a, rec, given, "the request now requires "+strings.Join(v.Stricter, ", "))
	if err := Amend(ctx, e.records, rec, a); err != nil {
		return rec, err
	}
	e.log.Info("requirements changed", "id", i.ID, "required", strings.Join(v.Stricter, ", "))
	return e.records.Load(ctx, i.ID)
}

// endByRule closes a pending request without a person. It reports whether this
// call closed the request.
func (e *evaluator) endByRule(ctx context.Context, rec bridge.Record, r *bridge.Response) (bridge.Record, bool, error) {
	return e.records.Resolve(ctx, life.Resolution{ID: rec.Interaction.ID, Nonce: "rule", Response: *r})
}
