package relay

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/codex"
)

const (
	// outcomeTime is the longest time for which a card waits for the outcome of
	// a resolved request. A denial is reported immediately, but a command may
	// run for an hour.
	outcomeTime = 2 * time.Second
	// rebindTime is the time for which a card waits for its request on a new
	// connection.
	rebindTime = 3 * time.Second
	// awayTime is the time for which cards stay open while Codex is
	// unreachable.
	awayTime = 30 * time.Second
)

// Withdrawal is the cancellation cause of a context whose request is no longer
// needed. Its text is the reason that the card shows.
type Withdrawal string

// Error implements error.
func (w Withdrawal) Error() string { return string(w) }

// Reasons that a card of a Companion closes without a decision.
const (
	withdrawnGone    Withdrawal = "Codex was restarted or stopped, and this request is gone"
	withdrawnStopped Withdrawal = "nod proxy codex was stopped, so only Codex itself asks"
)

// Reply is an answer from chat.
type Reply struct {
	Result json.RawMessage
	// Received is called after the agent has accepted the answer.
	Received func(context.Context)
	// Late is called if the call ran because someone had already allowed it at
	// the terminal.
	Late func(context.Context)
}

// CompanionOptions configures a Companion.
type CompanionOptions struct {
	// Ask asks people and returns their answer. If ctx ends, it cancels the
	// request with the Withdrawal in the cause as the reason.
	Ask func(ctx context.Context, body []byte) (Reply, error)
	// Attached is called with the version of Codex once a connection is
	// established.
	Attached func(version string)
	// Inbox provides the messages from people. It may be nil.
	Inbox Inbox
	// Reporter receives the state of the threads. It may be nil.
	Reporter Reporter
	// Own is set if the app server, its threads and its requests end with the
	// connection.
	Own bool
	Log *slog.Logger
}

// Conn is a connection to codex app-server. Write is safe for concurrent use.
type Conn interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
}

// Companion asks people in chat about the requests that codex app-server shows
// at the terminal or in an editor, which is its other client. The first answer
// counts. It never sends an error, and sends an answer only if a person gave
// one, because both close the dialog in the other client.
type Companion struct {
	CompanionOptions

	mu    sync.Mutex
	cards map[string]*raced // by the key of the request; see attachment.body
	work  sync.WaitGroup
}

// raced is a request that both the terminal and chat may answer.
type raced struct {
	key, thread, turn, item string
	cancel                  context.CancelCauseFunc

	at   *attachment // nil while the connection is lost
	id   json.RawMessage
	sent *Reply
	// outcome is the decision according to the request's item: ReasonAllowed or
	// ReasonDismissed. It is empty if the decision is unknown.
	outcome  string
	resolved bool
}

// of reports whether a request is about an item of a turn.
func (r *raced) of(thread, turn, item string) bool {
	return r.item != "" && r.thread == thread && r.turn == turn && r.item == item
}

// NewCompanion returns a Companion without a connection.
func NewCompanion(o CompanionOptions) *Companion {
	return &Companion{CompanionOptions: o, cards: map[string]*raced{}}
}

// Close withdraws the pending requests and waits until that is done.
func (c *Companion) Close() {
	why := withdrawnStopped
	if c.Own {
		why = withdrawnGone
	}
	c.mu.Lock()
	for _, r := range c.cards {
		r.cancel(why)
	}
	c.cards = map[string]*raced{}
	c.mu.Unlock()
	c.work.Wait()
}

// open asks people, unless an earlier connection has done so. It sends the
// answer on the connection, and with the ID, that the request has at that time.
func (c *Companion) open(ctx context.Context, a *attachment, m Message, r raced, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.cards[r.key]; was != nil && was.at == a && string(was.id) != string(m.ID) {
		r.key += " " + string(m.ID) // both requests are open
	}
	if was := c.cards[r.key]; was != nil {
		was.at, was.id = a, m.ID
		return
	}
	ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx)) // the request outlives the connection
	r.at, r.id = a, m.ID
	c.cards[r.key] = &r
	c.work.Go(func() {
		reply, err := c.Ask(ctx, body)
		c.answered(ctx, &r, reply, err)
	})
}

// answered sends the answer from people if the request is still open on a
// connection. It does not keep the answer for another connection, because a
// repeated request there finds the same answer.
func (c *Companion) answered(ctx context.Context, r *raced, reply Reply, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.cards[r.key] != r || r.resolved: // the terminal answered first
		return
	case err != nil:
		c.Log.Warn("request not answered in chat; left to the terminal", "error", bridge.PublicText(err))
		delete(c.cards, r.key)
		return
	case r.at == nil || r.at.send(ctx, response{ID: r.id, Result: reply.Result}) != nil:
		c.Log.Warn("answer from chat not delivered: the connection to Codex was lost")
		delete(c.cards, r.key)
		return
	}
	r.sent = &reply
}

// settle records that the server has resolved a request. It closes the card of
// the request as soon as the outcome is known. The caller holds the lock.
func (c *Companion) settle(r *raced) {
	r.resolved = true
	if r.outcome != "" || r.item == "" {
		c.conclude(r)
		return
	}
	time.AfterFunc(outcomeTime, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conclude(r)
	})
}

// conclude closes the card of a resolved request. The caller holds the lock.
func (c *Companion) conclude(r *raced) {
	if c.cards[r.key] != r {
		return
	}
	delete(c.cards, r.key)
	if r.sent == nil {
		reason := r.outcome
		if reason == "" {
			reason = bridge.ReasonSettled
		}
		r.cancel(Withdrawal(reason))
		return
	}
	denied := codex.Denies(r.sent.Result)
	if r.outcome == bridge.ReasonAllowed && denied || r.outcome == bridge.ReasonDismissed && !denied {
		c.Log.Warn("the terminal answered first; the answer from chat was not used")
		if late := r.sent.Late; denied && late != nil {
			c.work.Go(func() { late(context.Background()) })
		}
		return
	}
	received := r.sent.Received
	c.work.Go(func() { received(context.Background()) })
}

// detach keeps the cards of a lost connection for a while, and drops answers
// that may not have arrived.
func (c *Companion) detach(a *attachment) {
	c.mu.Lock()
	for key, r := range c.cards {
		switch {
		case r.at != a:
		case r.resolved:
			c.conclude(r)
		case r.sent != nil:
			delete(c.cards, key)
		default:
			r.at = nil
		}
	}
	c.mu.Unlock()
	time.AfterFunc(awayTime, c.dropOrphans)
}

// dropOrphans closes the cards whose requests are on no connection.
func (c *Companion) dropOrphans() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, r := range c.cards {
		if r.at == nil {
			delete(c.cards, key)
			r.cancel(withdrawnGone)
		}
	}
}

// each calls f for the matching cards of a connection. The caller must not hold
// the lock.
func (c *Companion) each(a *attachment, matches func(*raced) bool, f func(*raced)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.cards {
		if r.at == a && matches(r) {
			f(r)
		}
	}
}
