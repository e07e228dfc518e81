package core_test

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestPresence checks the count of the front ends of a session, of which one without a
// session counts in every session, and that one that is silent no longer counts.
func TestPresence(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		count := func(session string, clients, enabled int) {
			t.Helper()
			x, y, err := s.Present(ctx, session)
			if err != nil || x != clients || y != enabled {
				t.Errorf("present %d, enabled %d, %v; want %d, %d", x, y, err, clients, enabled)
			}
			st, err := s.Setting(ctx, bridge.SettingQuery{Agent: "ci", Session: session})
			if err != nil || st.FrontEnds != (enabled > 0) {
				t.Errorf("the setting is %+v, %v", st, err)
			}
		}
		join := func(session, client string, enabled bool) {
			t.Helper()
			noError(t, s.Join(ctx, session, client, enabled))
		}
		count("s", 0, 0)
		join("s", "a", true)
		join("s", "b", false)
		join("s", "a", true)
		count("s", 2, 1)
		join("s", "a", false)
		join("s", "b", true)
		count("s", 2, 1)
		noError(t, s.Leave(ctx, "s", "b"))
		count("s", 1, 0)
		join("", "page", true)
		join("other", "c", false)
		for session, want := range map[string][2]int{"s": {2, 1}, "": {1, 1}, "other": {2, 1}, "third": {1, 1}} {
			count(session, want[0], want[1])
		}
		pass(t, bridge.PresenceTTL-time.Second)
		join("s", "a", true)
		pass(t, 2*time.Second)
		count("s", 1, 1)
		count("other", 0, 0)
	})
}

// TestToolApprovals checks how long an approval that a tool remembers applies, and that
// it is not a grant.
func TestToolApprovals(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		recall := func(session, key string, want bridge.Scope) {
			t.Helper()
			if got := must[bridge.Scope](t)(s.Recall(t.Context(), "ci", session, key)); got != want {
				t.Errorf("%s in %s: %q, want %q", key, session, got, want)
			}
		}
		for key, scope := range map[string]bridge.Scope{"o": bridge.ScopeOnce, "s": bridge.ScopeSession, "a": bridge.ScopeAlways} {
			noError(t, s.Remember(t.Context(), "ci", "s1", key, scope))
		}
		recall("s1", "o", bridge.ScopeOnce)
		recall("s1", "o", "")
		recall("s1", "s", bridge.ScopeSession)
		recall("s2", "s", "")
		recall("s2", "a", bridge.ScopeAlways)
		noError(t, s.ClearSession(t.Context(), "ci", "s1"))
		recall("s1", "s", "")
		recall("s1", "a", bridge.ScopeAlways)
		if all := must[[]bridge.Grant](t)(s.Covering(t.Context(), "ci", "s2", []string{"a"})); len(all) > 0 {
			t.Errorf("a tool granted itself: %v", all)
		}
		noError(t, s.Remember(t.Context(), "ci", "s1", "raced", bridge.ScopeOnce))
		var once atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := s.Recall(t.Context(), "ci", "s1", "raced"); err != nil || got != "" {
					once.Add(1)
				}
			})
		}
		if all.Wait(); once.Load() != 1 {
			t.Errorf("one approval was used %d times", once.Load())
		}
	})
}

// TestGrants checks that a grant applies to its agent and session until it expires or
// its session ends, that a request gives it once, and that a dropped one is gone.
func TestGrants(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		grant := func(agent, session, key string, ttl time.Duration) bridge.Grant {
			return bridge.Grant{Agent: agent, Session: session, Key: key, Origin: bridge.ID(uuid.NewString()), Expires: time.Now().Add(ttl)}
		}
		put := func(g bridge.Grant, want bool) {
			t.Helper()
			if given := must[bool](t)(s.PutGrant(ctx, g)); given != want {
				t.Errorf("given is %v", given)
			}
		}
		has := func(agent, session, key string) bool {
			all := must[bridge.Setting](t)(s.Setting(ctx, bridge.SettingQuery{Agent: agent, Session: session, Grants: []string{"none", key}})).Grants
			return len(all) == 1 && all[0].Key == key
		}
		mine := grant("ci", "s1", "k", time.Hour)
		put(mine, true)
		put(mine, false)
		put(grant("ci", "", "always", 2*time.Hour), true)
		put(grant("ci", "s1", "old", -time.Second), false)
		put(grant("other", "", "k", time.Hour), true)
		for _, x := range []struct {
			agent, session, key string
			want                bool
		}{
			{"ci", "s1", "k", true}, {"ci", "s2", "k", false}, {"ci", "", "k", false}, {"other", "s1", "k", true}, {"third", "s1", "k", false},
			{"ci", "s2", "always", true}, {"ci", "", "always", true}, {"ci", "s1", "old", false},
		} {
			if got := has(x.agent, x.session, x.key); got != x.want {
				t.Errorf("grant %+v: %v", x, got)
			}
		}
		if own, all := must[[]bridge.Grant](t)(s.Grants(ctx, "ci")), must[[]bridge.Grant](t)(s.Grants(ctx, "")); len(own) != 2 || len(all) != 3 {
			t.Errorf("listed are %+v and %+v", own, all)
		}
		for _, want := range []bool{true, false} {
			if had := must[bool](t)(s.DropGrant(ctx, mine)); had != want {
				t.Errorf("it existed: %v", had)
			}
		}
		if put(mine, false); has("ci", "s1", "k") { // a repeat does not bring back what was revoked
			t.Error("a dropped grant applies")
		}
		put(grant("ci", "s1", "k", time.Hour), true)
		noError(t, s.ClearSession(ctx, "ci", "s1"))
		if has("ci", "s1", "k") || !has("ci", "s1", "always") {
			t.Error("the end of a session ends its grants and no others")
		}
		if pass(t, time.Hour); has("other", "", "k") || !has("ci", "", "always") {
			t.Error("a grant holds until it expires")
		}
	})
}

// TestReports checks how reports are merged: empty fields keep their values, an old
// report does not change the state, and the first prompt is the title only if there is
// none.
func TestReports(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b, ctx := stored.InMemory(t, nil, func() time.Time { return now }), t.Context()
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
	for session, want := range map[string]bool{"s2": false, "s1": true} {
		if known := must[bool](t)(b.PutSessionMessage(ctx, "claude", session, "x")); known != want {
			t.Errorf("the message of %s: %t", session, known)
		}
	}
	if s, ok, err := b.Reported(ctx, "claude", "s1"); !ok || err != nil || s.Message != "x" {
		t.Errorf("%+v, %v", s, err)
	}
	now = now.Add(time.Second)
	if _, _, err := b.PutReport(ctx, "other", "s3", bridge.SessionReport{}); err != nil {
		t.Fatal(err)
	}
	all, mine := must[[]bridge.SessionStatus](t)(b.ListReported(ctx, "")), must[[]bridge.SessionStatus](t)(b.ListReported(ctx, "claude"))
	if len(all) != 2 || all[0].ID != "s3" || len(mine) != 1 || mine[0].ID != "s1" {
		t.Errorf("%+v, %+v", all, mine)
	}
	now = now.Add(bridge.ReportedTTL)
	if _, _, err := b.PutReport(ctx, "other", "s4", bridge.SessionReport{}); err != nil {
		t.Fatal(err)
	}
	if all := must[[]bridge.SessionStatus](t)(b.ListReported(ctx, "")); len(all) != 1 {
		t.Errorf("after their time, there are %+v", all)
	}
}

// TestPasskeys checks that the counter of a key only grows, that a revoked key stays
// revoked, and that an ID belongs to one person.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		ctx, now := t.Context(), time.Now().UTC().Truncate(time.Millisecond)
		key := passkey.Credential{ID: []byte("1"), PublicKey: []byte("k"), Person: "ana", Created: now, Counter: 3}
		wants := func(what string, err error, code bridge.Code) {
			t.Helper()
			if bridge.ErrorCode(err) != code {
				t.Errorf("%s: %v, want %q", what, err, code)
			}
		}
		at := func(counter uint32) passkey.Credential { c := key; c.Counter = counter; return c }
		wants("add", b.AddPasskey(ctx, key), "")
		taken := key
		taken.Person = "bo"
		wants("the ID of another person", b.AddPasskey(ctx, taken), bridge.CodeConflict)
		wants("grows", b.UsePasskey(ctx, at(4)), "")
		wants("same", b.UsePasskey(ctx, at(4)), bridge.CodeForbidden)
		wants("back", b.UsePasskey(ctx, at(2)), bridge.CodeForbidden)
		wants("to zero", b.UsePasskey(ctx, at(0)), bridge.CodeForbidden)
		other := at(9)
		other.PublicKey = []byte("other")
		wants("another key", b.UsePasskey(ctx, other), bridge.CodeForbidden)
		var won atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if b.UsePasskey(ctx, at(5)) == nil {
					won.Add(1)
				}
			})
		}
		if all.Wait(); won.Load() != 1 {
			t.Errorf("one counter was used %d times", won.Load())
		}
		key.Revoked = now
		wants("revoke", b.RevokePasskey(ctx, key), "")
		wants("revoke again", b.RevokePasskey(ctx, key), "")
		wants("use a revoked key", b.UsePasskey(ctx, at(6)), bridge.CodeForbidden)
		wants("add a revoked key", b.AddPasskey(ctx, at(7)), bridge.CodeConflict)
		for n := range passkey.MaxKeys + 1 {
			more := passkey.Credential{ID: []byte("more" + strconv.Itoa(n)), Person: "ana", Created: now.Add(time.Second)}
			want := bridge.Code("")
			if n == passkey.MaxKeys {
				want = bridge.CodeConflict
			}
			wants("another key "+strconv.Itoa(n), b.AddPasskey(ctx, more), want)
		}
		got := must[[]passkey.Credential](t)(b.Passkeys(ctx, "ana"))
		if len(got) != passkey.MaxKeys+1 || string(got[0].ID) != "1" || got[0].Valid() {
			t.Errorf("the keys are %+v", got)
		}
		if people := must[[]string](t)(b.PasskeyPeople(ctx)); !slices.Equal(people, []string{"ana"}) {
			t.Errorf("the people are %q", people)
		}
		if n := must[map[string]int](t)(core.Enrolled(ctx, b.DB)); len(n) != 1 || n["ana"] != passkey.MaxKeys {
			t.Errorf("enrolled are %v", n)
		}
	})
}

// TestLinks checks that linked accounts are found, listed and dropped.
func TestLinks(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		link := bridge.Link{Platform: "slack", User: "U1", Person: "ana"}
		noError(t, s.PutLink(ctx, link))
		if got := must[bridge.Link](t)(s.Linked(ctx, "slack", "U1")); got != link {
			t.Errorf("the link is %+v", got)
		}
		if got := must[bridge.Link](t)(s.Linked(ctx, "slack", "U2")); got.Person != "" {
			t.Errorf("an account without a link has %+v", got)
		}
		if all := must[[]bridge.Link](t)(s.Links(ctx)); !slices.Equal(all, []bridge.Link{link}) {
			t.Errorf("the links are %+v", all)
		}
		for _, want := range []bool{true, false} {
			if had := must[bool](t)(s.DropLink(ctx, "slack", "U1")); had != want {
				t.Errorf("it existed: %v", had)
			}
		}
	})
}

// TestLimits checks that the requests of an agent are counted by the minute.
func TestLimits(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		now := time.Now()
		for _, x := range []struct {
			at   time.Time
			want int
		}{{now, 1}, {now, 2}, {now.Add(time.Minute), 1}} {
			if n := must[int](t)(s.Count(ctx, "ci", x.at)); n != x.want {
				t.Errorf("it counts as %d, want %d", n, x.want)
			}
		}
		open(t, s, nil)
		if st := must[bridge.Stats](t)(s.Stats(ctx)); st.Pending != 1 || st.Jobs != 2 || len(st.Ages) != 1 {
			t.Errorf("the figures are %+v", st)
		}
	})
}

// TestMaxPending checks that no more requests of an agent are pending than may be, even
// if many are opened at once, and that the limit refuses nothing else: neither repeats,
// nor what no one has to answer, nor the next round of one of them.
func TestMaxPending(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		ctx, nodes := t.Context(), []*stored.Store{daemon("a"), daemon("b")}
		s := nodes[0]
		bounded := func(key string, change func(*bridge.Interaction)) bridge.Opening {
			o := opening(t, key, change)
			o.MaxPending = 3
			return o
		}
		first := bounded("k", nil)
		if _, _, err := s.Open(ctx, first); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var opened, full atomic.Int64
		for n := range 20 {
			o := bounded("", nil)
			all.Go(func() {
				_, created, err := nodes[n%2].Open(ctx, o)
				switch {
				case err == nil && created:
					opened.Add(1)
				case bridge.ErrorCode(err) == bridge.CodeRateLimited:
					full.Add(1)
				default:
					t.Errorf("created %v, %v", created, err)
				}
			})
		}
		if all.Wait(); opened.Load() != 2 || full.Load() != 18 {
			t.Fatalf("%d were opened, and %d refused", opened.Load(), full.Load())
		}
		again := bounded("k", nil)
		if rec, created, err := s.Open(ctx, again); err != nil || created || rec.Interaction.ID != first.Interaction.ID {
			t.Errorf("a repeat: %s, created %v, %v", rec.Interaction.ID, created, err)
		}
		ruled := bounded("", nil)
		ruled.Response = &bridge.Response{State: bridge.StateDenied, Annotations: map[string]bridge.Annotation{}}
		if _, created, err := s.Open(ctx, ruled); err != nil || !created {
			t.Errorf("one that a rule answers: created %v, %v", created, err)
		}
		next := bounded("", func(i *bridge.Interaction) { i.Previous = first.Interaction.ID })
		next.Superseded = bridge.Response{Annotations: map[string]bridge.Annotation{}}
		if _, created, err := s.Open(ctx, next); err != nil || !created {
			t.Errorf("the next round: created %v, %v", created, err)
		}
		if _, _, err := s.Open(ctx, bounded("", nil)); bridge.ErrorCode(err) != bridge.CodeRateLimited {
			t.Errorf("one too many: %v", err)
		}
		approve(t, s, next.Interaction.ID)
		if _, created, err := s.Open(ctx, bounded("", nil)); err != nil || !created {
			t.Errorf("after one was answered: created %v, %v", created, err)
		}
	})
}

// TestNotes checks that the first value of a note stays until it is replaced or its
// time is over, and that a lease has one holder.
func TestNotes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		for _, v := range []string{"1", "2"} {
			if got := must[string](t)(s.PutNote(ctx, "k", v, time.Minute)); got != "1" {
				t.Errorf("the note is %q", got)
			}
		}
		if err := s.SetNote(ctx, "k", "3", time.Minute); err != nil || must[string](t)(s.Note(ctx, "k")) != "3" {
			t.Errorf("the note was not replaced: %v", err)
		}
		if err := s.DropNote(ctx, "k"); err != nil || must[string](t)(s.Note(ctx, "k")) != "" {
			t.Errorf("the note was not dropped: %v", err)
		}
		hold := func(holder string, want bool) {
			t.Helper()
			if got := must[bool](t)(s.Hold(ctx, "l", holder, time.Minute)); got != want {
				t.Errorf("%s has it: %v", holder, got)
			}
		}
		hold("a", true)
		hold("b", false)
		hold("a", true)
		noError(t, s.Release(ctx, "l", "b"))
		hold("b", false)
		noError(t, s.Release(ctx, "l", "a"))
		hold("b", true)
		must[string](t)(s.PutNote(ctx, "short", "1", time.Minute))
		pass(t, time.Minute)
		hold("a", true)
		if got := must[string](t)(s.Note(ctx, "short")); got != "" {
			t.Errorf("after its time, the note is %q", got)
		}
	})
}

// TestStopAndOpen checks that nothing is opened in a session once it is stopped,
// whichever daemon stops it, until it is resumed.
func TestStopAndOpen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		ctx, a, b := t.Context(), daemon("a"), daemon("b")
		var opened atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for bridge.Pause(ctx, time.Millisecond) {
					o := opening(t, "", func(i *bridge.Interaction) { i.Session = "s" })
					o.Stoppable = true
					if _, _, err := a.Open(ctx, o); err != nil {
						return
					}
					opened.Add(1)
				}
			})
		}
		for opened.Load() < 8 && bridge.Pause(ctx, time.Millisecond) {
		}
		must[bridge.Stop](t)(b.PutStop(ctx, bridge.Stop{Agent: "ci", Session: "s"}))
		n := len(must[[]bridge.ID](t)(b.Pending(ctx, "", "")))
		all.Wait()
		if now := len(must[[]bridge.ID](t)(b.Pending(ctx, "", ""))); now != int(opened.Load()) || now-n > 8 {
			t.Errorf("%d were pending at the stop, %d after it, %d opened", n, now, opened.Load())
		}
		if stopped := must[bool](t)(b.DropStop(ctx, "ci", "s", bridge.Actor{})); !stopped {
			t.Error("it was not stopped")
		}
		open(t, a, func(i *bridge.Interaction) { i.Session = "s" })
	})
}
