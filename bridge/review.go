package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// review holds a pending request as the current config sees it.
type review struct {
	ruling Ruling
	// now is the interaction as it would be opened now.
	now Interaction
	// denied is the response that closes the request. It is nil unless the policy
	// denies the request, or cannot evaluate it.
	denied *Response
	// stricter lists the requirements that the card does not show, for people to
	// read. If it is empty, the request can be approved.
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

// evaluate applies the policy to a request with an input, and prepares it
// again.
func (e *Engine) evaluate(ctx context.Context, rec Record, input json.RawMessage) (review, error) {
	i := rec.Interaction
	r := Request{
		Kind: i.Kind, Prompt: i.Prompt, Questions: i.Questions, Initial: i.Initial,
		Session: i.Session, ToolCall: i.ToolCall, Turn: i.Turn, ResponseID: i.ResponseID, ToolName: i.ToolName,
		Requester: i.Requester, Route: i.own(), MaxRounds: i.MaxRounds, Error: i.Error,
		Timeout: Duration(i.Deadline.Sub(i.Created)), OnTimeout: OnTimeoutExpire, Hold: i.Hold,
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
	v := review{ruling: Ruling{
		Effect: EffectAsk, Rule: i.Rule, Risk: i.Risk, Routes: i.routeNames(), GrantFor: i.GrantFor, Grants: i.RuleGrants,
	}}
	switch {
	case i.Redacted == 0 || r.Approval == nil:
		v.ruling = e.judge(agent, &r)
	case e.policy != nil && i.PolicyVersion != e.rules:
		v.denied = i.overtaken("the policy changed while this was pending, and fields of it are hidden; " + requestAgain)
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
	if i.Redacted > 0 && r.Approval != nil {
		v.now.keepHidden(i)
	}
	e.addAgain(&v.now, i)
	return v, nil
}

// keepHidden takes over what was found out about a request before it was
// masked.
func (i *Interaction) keepHidden(was Interaction) {
	i.GrantKey, i.Redacted, i.RedactedCommand = was.GrantKey, max(was.Redacted, i.Redacted), was.RedactedCommand || i.RedactedCommand
	i.noteScopes()
}

const requestAgain = "the agent has to request it again"

// overtaken is the response that closes a request whose rules changed.
func (i Interaction) overtaken(why string) *Response {
	return &Response{
		State: StateDenied, Rule: "policy changed", Reason: why, Annotations: map[string]Annotation{},
		At: time.Now().UTC().Truncate(time.Millisecond), Digest: i.Digest,
	}
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

// stricterThan lists the requirements of an interaction that another one does
// not have, for people to read.
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

// maxTerms is the highest Interaction.Terms, which a token holds in one byte. A
// request whose requirements change more often has to be requested again.
const maxTerms = 255

// restate stores the requirements of a review. Approvals that were given under
// the former ones no longer count.
func (e *Engine) restate(ctx context.Context, rec Record, v review) (Record, error) {
	i := rec.Interaction
	next := v.amended(i)
	if rec.Batch != "" || len(rec.Members) > 0 || len(next.Destinations) > MaxDestinations || next.Terms > maxTerms {
		return e.endByRule(ctx, rec, i.overtaken("the rules changed while this was pending; "+requestAgain))
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
