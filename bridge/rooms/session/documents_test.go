package session_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// TestReports checks how reports are merged: empty fields keep their values, an old
// report does not change the state, and the first prompt is the title only if there is
// none.
func TestReports(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b, ctx := session.NewReports(stored.InMemory(t, nil, func() time.Time { return now }).Documents()), t.Context()
	put := func(r bridge.SessionReport, urgent bool) bridge.SessionStatus {
		t.Helper()
		s, soon, err := b.PutReport(ctx, "claude", "s1", r)
		if err != nil || soon != urgent {
			t.Fatalf("urgent %t, %v", soon, err)
		}
		return s
	}
	if _, _, err := b.PutReport(ctx, "claude", "s1", bridge.SessionReport{Update: true}); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("an update of an unknown session: %v", err)
	}
	put(bridge.SessionReport{State: bridge.SessionWorking, Host: "h", Prompt: "first"}, true)
	put(bridge.SessionReport{Prompt: "second", Branch: "main"}, false)
	s := put(bridge.SessionReport{Step: "Bash", Subagent: "Explore", SubagentID: "a1"}, false)
	if s.Title != "first" || s.Host != "h" || s.Branch != "main" || s.Steps != 1 || s.Step != "Bash" || s.Subagents["a1"] != "Explore" {
		t.Errorf("%+v", s)
	}
	put(bridge.SessionReport{State: bridge.SessionWaiting, Waits: "your next message", Last: "done"}, true)
	s = put(bridge.SessionReport{State: bridge.SessionWorking, At: now.Add(-time.Hour), Step: "Edit"}, false)
	if s.State != bridge.SessionWaiting || s.Waits != "your next message" || s.Steps != 2 {
		t.Errorf("after an old report: %+v", s)
	}
	if s = put(bridge.SessionReport{State: bridge.SessionWorking, Title: "named"}, true); s.Waits != "" || s.Title != "named" || s.Last != "done" {
		t.Errorf("working again: %+v", s)
	}
	for id, want := range map[string]bool{"s2": false, "s1": true} {
		if known := stored.Must[bool](t)(b.PutSessionMessage(ctx, "claude", id, "x")); known != want {
			t.Errorf("the message of %s: %t", id, known)
		}
	}
	if s, ok, err := b.Reported(ctx, "claude", "s1"); !ok || err != nil || s.Message != "x" {
		t.Errorf("%+v, %v", s, err)
	}
	now = now.Add(time.Second)
	if _, _, err := b.PutReport(ctx, "other", "s3", bridge.SessionReport{}); err != nil {
		t.Fatal(err)
	}
	all, mine := stored.Must[bridge.Page[bridge.SessionStatus]](t)(b.ListReported(ctx, "")), stored.Must[bridge.Page[bridge.SessionStatus]](t)(b.ListReported(ctx, "claude"))
	if len(all.Items) != 2 || all.Items[0].ID != "s3" || len(mine.Items) != 1 || mine.Items[0].ID != "s1" {
		t.Errorf("%+v, %+v", all, mine)
	}
	now = now.Add(bridge.ReportedTTL)
	if _, _, err := b.PutReport(ctx, "other", "s4", bridge.SessionReport{}); err != nil {
		t.Fatal(err)
	}
	if all := stored.Must[bridge.Page[bridge.SessionStatus]](t)(b.ListReported(ctx, "")); len(all.Items) != 1 {
		t.Errorf("after their time, there are %+v", all)
	}
}

// lagging is a database whose replicas confirm nothing.
type lagging struct{ broker.Store }

func (lagging) Confirm(context.Context, ...broker.Version) error { return bridge.ErrUnconfirmed }

// TestRepeatConfirmed checks that a person who repeats a stop or a message is told that it is
// stored only after the replicas have confirmed it.
func TestRepeatConfirmed(t *testing.T) {
	t.Parallel()
	s, ctx := stored.InMemory(t, nil, nil), t.Context()
	db := s.Documents()
	db.Store = lagging{db.Store}
	stops, messages := session.NewStops(db), session.NewInbox(db, s)
	for name, put := range map[string]func() error{
		"a stop": func() error { _, err := stops.Put(ctx, bridge.Stop{Agent: "ci", Session: "s"}); return err },
		"a message": func() error {
			_, err := messages.Put(ctx, bridge.Steering{Agent: "ci", Session: "other"}, "1")
			return err
		},
	} {
		stored.NoError(t, put())
		if err := put(); !errors.Is(err, bridge.ErrUnconfirmed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStopAndOpen checks that nothing is opened in a session once it is stopped,
// whichever daemon stops it, until it is resumed.
func TestStopAndOpen(t *testing.T) {
	t.Parallel()
	stored.Each(t, func(t *testing.T, daemon stored.Opener) {
		ctx, a, b := t.Context(), daemon("a"), daemon("b")
		stops := session.NewStops(b.Documents())
		var opened atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for bridge.Pause(ctx, time.Millisecond) {
					o := stored.Opening(t, "", func(i *bridge.Interaction) { i.Session = "s" })
					if _, _, err := a.Open(ctx, o, broker.Version{Key: broker.Key{Kind: "stop", ID: "ci\x00s"}}); err != nil {
						return
					}
					opened.Add(1)
				}
			})
		}
		for opened.Load() < 8 && bridge.Pause(ctx, time.Millisecond) {
		}
		stored.Must[bridge.Stop](t)(stops.Put(ctx, bridge.Stop{Agent: "ci", Session: "s"}))
		n := len(stored.Must[[]bridge.ID](t)(b.Pending(ctx, "", "")))
		all.Wait()
		if now := len(stored.Must[[]bridge.ID](t)(b.Pending(ctx, "", ""))); now != int(opened.Load()) || now-n > 8 {
			t.Errorf("%d were pending at the stop, %d after it, %d opened", n, now, opened.Load())
		}
		if stopped := stored.Must[bool](t)(stops.Drop(ctx, "ci", "s", bridge.Actor{})); !stopped {
			t.Error("it was not stopped")
		}
		stored.Open(t, a, func(i *bridge.Interaction) { i.Session = "s" })
	})
}
