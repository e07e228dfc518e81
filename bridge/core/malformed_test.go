package core_test

import (
	"slices"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestMalformed checks that one document which no one can read does not affect
// the others.
func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"x", "9999999999999999", "00000000000000070001----------------------not JSON", "00000000000000079999----------------------{}", `00000000000000070001----------------------{"id":"01J0000000000000000000000"}`} {
		t.Run(raw, func(t *testing.T) {
			t.Parallel()
			c := redistest.Shared(t).Client(t)
			s := onRedis(t, c, "n", 0)
			malformedCard(t, c, s, raw)
			malformedRequests(t, c, s, raw)
			malformedGrants(t, c, s, raw)
		})
	}
}

// replaceNewer replaces a document with one that a newer nod wrote.
func replaceNewer(t *testing.T, s *stored.Store, k broker.Key) {
	t.Helper()
	d := must[[]broker.Doc](t)(s.DB.Get(t.Context(), k))[0]
	if !d.Exists() {
		t.Fatalf("%s does not exist", k)
	}
	d.Format, d.Value = 9999, []byte(`{"new":1}`)
	_, err := s.DB.Do(t.Context(), broker.Change{Put: []broker.Doc{d}})
	noError(t, err)
}

// TestNewer checks that one document of a newer nod does not hide the others, and stays,
// and that lists say that they lack it.
func TestNewer(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		for n, kind := range []string{"life", "body"} {
			bad, good := open(t, s, nil).Interaction.ID, open(t, s, nil).Interaction.ID
			k := broker.Key{Kind: kind, ID: string(bad)}
			replaceNewer(t, s, k)
			for _, f := range []bridge.ListFilter{{}, {State: bridge.StatePending}} {
				if page, err := s.List(ctx, f); err != nil || page.Unreadable != n+1 || !slices.ContainsFunc(page.Items, func(r bridge.Record) bool { return r.Interaction.ID == good }) {
					t.Errorf("%s: the list is %v, %v", kind, page.Items, err)
				}
			}
			if rec, won, err := s.Resolve(ctx, yes(bad, "U")); err == nil || won {
				t.Errorf("%s: a click: %s, won %v", kind, rec.State, won)
			}
			pass(t, time.Hour)
			if over, _, err := s.Expire(ctx, 64); err != nil || !slices.ContainsFunc(over, func(e core.Expiry) bool { return e.ID == good }) {
				t.Errorf("%s: expired: %v, %v", kind, over, err)
			}
			if d := must[[]broker.Doc](t)(s.DB.Get(ctx, k))[0]; d.Format != 9999 {
				t.Errorf("%s was replaced: %+v", kind, d)
			}
		}
		db := s.Documents()
		for _, user := range []string{"a", "b"} {
			noError(t, engine.NewLinked(db).PutLink(ctx, bridge.Link{Platform: "p", User: user}))
			must[bool](t)(give(t, s, bridge.Grant{Agent: "ci", Key: user, Origin: bridge.ID(user), Expires: time.Now().Add(time.Hour)}))
			must[bridge.Stop](t)(session.NewStops(db).Put(ctx, bridge.Stop{Agent: "ci", Session: user}))
			_, _, err := session.NewReports(db).PutReport(ctx, "ci", user, bridge.SessionReport{})
			noError(t, err)
		}
		for _, k := range []broker.Key{{Kind: "link", ID: "p/a"}, {Kind: "grant", ID: "ci\x00\x00a"}, {Kind: "stop", ID: "ci\x00a"}, {Kind: "report", ID: "ci\x00a"}} {
			replaceNewer(t, s, k)
		}
		if all, err := engine.NewLinked(db).Links(ctx); err != nil || len(all.Items) != 1 || all.Unreadable != 1 {
			t.Errorf("the links: %v, %v", all, err)
		}
		if all, err := grant.NewGrants(db).Covering(ctx, "ci", "", []string{"a", "b"}); err != nil || len(all) != 1 {
			t.Errorf("the grants: %v, %v", all, err)
		}
		if all, err := grant.NewGrants(db).All(ctx, ""); err != nil || len(all.Items) != 1 || all.Unreadable != 1 {
			t.Errorf("the listed grants: %v, %v", all, err)
		}
		if all, err := session.NewStops(db).All(ctx, ""); err != nil || len(all.Items) != 1 || all.Unreadable != 1 {
			t.Errorf("the stops: %v, %v", all, err)
		}
		if all, err := session.NewReports(db).ListReported(ctx, ""); err != nil || len(all.Items) != 1 || all.Unreadable != 1 {
			t.Errorf("the sessions: %v, %v", all, err)
		}
		if _, _, err := session.NewStops(db).Stopped(ctx, "ci", "a"); err == nil {
			t.Error("a stop of a newer nod is taken for none")
		}
	})
}

// spoil stores a text in place of a document.
func spoil(t *testing.T, c *rdb.Client, name, raw string) {
	t.Helper()
	key := "nod:{nod}:d:" + name
	if n, err := c.Exists(t.Context(), key).Result(); err != nil || n != 1 {
		t.Fatalf("%s: %d, %v", key, n, err)
	}
	noError(t, c.Set(t.Context(), key, raw, 0).Err())
}

func withCard(i *bridge.Interaction) {
	i.Destinations = []bridge.Destination{{Platform: "slack", Channel: "C"}}
}

func malformedCard(t *testing.T, c *rdb.Client, s *stored.Store, raw string) {
	t.Helper()
	clicked, expires, shown := open(t, s, withCard), open(t, s, func(i *bridge.Interaction) {
		withCard(i)
		i.Deadline = i.Created.Add(time.Millisecond)
	}), open(t, s, withCard)
	for _, r := range []bridge.Record{clicked, expires, shown} {
		must[bridge.Record](t)(s.Mark(t.Context(), r.Interaction.ID, life.Late{Delay: time.Hour})) // stores the card
		spoil(t, c, "card:"+string(r.Interaction.ID)+"/0", raw)
	}
	if rec, won, err := s.Resolve(t.Context(), yes(clicked.Interaction.ID, "U")); err != nil || !won || rec.State != bridge.StateApproved {
		t.Errorf("a click: %s, %v, %v", rec.State, won, err)
	}
	await.Until(t, "it expires", func() bool {
		over, _, err := s.Expire(t.Context(), 64)
		return err == nil && len(over) == 1 && over[0].ID == expires.Interaction.ID
	})
	must[bridge.Record](t)(s.Mark(t.Context(), shown.Interaction.ID, life.Late{Delay: time.Hour}))
	if rec := must[bridge.Record](t)(s.Load(t.Context(), shown.Interaction.ID)); rec.Late[0].IsZero() {
		t.Error("the card is not replaced")
	}
}

func malformedRequests(t *testing.T, c *rdb.Client, s *stored.Store, raw string) {
	t.Helper()
	for _, kind := range []string{"life", "body"} {
		bad := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(time.Millisecond) })
		id := bad.Interaction.ID
		spoil(t, c, kind+":"+string(id), raw)
		if rec, won, err := s.Resolve(t.Context(), yes(id, "U")); won || rec.State.Decided() {
			t.Errorf("%s: a click: %s, %v", kind, rec.State, err)
		}
		if rec, err := s.Load(t.Context(), id); err != nil || rec.Trusted() == nil || rec.State.Decided() {
			t.Errorf("%s: the record is %s, %v", kind, rec.State, err)
		}
		if rec, created, err := s.Open(t.Context(), life.Opening{Interaction: bad.Interaction}); created || rec.State.Decided() {
			t.Errorf("%s: it is opened again: %v", kind, err)
		}
		good := open(t, s, nil)
		page, err := s.List(t.Context(), bridge.ListFilter{})
		if err != nil || len(page.Items) == 0 || page.Items[0].Interaction.ID != good.Interaction.ID {
			t.Errorf("%s: the list is %v, %v", kind, page.Items, err)
		}
		seen, cursor := false, ""
		for {
			events, next, err := s.Events(t.Context(), cursor, bridge.EventFilter{})
			if err != nil {
				t.Errorf("%s: the events: %v", kind, err)
			}
			for _, e := range events {
				seen = seen || e.InteractionID == good.Interaction.ID
			}
			if cursor = next; len(events) == 0 || err != nil {
				break
			}
		}
		if !seen {
			t.Errorf("%s: the event of another request is missing", kind)
		}
		soon := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(time.Millisecond) }).Interaction.ID
		await.Until(t, "another one behind it expires", func() bool {
			over, _, err := s.Expire(t.Context(), 64)
			if err != nil {
				t.Fatalf("%s: expiry: %v", kind, err)
			}
			return len(over) == 1 && over[0].ID == soon
		})
		if !slices.Contains(must[[]bridge.ID](t)(s.Pending(t.Context(), "", "")), id) {
			t.Errorf("%s: it has lost its deadline", kind)
		}
	}
}

func malformedGrants(t *testing.T, c *rdb.Client, s *stored.Store, raw string) {
	t.Helper()
	put := func(key string) {
		must[bool](t)(give(t, s, bridge.Grant{
			Agent: "ci", Session: "s", Key: key, Origin: must[bridge.ID](t)(bridge.NewID()), Expires: time.Now().Add(time.Hour),
		}))
	}
	for _, key := range []string{"a", "b", "c"} {
		put(key)
	}
	spoil(t, c, "grant:ci\x00s\x00b", raw)
	if all := must[[]grant.Held](t)(grant.NewGrants(s.Documents()).Covering(t.Context(), "ci", "s", []string{"a", "b"})); len(all) != 1 {
		t.Errorf("the grants are %v", all)
	}
	o := engine.Options{Store: s, DB: s.DB}
	o.Default()
	noError(t, grant.New(engine.New(o), o).End(t.Context(), "ci", "s"))
	if all := must[[]grant.Held](t)(grant.NewGrants(s.Documents()).Covering(t.Context(), "ci", "s", []string{"a", "b", "c"})); len(all) != 0 {
		t.Errorf("after the session, the grants are %v", all)
	}
	stops := session.NewStops(s.Documents())
	stop := must[bridge.Stop](t)(stops.Put(t.Context(), bridge.Stop{Agent: "ci", Session: "s"}))
	spoil(t, c, "stop:ci\x00s", raw)
	if _, _, err := stops.Stopped(t.Context(), "ci", "s"); err == nil {
		t.Error("a stop that no one can read is taken for none")
	}
	if stopped, err := stops.Drop(t.Context(), stop.Agent, stop.Session, bridge.Actor{}); err != nil || !stopped {
		t.Errorf("it cannot be resumed: %v, %v", stopped, err)
	}
}

// give stores a grant, and reports whether it was not given before.
func give(t *testing.T, s *stored.Store, g bridge.Grant) (bool, error) {
	t.Helper()
	c, err := grant.NewGrants(s.Documents()).Give(t.Context(), g)
	if err == nil && !c.Empty() {
		_, err = s.DB.Do(t.Context(), c)
	}
	return err == nil && !c.Empty(), err
}
