package engine

import (
	"context"
	"log/slog"
	"sync"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/tell"
	"github.com/nodbridge/nod/broker"
)

// Options configures an Engine.
type Options struct {
	Store     core.Port
	DB        broker.Store // database of the store, for the documents of rooms
	Keys      bridge.Keyring
	Platforms []bridge.Platform
	Routes    map[string]bridge.Route
	// Directory looks up people. If it is nil, only the responders of
	// routes are known.
	Directory bridge.Directory
	// Redactor redacts credentials before anything leaves the process. If
	// it is nil, nothing is redacted.
	Redactor bridge.Redactor
	// UnknownRequesters lets requests name requesters who are not in the config.
	// Their cards say so.
	UnknownRequesters bool
	// Linking lets people link an unknown account.
	Linking bool
	// Policy evaluates approvals before people are asked. If it is nil,
	// people are always asked.
	Policy bridge.Policy
	// PolicyVersion changes whenever the rules change. A request with
	// redacted fields cannot be evaluated again under another version.
	PolicyVersion string
	// ConfigVersion changes with every change that affects the evaluation of a
	// request: a change of the config or of nod. A pending request with the
	// same version is not evaluated again. If it is empty, all pending requests
	// are evaluated again.
	ConfigVersion string
	// Agents holds the configured agents by name. A pending request is
	// evaluated again with the current permissions of its agent.
	Agents   map[string]bridge.Agent
	Observer bridge.Observer // may be nil
	Log      *slog.Logger    // nil discards output
	// History lists the closed requests of a person. If it is nil, no closed
	// requests are shown.
	History bridge.Histories
	// Node identifies this process in leases. If it is empty, New chooses a
	// random name.
	Node string
	// Signer signs entries of the audit log, answers and seals. The store also
	// has it, and signs decisions. If it is nil, nod signs nothing.
	Signer *proof.Signer
}

// Engine carries requests from agents to people and back. It is composed of
// parts with one job each. Parts for less common tasks are fields. An Engine is
// safe for concurrent use. Requests can be opened and awaited without Run, but
// messages are posted and clicks arrive only while Run is active in some
// process.
type Engine struct {
	People    *people.People
	Journal   *journal.Journal
	Links     *Links
	Presence  Presence
	Notes     documents.Notes
	Redactor  *Redactor
	Clicks    *Clicks
	Decisions *Decisions
	Openings  *Openings
	Notifier  *tell.Notifier

	seams       *Seams
	routes      routes
	rounds      *rounds
	reach       *reach
	reader      *reader
	withdrawals *withdrawals
	runs        *runs
	dispatcher  *dispatcher
	sweeper     *sweeper
	receiver    *receiver
}

// Default sets the options that have a default.
func (o *Options) Default() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Node == "" {
		o.Node = uuid.NewString()
	}
}

// Run posts and updates messages, applies deadlines and receives clicks for sink until
// ctx ends. Then it returns nil. It retries a platform that fails, without
// affecting the others.
func (e *Engine) Run(ctx context.Context, sink bridge.Sink) error {
	var wg sync.WaitGroup
	wg.Go(func() { e.dispatcher.run(ctx) })
	wg.Go(func() { e.sweeper.run(ctx) })
	for _, p := range e.receiver.platforms {
		wg.Go(func() { e.receiver.receive(ctx, p, sink) })
	}
	wg.Wait()
	return nil
}

// Open validates a request, determines whether and where to ask people, and
// stores it. The idempotency key may be empty. A repeat of a call returns the
// first record while its request is open or its answer was not sent; see
// [bridge.Identity.Repeat]. If the answer to a key was already sent, it returns
// a [bridge.RepeatedError].
func (e *Engine) Open(ctx context.Context, agent bridge.Agent, r bridge.Request, key string) (bridge.Record, error) {
	return e.Openings.open(ctx, agent, r, key)
}

// Get returns a record. For a record that does not verify, it also returns
// CodeForbidden.
func (e *Engine) Get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return e.reader.get(ctx, id)
}

// Also returns the additions of the resolvers to the change that closes a request. A room
// that approves a request without a person adds them, too.
func (e *Engine) Also(ctx context.Context, r bridge.Record) (broker.Change, error) {
	return e.seams.also(ctx, r)
}

// Inspect returns a record in its stored form. If it does not verify,
// Unverified is set.
func (e *Engine) Inspect(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return e.reader.records.Inspect(ctx, id)
}

// Await returns once the interaction is over; see [bridge.Record.Over]. Any
// number of callers in any process may wait for the same interaction. If ctx
// ends first, Await returns nil with ctx's error, and the interaction stays
// unchanged. For a record that does not verify, it also returns CodeForbidden.
func (e *Engine) Await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	return core.Await(ctx, e, id)
}

// AwaitThen is Await for a caller that has no goroutine for waiting. It returns
// immediately. It calls then exactly once, on a separate goroutine.
func (e *Engine) AwaitThen(ctx context.Context, id bridge.ID, then func(core.Awaited)) {
	e.reader.awaitThen(ctx, id, then)
}

// Sending records that the response of a record is about to be sent to a
// caller. If another caller can repeat the call, the response must not be sent
// before this is recorded, because the next caller could get it as well. An
// approval with a key goes to one caller, which is identified by
// [bridge.CallerName]. Any other caller gets a [bridge.RepeatedError]. For a
// response that may no longer be sent, because the session has been stopped
// since, it returns CodeForbidden.
func (e *Engine) Sending(ctx context.Context, r bridge.Record, caller string) error {
	return e.reader.sending(ctx, r, caller)
}

// Delivered records that an agent has received the response. Only the first
// call has an effect.
func (e *Engine) Delivered(ctx context.Context, r bridge.Record) error {
	return e.reader.delivered(ctx, r)
}

// Shown returns a record in the form that people see, with typed credentials
// redacted.
func (e *Engine) Shown(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return e.reader.shown(ctx, id)
}

// Pending returns up to n pending requests for which wanted returns true,
// beginning with the next deadline. It reports whether there may be more. A
// zero n means 1000, which is the number of requests that it examines.
func (e *Engine) Pending(
	ctx context.Context, n int, wanted func(bridge.Record) (bool, error),
) (bridge.List, bool, error) {
	if n == 0 {
		n = maxLooked
	}
	return e.reader.pending(ctx, n, wanted)
}

// Posted returns the pending requests with a wanted message on a platform, without
// those that nod cannot read. Credentials in them are not redacted.
func (e *Engine) Posted(ctx context.Context, platform string, wanted func(bridge.MessageRef) bool) ([]bridge.Record, error) {
	return e.reader.posted(ctx, platform, wanted)
}

// List returns a page of requests in the form that people see, newest first.
// Without a history, it returns none.
func (e *Engine) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	return e.reader.list(ctx, f)
}

// Cancel cancels a pending interaction. It returns a closed interaction
// unchanged. The reason is shown to people.
func (e *Engine) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	return e.withdrawals.cancel(ctx, id, reason)
}

// Withdraw cancels a pending request on behalf of a person: one of its responders,
// or an owner of its agent. Other people get CodeForbidden if they may read the
// request, and CodeNotFound otherwise.
func (e *Engine) Withdraw(ctx context.Context, id bridge.ID, by bridge.Actor, reason string) (bridge.Record, error) {
	return e.withdrawals.withdraw(ctx, id, by, reason)
}

// ReleaseUnattended cancels the pending requests of a session that have
// CancelOnDisconnect, if no front end is enabled and no chat accepts their
// answer. An empty session means all sessions.
func (e *Engine) ReleaseUnattended(ctx context.Context, session string) error {
	return e.withdrawals.releaseUnattended(ctx, session)
}

// DecidedElsewhere cancels the pending requests of a session for which decides
// returns true, because the user decided in the agent's own terminal. It passes
// them oldest first. Only one call of each request was decided, so a request
// stays open for other calls that share its answer.
func (e *Engine) DecidedElsewhere(
	ctx context.Context, agent, session, reason string, decides func([]bridge.Interaction) ([]bridge.Interaction, bool),
) error {
	return e.withdrawals.decidedElsewhere(ctx, agent, session, reason, decides)
}

// Leave cancels a pending request for one of its callers; see
// [bridge.CallerName]. The request stays open for other callers that share its
// answer.
func (e *Engine) Leave(ctx context.Context, id bridge.ID, caller, reason string) (bridge.Record, error) {
	return e.withdrawals.leave(ctx, id, caller, reason, false)
}

// Disconnected is [Engine.Leave] for a caller whose connection has ended. The
// request stays open if anyone waits for it on another connection.
func (e *Engine) Disconnected(ctx context.Context, id bridge.ID, caller string) error {
	_, err := e.withdrawals.leave(ctx, id, caller, "the agent disconnected", true)
	return err
}

// Reprompt opens a follow-up: it asks again after an answer that the agent
// could not use, or in place of a pending question. The follow-up is evaluated
// as a new request. It keeps the session and the correlation values, takes over
// the messages if the destinations are the same, and keeps the earlier values
// of questions with the same IDs. Reprompt returns CodeConflict if no round is
// left or the interaction already has a follow-up, and CodeForbidden if the
// policy denies the follow-up.
func (e *Engine) Reprompt(
	ctx context.Context, agent bridge.Agent, id bridge.ID, r bridge.Request, key string,
) (bridge.Record, error) {
	return e.rounds.reprompt(ctx, agent, id, r, key)
}

// Queue defers an interaction. A pending interaction stays open for hold, and a
// late answer goes to the session inbox. A zero hold means the hold of the
// request. If the interaction is already deferred, the new hold replaces the
// earlier one. An answered interaction is opened again in the same way, unless
// its answer came late and the inbox has no message for it.
func (e *Engine) Queue(
	ctx context.Context, agent bridge.Agent, id bridge.ID, hold bridge.Duration, message string,
) (bridge.Record, error) {
	return e.rounds.queue(ctx, agent, id, hold, message)
}

// Complete records the result of the agent's tool, which people see below their
// answer. Only the first call has an effect. A deferred interaction expires,
// because its tool no longer needs the answer. If the interaction is pending
// and not deferred, Complete returns CodeConflict.
func (e *Engine) Complete(ctx context.Context, id bridge.ID, c bridge.Completion) (bridge.Record, error) {
	return e.rounds.complete(ctx, id, c)
}

// Availability describes who could answer a request on a route and in a
// session, which may be empty.
func (e *Engine) Availability(
	ctx context.Context, agent bridge.Agent, route, session string,
) (bridge.Availability, error) {
	return e.reach.availability(ctx, agent, route, session)
}

// Answer applies a complete response that was sent without a click, through the
// API or the command line. The actor's Person must be one of the responders.
func (e *Engine) Answer(
	ctx context.Context, id bridge.ID, actor bridge.Actor, reply bridge.Reply,
) (bridge.Record, error) {
	return e.Clicks.answer(ctx, id, actor, reply)
}

// Conclude makes a person's decision final, or records it as a vote, if the
// current config allows it. Otherwise nothing is approved, and it returns the
// reply to the person.
func (e *Engine) Conclude(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (bridge.Record, core.BallotResult, *bridge.Verdict, error) {
	return e.Decisions.Conclude(ctx, actor, rec, r)
}

// Rejudge evaluates a pending request again with the current policy, routes and
// people.
func (e *Engine) Rejudge(ctx context.Context, rec bridge.Record) (Review, error) {
	return e.Decisions.evaluator.rejudge(ctx, rec)
}

// Slot takes a slot of a platform for a job that calls it, or returns an error after which
// the job is due again. The caller must call done.
func (e *Engine) Slot(platform string) (done func(), err error) { return e.dispatcher.slot(platform) }

// CardGone handles the deleted message of a pending request: it posts the card
// again, or gives up its destination.
func (e *Engine) CardGone(ctx context.Context, r bridge.Record, destination int) error {
	return e.dispatcher.lost.found(ctx, r, destination)
}

// Work does a job and records the result.
func (e *Engine) Work(ctx context.Context, j core.Job) error { return e.dispatcher.do(ctx, j) }

// Click implements Sink.
func (e *Engine) Click(ctx context.Context, c bridge.Click) (bridge.Verdict, error) {
	return e.Clicks.click(ctx, c)
}

// Drawn implements Sink.
func (e *Engine) Drawn(ctx context.Context, v bridge.View, failed error) error {
	return e.Clicks.cards.drawn(ctx, v, failed)
}

// Form implements Sink.
func (e *Engine) Form(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return e.Clicks.form(ctx, c)
}

// View returns the content of the message of a record at a destination.
func (e *Engine) View(ctx context.Context, r bridge.Record, destination int) (bridge.View, error) {
	return e.Clicks.cards.view(ctx, r, destination)
}

// Link returns the URL of the card of a record. It prefers a card in the given
// channels of a platform, and then a card on this platform. The URL is empty if
// no card is posted, or if no card has a URL.
func (e *Engine) Link(ctx context.Context, r bridge.Record, platform string, channels []string) (string, error) {
	return e.Clicks.cards.link(ctx, r, platform, channels)
}

// Deleted implements bridge.Remover.
func (e *Engine) Deleted(ctx context.Context, platform string, message bridge.MessageRef) error {
	return e.dispatcher.lost.deleted(ctx, platform, message)
}

// Health returns the health of each platform by name.
func (e *Engine) Health() map[string]bridge.Health { return e.receiver.health() }

// CheckRoute returns an error unless requests can go to a route.
func (e *Engine) CheckRoute(name string) error {
	_, err := e.routes.find(name)
	return err
}

// Routes returns the routes by name. The caller must not change them.
func (e *Engine) Routes() map[string]bridge.Route { return e.routes }
