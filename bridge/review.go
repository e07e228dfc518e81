package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// review is what the current config says about a pending request.
type review struct {
	ruling Ruling
	// now is the interaction as it would be opened now.
	now Interaction
	// denied is why it can no longer be approved; nil if it can.
	denied *Response
	// stricter is what is required in addition to what was asked under, in
	// words. If it is empty, the request can be approved as it is.
	stricter []string
}

// rejudge evaluates a pending request again: with the current policy, routes
// and people, as if it were opened now.
func (e *Engine) rejudge(ctx context.Context, rec Record) (review, error) {
	i := rec.Interaction
	if i.Kind == KindNotice {
		return review{}, nil
	}
	var input json.RawMessage
	if i.Approval != nil {
		input = i.Approval.Input
	}
	v, err := e.evaluate(ctx, rec, input)
	if err != nil || v.denied != nil {
		return v, err
	}
	v.stricter = v.now.stricterThan(i)
	if i.Approval != nil && !slices.Equal(v.now.Decisions(), i.Decisions()) {
		v.stricter = append(v.stricter, "fewer decisions")
	}
	if i.Redacted == 0 && v.now.Redacted > 0 {
		v.stricter = append(v.stricter, "hidden fields")
	}
	return v, nil
}

// rejudgeEdit evaluates the input that a person wants to approve instead.
func (e *Engine) rejudgeEdit(ctx context.Context, rec Record, input json.RawMessage) (review, error) {
	v, err := e.evaluate(ctx, rec, input)
	if err != nil || v.denied != nil {
		return v, err
	}
	v.stricter = v.now.stricterThan(rec.Interaction)
	if len(v.ruling.Redact) > 0 {
		v.stricter = append(v.stricter, "hidden fields")
	}
	return v, nil
}

// evaluate judges a request with an input, and prepares it again.
func (e *Engine) evaluate(ctx context.Context, rec Record, input json.RawMessage) (review, error) {
	i := rec.Interaction
	r := Request{
		Kind: i.Kind, Prompt: i.Prompt, Questions: i.Questions, Session: i.Session, ToolCall: i.ToolCall, Turn: i.Turn, ResponseID: i.ResponseID, ToolName: i.ToolName,
		Requester: i.Requester, Route: i.own(), Timeout: Duration(i.Deadline.Sub(i.Created)), OnTimeout: OnTimeoutExpire, Hold: i.Hold, Initial: i.Initial, MaxRounds: i.MaxRounds,
	}
	if i.Approval != nil {
		a := *i.Approval
		a.Input = input
		r.Approval = &a
	}
	agent := e.agentOf(i)
	if len(agent.Scopes) > 0 && r.Approval != nil {
		r.Approval.limit(agent.Scopes)
	}
	v := review{ruling: Ruling{Effect: EffectAsk, Rule: i.Rule, Risk: i.Risk, Routes: i.routeNames()}}
	switch {
	case i.Redacted == 0 || r.Approval == nil:
		v.ruling = e.judge(agent, &r)
	case e.policy != nil && i.PolicyVersion != e.rules:
		v.denied = i.overtaken("the policy changed while this was pending, and fields of it are hidden; the agent has to request it again")
		return v, nil
	}
	if v.ruling.Effect == EffectDeny {
		v.denied = i.ruled(v.ruling)
		v.denied.At = time.Now().UTC().Truncate(time.Millisecond)
		return v, nil
	}
	var err error
	if v.now, v.ruling, err = e.prepareUnder(ctx, agent, r, v.ruling); err != nil {
		return v, err
	}
	v.now.Digest, v.now.Trace = i.Digest, i.Trace
	e.addAgain(&v.now, i)
	return v, nil
}

// overtaken is the response of a request that cannot be approved as it is.
func (i Interaction) overtaken(why string) *Response {
	return &Response{State: StateDenied, Rule: "policy changed", Reason: why, Annotations: map[string]Annotation{}, At: time.Now().UTC().Truncate(time.Millisecond), Digest: i.Digest}
}

// agentOf is the agent of an interaction as it is configured now.
func (e *Engine) agentOf(i Interaction) Agent {
	if a, ok := e.agents[i.Agent]; ok {
		return a
	}
	owners := slices.DeleteFunc(slices.Clone(i.Requesters), func(who string) bool { return who == i.Requester })
	return Agent{Name: i.Agent, Owners: owners}
}

// own is the route of the request itself.
func (i Interaction) own() string {
	if i.OwnRoute != "" {
		return i.OwnRoute
	}
	return i.Route
}

func (i Interaction) routeNames() []string {
	var names []string
	for _, q := range i.requirements() {
		names = append(names, q.Route)
	}
	return names
}

// addAgain adds the people who were added to a request while it was pending.
func (e *Engine) addAgain(now *Interaction, was Interaction) {
	for _, a := range was.Added {
		if a.For != "" && !slices.Contains(now.routeNames(), a.For) || a.For == "" && now.Route != was.Route {
			continue // their route no longer has a say
		}
		if a.Route != "" {
			route := e.routes[a.Route] // of the current config; none if it is gone
			a.Responders, a.Groups = route.Responders, route.Groups
		}
		if a.For == "" && len(now.Requirements) > 0 {
			a.For = now.Route
		}
		now.add(a)
	}
	now.Called = was.Called
}

// stricterThan says in words what an interaction requires in addition to
// another one.
func (i Interaction) stricterThan(was Interaction) []string {
	var out []string
	if n := i.needs(); n > was.needs() {
		out = append(out, strconv.Itoa(n)+" approvals")
	}
	old := was.requirements()
	for _, q := range i.requirements() {
		n := slices.IndexFunc(old, func(o Requirement) bool { return o.Route == q.Route })
		if n < 0 {
			out = append(out, "an approval by the route "+q.Route)
			continue
		}
		out = append(out, q.stricterThan(old[n])...)
	}
	if was.DenyCounts && !i.DenyCounts {
		out = append(out, "no denial")
	}
	for _, who := range missing(was.Requesters, i.Requesters) {
		out = append(out, "someone other than "+who)
	}
	if i.Approval == nil {
		return out
	}
	if c := i.Approval.Confirm; c != "" && (was.Approval == nil || c != was.Approval.Confirm) {
		out = append(out, "a typed confirmation")
	}
	if i.Risk != "" && i.Risk != was.Risk {
		out = append(out, "the risk level "+i.Risk)
	}
	return out
}

func (q Requirement) stricterThan(was Requirement) []string {
	var out []string
	if n := max(q.Quorum, 1); n > max(was.Quorum, 1) {
		out = append(out, strconv.Itoa(n)+" approvals by the route "+q.Route)
	}
	for _, who := range missing(was.Must, q.Must) {
		out = append(out, "an approval by "+who)
	}
	who := func(r Responder) Responder {
		if r.Person != "" {
			return Responder{Person: r.Person}
		}
		return r
	}
	names := func(all []Responder) []Responder {
		var out []Responder
		for _, r := range all {
			out = append(out, who(r))
		}
		return out
	}
	if len(missing(names(q.Responders), names(was.Responders)))+len(missing(q.Groups, was.Groups)) > 0 {
		out = append(out, "other responders on the route "+q.Route)
	}
	return out
}

// amended is a request with the requirements of a review.
func (v review) amended(was Interaction) Interaction {
	next, now := was, v.now
	next.Route, next.OwnRoute, next.Requirements, next.Must = now.Route, now.OwnRoute, now.Requirements, now.Must
	next.Responders, next.Groups, next.Added = now.Responders, now.Groups, now.Added
	next.Destinations = append(slices.Clone(was.Destinations), missing(was.Destinations, now.Destinations)...)
	next.Quorum, next.DenyCounts = max(was.Quorum, now.Quorum), was.DenyCounts && now.DenyCounts
	next.Requesters = append(slices.Clone(was.Requesters), missing(was.Requesters, now.Requesters)...)
	next.HandOver, next.Snooze = now.HandOver, now.Snooze
	next.Rule, next.PolicyVersion, next.Prompt = now.Rule, now.PolicyVersion, now.Prompt
	if now.Risk != "" {
		next.Risk = now.Risk
	}
	next.Approval, next.Redacted = now.Approval, max(was.Redacted, now.Redacted)
	next.GrantKey, next.RuleGrants, next.GrantFor, next.GrantRoutes = now.GrantKey, now.RuleGrants, now.GrantFor, now.GrantRoutes
	for n := range next.Requirements {
		for _, q := range was.requirements() {
			if q.Route == next.Requirements[n].Route {
				next.Requirements[n].Escalation = q.Escalation
			}
		}
	}
	next.Terms++
	return next
}

// reroute replaces the steps and the escalation of former routes, so that they
// add nobody to the new ones.
func (v review) reroute(a *Amendment, rec Record) {
	was := rec.Interaction
	if slices.Equal(v.now.routeNames(), was.routeNames()) {
		return
	}
	a.Interaction.Escalation = nil
	for n := range a.Interaction.Requirements {
		a.Interaction.Requirements[n].Escalation = nil
	}
	a.Interaction.Steps = append(slices.Clone(was.Steps[:min(rec.Step, len(was.Steps))]), v.now.Steps...)
	if len(v.now.Steps) > 0 {
		a.Next = time.Duration(v.now.Steps[0].After)
	}
}

// restate stores the requirements of a review. Approvals that were given under
// the former ones no longer count.
func (e *Engine) restate(ctx context.Context, rec Record, v review) (Record, error) {
	i := rec.Interaction
	next := v.amended(i)
	if rec.Batch != "" || len(rec.Members) > 0 || len(next.Destinations) > MaxDestinations {
		return e.endByRule(ctx, rec, i.overtaken("the rules changed while this was pending; the agent has to request it again"))
	}
	a := Amendment{Expect: rec.Amended, Interaction: next, Step: rec.Step, Next: -1}
	v.reroute(&a, rec)
	for _, vote := range rec.Votes {
		if vote.State == StateApproved {
			a.Void = append(a.Void, vote.Actor.Voter())
		}
	}
	if err := e.amend(ctx, rec, a); err != nil {
		return rec, err
	}
	e.log.Info("requirements changed", "id", i.ID, "required", strings.Join(v.stricter, ", "))
	return e.store.Load(ctx, i.ID)
}

// endByRule ends a pending request without a person.
func (e *Engine) endByRule(ctx context.Context, rec Record, r *Response) (Record, error) {
	got, _, err := e.store.Settle(ctx, Settlement{ID: rec.Interaction.ID, Nonce: "rule", Response: *r})
	return got, err
}

// concludeTries bounds how often a decision is checked again because the
// request was amended in the meantime.
const concludeTries = 5

// conclude makes a decision of a person final, or counts it, if the current
// config lets it stand. Otherwise it returns what to tell the person, and
// nothing was approved.
func (e *Engine) conclude(ctx context.Context, actor Actor, rec Record, r Response) (Record, BallotResult, *Verdict, error) {
	var err error
	for range concludeTries {
		if !rec.State.Final() && (r.State == StateApproved || r.State == StateAnswered) {
			now, refusal, failed := e.reconsider(ctx, actor, rec, r)
			if err = failed; refusal != nil || err != nil && ErrorCode(err) != CodeConflict {
				return now, "", refusal, err
			}
			rec = now
		}
		if err == nil {
			got, result, failed := e.settleOne(ctx, actor, rec, r)
			if err = failed; ErrorCode(err) != CodeConflict {
				return got, result, nil, err
			}
		}
		if rec, err = e.store.Load(ctx, rec.Interaction.ID); err != nil {
			return rec, "", nil, err
		}
	}
	return rec, "", nil, Errorf(CodeUnavailable, "the request keeps changing").WithHint("try again")
}

// reconsider checks a decision that approves or answers against the current
// config. It returns the record to decide, or a verdict if it does not stand.
func (e *Engine) reconsider(ctx context.Context, actor Actor, rec Record, r Response) (Record, *Verdict, error) {
	i := rec.Interaction
	refuse := func(kind VerdictKind, note string) *Verdict {
		e.refuse(ctx, i, actor, "the rules changed")
		return &Verdict{Kind: kind, Note: note}
	}
	v, err := e.rejudge(ctx, rec)
	if why := unapprovable(err); why != "" {
		return rec, refuse(VerdictForbidden, "This cannot be approved with the current config: "+why+". Nothing was recorded."), nil
	}
	if err != nil {
		return rec, nil, err
	}
	if v.denied != nil {
		if rec, err = e.endByRule(ctx, rec, v.denied); err != nil {
			return rec, nil, err
		}
		return rec, refuse(VerdictForbidden, "The current policy denies this: "+v.denied.Reason+". Nothing was approved, and the request is closed."), nil
	}
	if len(v.stricter) > 0 {
		if rec, err = e.restate(ctx, rec, v); err != nil {
			return rec, nil, err
		}
		return rec, refuse(VerdictForbidden, "The rules changed since this was requested. It now requires "+strings.Join(v.stricter, ", ")+". Nothing was recorded: read the card and decide again."), nil
	}
	if len(r.Input) > 0 {
		problem, err := e.unfitEdit(ctx, rec, r.Input)
		if err != nil {
			return rec, nil, err
		}
		if problem != "" {
			v := typedProblem(problem)
			e.refuse(ctx, i, actor, "edited input")
			return rec, &v, nil
		}
	}
	return e.recount(ctx, rec, r)
}

// unapprovable is why a request could not be opened now; empty if that is not
// known.
func unapprovable(err error) string {
	if c := ErrorCode(err); c == CodeInvalid || c == CodeForbidden || c == CodeUnsupported {
		return PublicError(err).Message
	}
	return ""
}

// unfitEdit says why an edited input cannot be approved here; empty if it can.
func (e *Engine) unfitEdit(ctx context.Context, rec Record, input json.RawMessage) (string, error) {
	v, err := e.rejudgeEdit(ctx, rec, input)
	if why := unapprovable(err); why != "" {
		return "The edited input cannot be approved: " + why + ". Nothing was approved.", nil
	}
	switch {
	case err != nil:
		return "", err
	case v.denied != nil:
		return "The policy denies the edited input: " + v.denied.Reason + ". Nothing was approved.", nil
	case len(v.stricter) > 0:
		return "The edited input requires " + strings.Join(v.stricter, ", ") + ", so it has to be requested on its own. Nothing was approved.", nil
	}
	return "", nil
}

// recount voids the approvals of people who may no longer approve.
func (e *Engine) recount(ctx context.Context, rec Record, r Response) (Record, *Verdict, error) {
	i := rec.Interaction
	if !i.counted() || r.State != StateApproved {
		return rec, nil, nil
	}
	a := Amendment{Expect: rec.Amended, Interaction: i, Step: rec.Step, Next: -1}
	for _, v := range rec.Votes {
		if v.State != StateApproved {
			continue
		}
		holds, err := e.holdsVote(ctx, i, v)
		if err != nil {
			return rec, nil, err
		}
		if !holds {
			a.Void = append(a.Void, v.Actor.Voter())
		}
	}
	if len(a.Void) == 0 {
		return rec, nil, nil
	}
	if err := e.amend(ctx, rec, a); err != nil && ErrorCode(err) != CodeConflict {
		return rec, nil, err
	}
	rec, err := e.store.Load(ctx, i.ID)
	return rec, nil, err
}

// holdsVote reports whether whoever voted may still approve, and counts for
// what the vote counted for.
func (e *Engine) holdsVote(ctx context.Context, i Interaction, v Vote) (bool, error) {
	actor, why, err := e.eligible(ctx, i, v.Actor)
	if err != nil || why != "" || actor.Person != v.Actor.Person {
		return false, err
	}
	covers, err := e.covers(ctx, i, actor)
	return len(missing(covers, v.Covers)) == 0, err
}
