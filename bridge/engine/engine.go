package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Options configures an Engine.
type Options struct {
	Store     bridge.Store
	Keys      bridge.Keyring
	Platforms []bridge.Platform
	Routes    map[string]bridge.Route
	Webhooks  []bridge.Webhook
	// Directory knows people; nil: the responders of routes are all there are.
	Directory bridge.Directory
	// Redactor hides credentials before anything leaves the process; nil: none
	// are hidden.
	Redactor bridge.Redactor
	// Linking offers unknown accounts to be linked to a person.
	Linking bool
	// Policy judges approvals before anybody is asked; nil: everything is asked.
	Policy bridge.Policy
	// PolicyVersion changes whenever the rules change. Requests with hidden
	// fields cannot be evaluated again under another version.
	PolicyVersion string
	// Agents are the configured agents by name. A pending request is evaluated
	// again with what its agent may do now.
	Agents map[string]bridge.Agent
	// Signer proves what is stored, signs receipts and seals the audit log. If
	// it is nil, none of this is done.
	Signer *proof.Signer
	// KeysInRedis means that the signer's keys are kept in Redis. Then records
	// without a proof are accepted too: an upgrade finds such records, and
	// proofs protect against no one who can read the keys.
	KeysInRedis bool
	// AuditRetention is how long the audit log is kept; 0: forever.
	AuditRetention time.Duration
	Observer       bridge.Observer // nil: none
	Log            *slog.Logger    // nil: discard
	// Node names this process in leases; empty: a random name.
	Node string
}

// Engine carries requests from agents to people and back. It is composed of
// parts with one job each; callers reach the rarer ones as fields. It is safe
// for concurrent use. Requests can be opened and awaited without Run; messages
// are posted and clicks arrive only while Run runs in some process.
type Engine struct {
	Audit    *Audit
	Channels *Channels
	Evidence *Evidence
	Grants   *Grants
	Links    *Links
	People   *People
	Sessions *Sessions

	routes      routes
	opener      *opener
	rounds      *rounds
	reach       *reach
	reader      *reader
	withdrawals *withdrawals
	clicks      *clicks
	commands    *commands
	dispatcher  *dispatcher
	sweeper     *sweeper
	receiver    *receiver
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Node == "" {
		o.Node = uuid.NewString()
	}
	prover := proof.NewProver(o.Signer, o.KeysInRedis)
	p := portsOf(o.Store)
	if prover != nil {
		p = p.proven(prover, o.Log)
	}
	return wire(o, p, prover)
}

// Run posts, edits, sweeps and receives until ctx ends, and returns nil then.
// A platform that fails is retried; it never stops the others.
func (e *Engine) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { e.dispatcher.run(ctx) })
	wg.Go(func() { e.sweeper.run(ctx) })
	wg.Go(func() { e.Audit.seal(ctx) })
	for _, p := range e.receiver.platforms {
		wg.Go(func() { e.receiver.receive(ctx, p, e) })
	}
	wg.Wait()
	return nil
}

// Open validates a request, finds out whether and where people are asked, and
// stores it. A repeat with the same idempotency key, which may be empty,
// returns the first record.
func (e *Engine) Open(ctx context.Context, agent bridge.Agent, r bridge.Request, key string) (bridge.Record, error) {
	return e.opener.open(ctx, agent, r, key)
}

// Get returns a record. It returns CodeForbidden with one that does not
// verify.
func (e *Engine) Get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return e.reader.get(ctx, id)
}

// Await returns once the interaction is final. Any number of callers in any
// process may wait for the same one; the error is ctx's when it ends first,
// and the interaction stays as it is. It returns CodeForbidden with a record
// that does not verify.
func (e *Engine) Await(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return e.reader.await(ctx, id)
}

// Delivered notes that an agent has received the response. Only the first
// note counts.
func (e *Engine) Delivered(ctx context.Context, r bridge.Record) error {
	return e.reader.delivered(ctx, r)
}

// Shown is a record as people see it: Get, without the credentials that
// somebody typed.
func (e *Engine) Shown(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return e.reader.shown(ctx, id)
}

// Waiting implements Lister. It looks at the newest of what is pending.
func (e *Engine) Waiting(ctx context.Context, actor bridge.Actor, n int) ([]bridge.Record, bool, error) {
	return e.reader.waiting(ctx, actor, n)
}

// Cancel withdraws a pending interaction; one that is final is returned as it
// is. Reason is shown to people.
func (e *Engine) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	return e.withdrawals.cancel(ctx, id, reason)
}

// Withdraw cancels a pending request as a person: one of its responders, or an
// owner of its agent. Others get CodeNotFound if they may not read it either,
// and CodeForbidden if they may.
func (e *Engine) Withdraw(ctx context.Context, id bridge.ID, by bridge.Actor, reason string) (bridge.Record, error) {
	return e.withdrawals.withdraw(ctx, id, by, reason)
}

// DecidedElsewhere withdraws what is pending in a session and covered, as its
// person decided at the agent's own terminal.
func (e *Engine) DecidedElsewhere(
	ctx context.Context, agent, session, reason string, covers func(bridge.Interaction) bool,
) error {
	return e.withdrawals.decidedElsewhere(ctx, agent, session, reason, covers)
}

// Reprompt asks again after an answer that the agent could not use, or instead
// of a question that is still pending. The follow-up is evaluated as if it were
// new. It keeps session and correlation, takes over the messages if its
// destinations are the same, and starts with the earlier values filled in if
// the questions have the same IDs. It returns CodeConflict if the rounds are
// used up or the interaction was asked again already, and CodeForbidden if the
// policy denies the follow-up.
func (e *Engine) Reprompt(
	ctx context.Context, agent bridge.Agent, id bridge.ID, r bridge.Request, key string,
) (bridge.Record, error) {
	return e.rounds.reprompt(ctx, agent, id, r, key)
}

// Queue tells the agent of an interaction that the answer comes later: while it
// is pending, it stays open for hold (0: as the request said), and a late
// answer becomes a message to its session. One that was answered is asked
// again in the same way.
func (e *Engine) Queue(
	ctx context.Context, agent bridge.Agent, id bridge.ID, hold bridge.Duration, message string,
) (bridge.Record, error) {
	return e.rounds.queue(ctx, agent, id, hold, message)
}

// Complete notes what the agent's tool made of a response; people see it below
// their answer. Only the first note counts. CodeConflict while it is pending.
func (e *Engine) Complete(ctx context.Context, id bridge.ID, c bridge.Completion) (bridge.Record, error) {
	return e.rounds.complete(ctx, id, c)
}

// Availability counts who could answer a request on a route, in a session that
// may be empty.
func (e *Engine) Availability(
	ctx context.Context, agent bridge.Agent, route, session string,
) (bridge.Availability, error) {
	return e.reach.availability(ctx, agent, route, session)
}

// Answer settles an interaction for a responder who does not click but sends
// the whole answer, as the API and the command line do. The actor's Person
// must be one of the responders.
func (e *Engine) Answer(
	ctx context.Context, id bridge.ID, actor bridge.Actor, reply bridge.Reply,
) (bridge.Record, error) {
	return e.clicks.answer(ctx, id, actor, reply)
}

// Click implements Sink.
func (e *Engine) Click(ctx context.Context, c bridge.Click) (bridge.Verdict, error) {
	return e.clicks.click(ctx, c)
}

// Form implements Sink.
func (e *Engine) Form(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return e.clicks.form(ctx, c)
}

// Command implements Sink.
func (e *Engine) Command(ctx context.Context, c bridge.Command) (string, error) {
	return e.commands.run(ctx, c)
}

// Health returns how each platform is, by name.
func (e *Engine) Health() map[string]bridge.Health { return e.receiver.health() }

// Routes are the routes by name. They are not to be changed.
func (e *Engine) Routes() map[string]bridge.Route { return e.routes }
