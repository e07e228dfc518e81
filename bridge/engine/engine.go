package engine

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
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

// Engine carries interactions from agents to people and back. It is safe for
// concurrent use. Requests can be opened and awaited without Run; messages are
// posted and clicks arrive only while Run runs in some process.
type Engine struct {
	store     bridge.Store
	keys      bridge.Keyring
	platforms map[string]bridge.Platform
	routes    map[string]bridge.Route
	webhooks  []bridge.Webhook
	hookSlots map[string]chan struct{} // by name of the webhook
	log       *slog.Logger
	directory bridge.Directory
	redactor  bridge.Redactor
	linking   bool
	policy    bridge.Policy
	rules     string // PolicyVersion
	agents    map[string]bridge.Agent
	signer    *proof.Signer
	prover    *proof.Prover
	raw       bridge.Store // as Redis has it, for a look at what does not verify
	sealing   sealHealth
	auditFor  time.Duration
	observer  bridge.Observer
	node      string
	standby   *standbys
}

// New returns an engine.
func New(o Options) *Engine {
	e := &Engine{store: o.Store, keys: o.Keys, platforms: map[string]bridge.Platform{}, routes: maps.Clone(o.Routes), webhooks: o.Webhooks, hookSlots: map[string]chan struct{}{}, directory: o.Directory, redactor: o.Redactor, linking: o.Linking, policy: o.Policy, rules: o.PolicyVersion, agents: o.Agents, signer: o.Signer, auditFor: o.AuditRetention, observer: o.Observer, log: o.Log, node: o.Node, standby: newStandbys()}
	for _, w := range o.Webhooks {
		e.hookSlots[w.Name()] = make(chan struct{}, hooksAtOnce)
	}
	for _, p := range o.Platforms {
		e.platforms[p.Name()] = p
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.node == "" {
		e.node = uuid.NewString()
	}
	e.raw, e.prover = o.Store, proof.NewProver(o.Signer, o.KeysInRedis)
	if e.prover != nil {
		e.store = provenStore{o.Store, e.prover, e.log}
	}
	return e
}

// Get returns a record. It returns CodeForbidden with one that does not
// verify.
func (e *Engine) Get(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := e.store.Load(ctx, id)
	if err != nil {
		return r, err
	}
	return r, r.Trusted()
}

// Show returns a record as it is stored, for people to look at: one that does
// not verify says so in Unverified.
func (e *Engine) Show(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := e.raw.Load(ctx, id)
	return e.prover.Marked(r), err
}

// Await returns once the interaction is final. Any number of callers in any
// process may wait for the same one; the error is ctx's when it ends first,
// and the interaction stays as it is. It returns CodeForbidden with a record
// that does not verify.
func (e *Engine) Await(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := e.store.Await(ctx, id)
	if err == nil && r.Delivered.IsZero() {
		err = e.remember(ctx, r)
	}
	if err != nil {
		return r, err
	}
	return r, r.Trusted()
}

// Delivered notes that an agent has received the response. Only the first
// note counts.
func (e *Engine) Delivered(ctx context.Context, r bridge.Record) error {
	if !r.State.Final() || !r.Delivered.IsZero() {
		return nil
	}
	_, err := e.store.Mark(ctx, r.Interaction.ID, bridge.Mark{Delivered: true})
	return err
}

// Cancel withdraws a pending interaction; one that is final is returned as it
// is. Reason is shown to people.
func (e *Engine) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	if err := bridge.CheckText("reason", reason, bridge.MaxText); err != nil {
		return bridge.Record{}, err
	}
	r, err := e.store.Load(ctx, id)
	if err != nil || r.State.Final() {
		return r, err
	}
	r, _, err = e.store.Settle(ctx, bridge.Settlement{ID: id, Nonce: "cancel", Response: bridge.Response{
		State: bridge.StateCancelled, Reason: e.veilText(reason), Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC(), Digest: r.Interaction.Digest,
	}})
	return r, err
}

// DecidedElsewhere withdraws what is pending in a session and covered, as its
// person decided at the agent's own terminal.
func (e *Engine) DecidedElsewhere(ctx context.Context, agent, session, reason string, covers func(bridge.Interaction) bool) error {
	if session == "" {
		return nil
	}
	ids, err := e.store.Pending(ctx, agent, session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := e.store.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && (!r.Queued.IsZero() || !covers(r.Interaction)) {
			continue
		}
		if err == nil {
			_, err = e.Cancel(ctx, id, reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// EndSession forgets the grants of a session; its interactions are cancelled
// one by one by the caller, who can list them.
func (e *Engine) EndSession(ctx context.Context, agent, session string) error {
	return e.store.ClearSession(ctx, agent, session)
}

// Health returns how each platform is, by name.
func (e *Engine) Health() map[string]bridge.Health {
	m := map[string]bridge.Health{}
	for name, p := range e.platforms {
		switch h, ok := p.(bridge.Healther); {
		case e.standby.is(name):
			m[name] = bridge.Health{State: bridge.HealthStandby, Reason: "another daemon receives for it", Since: e.standby.since(name)}
		case ok:
			m[name] = h.Health()
		default:
			m[name] = bridge.Health{State: bridge.HealthUp}
		}
	}
	return m
}
