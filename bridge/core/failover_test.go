package core_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// failing is a database with replicas whose master is lost between a read and its
// confirmation, together with the last version of some documents.
type failing struct {
	*memory.Store
	mu   sync.Mutex
	lost []broker.Doc // as the next master has them
}

func (f *failing) Confirm(ctx context.Context, read ...broker.Version) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.lost {
		d.Fresh, d.Next = true, d.Version
		if _, err := f.Do(ctx, broker.Change{Put: []broker.Doc{d}}); err != nil {
			return err
		}
	}
	f.lost = nil
	_, err := f.Do(ctx, broker.Change{If: read})
	return err
}

// unconfirmed is a database whose replicas do not confirm anything.
type unconfirmed struct {
	*memory.Store
	away atomic.Bool
}

func (u *unconfirmed) Confirm(ctx context.Context, read ...broker.Version) error {
	if u.away.Load() {
		return bridge.Wrap(bridge.CodeUnavailable, bridge.ErrUnconfirmed, "no replica")
	}
	return u.Store.Confirm(ctx, read...)
}

// TestEventsAreConfirmed checks that no event says what people did before the replicas
// have it, and that the other events do not wait for them.
func TestEventsAreConfirmed(t *testing.T) {
	t.Parallel()
	seals := broker.NewSeals([]byte("key"))
	db := &unconfirmed{Store: memory.New(seals)}
	s := stored.On(t, db, seals, core.Options{Node: "n"})
	for name, x := range map[string]struct {
		do    func(id bridge.ID)
		waits bool
	}{
		"a decision": {func(id bridge.ID) { approve(t, s, id) }, true},
		"a vote":     {func(id bridge.ID) { vote(t, s, ballot(id, "ana", bridge.StateApproved), core.BallotCounted) }, true},
		"a deferral": {func(id bridge.ID) { mark(t, s, id, life.Deferred{Hold: time.Hour}) }, true},
		"a stop": {func(id bridge.ID) {
			must[bridge.Stop](t)(session.NewStops(s.Documents()).Put(t.Context(), bridge.Stop{Agent: "ci", Session: string(id)}))
		}, true},
		"its end": {func(bridge.ID) {
			all := must[bridge.Page[bridge.Stop]](t)(session.NewStops(s.Documents()).All(t.Context(), ""))
			must[bool](t)(session.NewStops(s.Documents()).Drop(t.Context(), "ci", all.Items[0].Session, bridge.Actor{}))
		}, true},
		"a card":    {func(id bridge.ID) { posted(t, s, must[bridge.Record](t)(s.Load(t.Context(), id)), 0) }, false},
		"a request": {func(bridge.ID) { open(t, s, nil) }, false},
	} {
		id := open(t, s, func(i *bridge.Interaction) { i.Session = "s"; i.Quorum = 2 }).Interaction.ID
		if name == "a decision" || name == "its end" {
			id = open(t, s, nil).Interaction.ID
		}
		if name == "its end" {
			must[bridge.Stop](t)(session.NewStops(s.Documents()).Put(t.Context(), bridge.Stop{Agent: "ci", Session: "other"}))
		}
		cursor := must[string](t)(s.Cursor(t.Context()))
		x.do(id)
		db.away.Store(true)
		events, _, err := s.Events(t.Context(), cursor, bridge.EventFilter{})
		db.away.Store(false)
		if x.waits != (bridge.ErrorCode(err) == bridge.CodeUnavailable) || x.waits != (len(events) == 0) {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
		if events, _, err := s.Events(t.Context(), cursor, bridge.EventFilter{}); err != nil || len(events) != 1 {
			t.Errorf("%s, confirmed: %v, %v", name, events, err)
		}
	}
}

// TestLostBeforeConfirmed checks that no caller learns of a decision that the master
// which confirms it does not have.
func TestLostBeforeConfirmed(t *testing.T) {
	t.Parallel()
	seals := broker.NewSeals([]byte("key"))
	db := &failing{Store: memory.New(seals)}
	s := stored.On(t, db, seals, core.Options{Node: "n"})
	id := open(t, s, nil).Interaction.ID
	before := must[[]broker.Doc](t)(db.Get(t.Context(), life.Key(id)))
	if _, won, err := s.Resolve(t.Context(), yes(id, "U")); err != nil || !won {
		t.Fatal(won, err)
	}
	lose := func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.lost = before
	}
	lose()
	if rec := must[bridge.Record](t)(s.Load(t.Context(), id)); rec.State != bridge.StatePending {
		t.Errorf("it is read as %s", rec.State)
	}
	if _, won, err := s.Resolve(t.Context(), yes(id, "U")); err != nil || !won {
		t.Fatal(won, err)
	}
	lose()
	no := yes(id, "other")
	no.Response.State = bridge.StateDenied
	if rec, won, err := s.Resolve(t.Context(), no); err != nil || !won || rec.State != bridge.StateDenied {
		t.Errorf("a click after the decision was lost: %s, %v, %v", rec.State, won, err)
	}
	denied := must[[]broker.Doc](t)(db.Get(t.Context(), life.Key(id)))
	lose()
	noError(t, db.Confirm(t.Context()))
	if _, won, err := s.Resolve(t.Context(), yes(id, "U")); err != nil || !won {
		t.Fatal(won, err)
	}
	before = denied
	lose()
	if rec := must[bridge.Record](t)(s.Load(t.Context(), id)); rec.State != bridge.StateDenied {
		t.Errorf("another master has it denied, and it is read as %s", rec.State)
	}
}

// twice is a hook that sends scripts twice, as the client does if it loses the reply.
type twice struct{}

func (twice) DialHook(next rdb.DialHook) rdb.DialHook { return next }

func (twice) ProcessHook(next rdb.ProcessHook) rdb.ProcessHook { return next }

func (twice) ProcessPipelineHook(next rdb.ProcessPipelineHook) rdb.ProcessPipelineHook {
	return func(ctx context.Context, cmds []rdb.Cmder) error {
		if err := next(ctx, cmds); err != nil { // such as an unknown script
			return err
		}
		return next(ctx, cmds)
	}
}

// TestSentTwice checks that a change that Redis gets twice counts once, and that its
// caller learns what it would have learned otherwise.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), redistest.Shared(t).Client(t)
	s := onRedis(t, c, "n", 0)
	c.AddHook(twice{})
	o := opening(t, "k", func(i *bridge.Interaction) { i.Quorum, i.Session = 2, "s" })
	rec, created, err := s.Open(ctx, o)
	if id := o.Interaction.ID; err != nil || !created || rec.Interaction.ID != id {
		t.Fatalf("it is opened: %v, %v", created, err)
	}
	vote(t, s, ballot(rec.Interaction.ID, "ana", bridge.StateApproved), core.BallotCounted)
	vote(t, s, ballot(rec.Interaction.ID, "ben", bridge.StateApproved), core.BallotDecided)
	if rec = must[bridge.Record](t)(s.Load(ctx, rec.Interaction.ID)); rec.Audit == nil || len(rec.Votes) != 2 {
		t.Errorf("it is %+v", rec)
	}
	g := bridge.Grant{Agent: "ci", Key: "k", Origin: "x", Expires: time.Now().Add(time.Hour)}
	by := bridge.Actor{Platform: "slack", User: "U"}
	links, said, log := engine.NewLinked(s.Documents()), session.NewInbox(s.Documents(), s), journal.New(s.Documents(), nil)
	must[bridge.Stop](t)(session.NewStops(s.Documents()).Put(ctx, bridge.Stop{Agent: "ci", Session: "s", By: by}))
	for what, x := range map[string][]func() (bool, error){
		"a grant": {func() (bool, error) { return give(t, s, g) }, func() (bool, error) { return grant.NewGrants(s.Documents()).Revoke(ctx, g) }},
		"a link": {func() (bool, error) { return true, links.PutLink(ctx, bridge.Link{Platform: "p", User: "u"}) },
			func() (bool, error) { return links.DropLink(ctx, "p", "u") }},
		"a stop":  {func() (bool, error) { return session.NewStops(s.Documents()).Drop(ctx, "ci", "s", by) }},
		"a lease": {func() (bool, error) { return documents.NewLeases(s.Documents()).Hold(ctx, "l", "me", time.Minute) }},
		"a passkey": {func() (bool, error) {
			return true, passkeys.NewCredentials(s.Documents()).AddPasskey(ctx, passkey.Credential{Person: "ana", ID: []byte("1")})
		}},
		"a message": {func() (bool, error) {
			_, err := said.Put(ctx, bridge.Steering{Agent: "ci", Session: "other"}, "k")
			return true, err
		}, func() (bool, error) {
			n, err := said.Ended(ctx, "ci", "other")
			return n == 1, err
		}},
		"an entry": {func() (bool, error) {
			return true, log.Write(ctx, bridge.AuditRefusal, rec.Interaction, bridge.Refusal{Why: "x"})
		}},
	} {
		for n, do := range x {
			if did, err := do(); err != nil || !did {
				t.Errorf("%s, call %d: %v, %v", what, n, did, err)
			}
		}
	}
	votes, refusals := 0, 0
	for _, e := range must[[]bridge.AuditEntry](t)(audit.NewEntries(s.Documents(), 0).AuditEntries(ctx, "", 100)) {
		if e.Type == bridge.AuditVote || e.Type == bridge.AuditDecision {
			votes++
		}
		if e.Type == bridge.AuditRefusal {
			refusals++
		}
	}
	if votes != 3 || refusals != 1 {
		t.Errorf("the audit log has %d votes and decisions, and %d refusals", votes, refusals)
	}
}
