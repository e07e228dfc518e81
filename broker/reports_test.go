package broker_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestReports checks how reports are merged: empty fields keep their values, an
// old report does not change the state, and the first prompt is the title only
// if there is none.
func TestReports(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		put := func(r bridge.SessionReport, urgent bool) bridge.SessionStatus {
			t.Helper()
			s, now, err := b.PutReport(ctx, "claude", "s1", r)
			if err != nil || now != urgent {
				t.Fatalf("urgent %t, %v", now, err)
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
		s = put(bridge.SessionReport{State: bridge.SessionWorking, At: time.Now().Add(-time.Hour), Step: "Edit"}, false)
		if s.State != bridge.SessionWaiting || s.Waits != "your next message" || s.Steps != 2 {
			t.Errorf("after an old report: %+v", s)
		}
		if s = put(bridge.SessionReport{State: bridge.SessionWorking, Title: "named"}, true); s.Waits != "" || s.Title != "named" || s.Last != "done" {
			t.Errorf("working again: %+v", s)
		}
		if known, err := b.PutSessionMessage(ctx, "claude", "s2", "x"); known || err != nil {
			t.Errorf("the message of an unknown session: %t, %v", known, err)
		}
		if known, err := b.PutSessionMessage(ctx, "claude", "s1", "x"); !known || err != nil {
			t.Fatalf("the message of a session: %t, %v", known, err)
		}
		if s, ok, err := b.Reported(ctx, "claude", "s1"); !ok || err != nil || s.Message != "x" {
			t.Errorf("%+v, %v", s, err)
		}
		if _, _, err := b.PutReport(ctx, "other", "s3", bridge.SessionReport{}); err != nil {
			t.Fatal(err)
		}
		all, err := b.ListReported(ctx, "")
		mine, err2 := b.ListReported(ctx, "claude")
		if err != nil || err2 != nil || len(all) != 2 || len(mine) != 1 || mine[0].ID != "s1" {
			t.Errorf("%v, %v: %+v, %+v", err, err2, all, mine)
		}
	})
}

// TestRefresh checks that a delayed update does not postpone an earlier one.
func TestRefresh(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		r := open(t, b, nil)
		jobs := claimAll(t, b, 2)
		posted(t, b, r, 0)
		for _, j := range jobs {
			if err := b.Finish(ctx, j); err != nil {
				t.Fatal(err)
			}
		}
		refresh := func(d time.Duration) {
			t.Helper()
			if _, err := b.Mark(ctx, r.Interaction.ID, bridge.Mark{Refresh: &d}); err != nil {
				t.Fatal(err)
			}
		}
		refresh(time.Hour)
		if got, _ := b.Claim(ctx, 10, time.Minute); len(got) != 0 {
			t.Fatalf("due at once: %v", got)
		}
		refresh(0)
		refresh(time.Hour)
		got, err := b.Claim(ctx, 10, time.Minute)
		if err != nil || len(got) != 1 || got[0].Kind != bridge.JobEdit || got[0].Destination != 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
}
