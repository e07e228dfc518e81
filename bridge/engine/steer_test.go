package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// said sends a reply of a person to the card of the wall.
func (c *court) said(who, message, text string) bridge.Verdict {
	c.t.Helper()
	v, err := c.engine.Reply(c.t.Context(), bridge.Said{
		Actor: bridge.Actor{Platform: "wall", User: who, Name: who}, Card: bridge.MessageRef{Channel: "c", Message: "1"},
		Message: message, Text: text, At: time.Now(), After: func(bridge.MessageRef) bool { return true },
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

// posted waits until the wall shows the card of a request.
func (c *court) posted(rec bridge.Record) {
	c.t.Helper()
	for range 200 {
		if got, err := c.engine.Get(c.t.Context(), rec.Interaction.ID); err == nil && len(got.Messages) > 0 {
			time.Sleep(50 * time.Millisecond) // the notes follow the message
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.t.Fatal("not posted")
}

// taken returns the texts that a reader takes.
func (c *court) taken(reader string, continued *bool) []bridge.Steering {
	c.t.Helper()
	all, err := c.engine.Sessions.Take(c.t.Context(), bridge.Taking{
		Agent: "ci", Session: "s", Reader: reader, Lease: time.Minute, Continued: continued,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

// TestSteerReply checks that a reply of a responder reaches the agent once,
// and that nobody else's does.
func TestSteerReply(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	c.posted(c.open(run("ls")))
	if v := c.said("eve", "1", "rm -rf /"); v.Kind != bridge.VerdictInvalid || !strings.Contains(v.Note, "Only people who may answer") {
		t.Errorf("a stranger is told %+v", v)
	}
	for _, want := range []bridge.VerdictKind{bridge.VerdictNoted, ""} { // the platform delivers it twice
		if v := c.said("ana", "2", "use \u202eport 8080\x07"); v.Kind != want || v.Note != "" {
			t.Errorf("a responder is told %+v", v)
		}
	}
	if v := c.said("ana", "3", strings.Repeat("x", bridge.MaxSteering+1)); v.Kind != bridge.VerdictInvalid || !strings.Contains(v.Note, "at most 4000") {
		t.Errorf("the author of a long text is told %+v", v)
	}
	all := c.taken("r", nil)
	if len(all) != 1 || all[0].By.User != "ana" || all[0].Where.Ref.Message != "2" || all[0].Proof != "" {
		t.Fatalf("the agent takes %+v", all)
	}
	if got := all[0].Words(); !strings.Contains(got, "ana wrote in wall at ") || !strings.HasSuffix(got, ": 'use ⟨U+202E⟩port 8080⟨U+0007⟩'") {
		t.Errorf("the agent reads %q", got)
	}
	if same := c.taken("r", nil); len(same) != 1 || !same[0].Again || all[0].Again {
		t.Errorf("the same reader takes %+v", same)
	}
	if more := c.taken("other", nil); len(more) != 0 {
		t.Errorf("another reader takes %+v", more)
	}
	if err := c.engine.Sessions.Took(t.Context(), "ci", "s", all[0].ID); err != nil {
		t.Fatal(err)
	}
	got, err := c.engine.Sessions.Sent(t.Context(), person("ana"), "s", all[0].ID)
	if err != nil || got.Fate != bridge.FateDelivered || !strings.HasPrefix(got.Status(), "Delivered to ci at ") {
		t.Errorf("the message is %+v, %v", got, err)
	}
	if _, err := c.engine.Sessions.Sent(t.Context(), person("eve"), "s", all[0].ID); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("a stranger reads it: %v", err)
	}
	if rest := c.taken("other", nil); len(rest) != 0 {
		t.Errorf("the agent takes %+v again", rest)
	}
	if got := c.auditTexts(); len(got) != 1 || !strings.Contains(got[0], "port 8080") {
		t.Errorf("the audit log has %q", got)
	}
}

// auditTexts returns the messages in the audit log.
func (c *court) auditTexts() []string {
	c.t.Helper()
	logs, err := c.store.Audits(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, l := range logs {
		entries, err := c.store.AuditEntries(c.t.Context(), l.Partition, "", 1000)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, e := range entries {
			if e.Type == bridge.AuditSteer {
				out = append(out, string(e.Data))
			}
		}
	}
	return out
}

// TestSteerRefused checks who may send messages to a session, and when.
func TestSteerRefused(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	mine := run("ls")
	mine.Requester = "ana"
	c.open(mine)
	send := func(who, agent string) error {
		_, err := c.engine.Sessions.Steer(t.Context(), bridge.Steering{Agent: agent, Session: "s", By: person(who), Text: "hi"})
		return err
	}
	for who, want := range map[string]bridge.Code{"eve": bridge.CodeNotFound, "cy": bridge.CodeNotFound, "ana": bridge.CodeForbidden} {
		for _, agent := range []string{"", "ci"} {
			if err := send(who, agent); bridge.ErrorCode(err) != want {
				t.Errorf("%s to %q: %v", who, agent, err)
			}
		}
	}
	if got := c.taken("r", nil); len(got) != 0 {
		t.Errorf("the agent takes %+v", got)
	}
	if err := send("bo", ""); err != nil {
		t.Error(err)
	}
	if _, err := c.engine.Sessions.Stop(t.Context(), person("bo"), "ci", "s"); err != nil {
		t.Fatal(err)
	}
	if err := send("bo", ""); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("to a stopped session: %v", err)
	}
	if got := c.taken("r", nil); len(got) != 0 {
		t.Errorf("a stopped agent takes %+v", got)
	}
	if err := c.engine.Sessions.Ended(t.Context(), "ci", "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.engine.Sessions.Resume(t.Context(), person("bo"), "ci", "s"); err != nil {
		t.Fatal(err)
	}
	if got := c.taken("r", nil); len(got) != 0 {
		t.Errorf("after its end, the session takes %+v", got)
	}
	for n := range bridge.MaxSteerings + 1 {
		if err := send("bo", ""); (n == bridge.MaxSteerings) != (bridge.ErrorCode(err) == bridge.CodeRateLimited) {
			t.Fatalf("message %d: %v", n, err)
		}
	}
}

// TestSteerContinued checks that no message is taken when the agent no longer
// continues its turn.
func TestSteerContinued(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	c.open(run("ls"))
	first, again := false, true
	for n := range 2 * bridge.MaxContinued {
		text := fmt.Sprint(n)
		if _, err := c.engine.Sessions.Steer(t.Context(), bridge.Steering{Session: "s", By: person("ana"), Text: text}); err != nil {
			t.Fatal(err)
		}
		how := &again
		if n == 0 {
			how = &first
		}
		got := c.taken("r", how)
		if n >= bridge.MaxContinued {
			if len(got) != 0 {
				t.Errorf("stop %d takes %+v", n+1, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Text != text {
			t.Fatalf("stop %d takes %+v", n+1, got)
		}
		if err := c.engine.Sessions.Took(t.Context(), "ci", "s", got[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.taken("r", &first); len(got) != bridge.MaxContinued {
		t.Errorf("the next turn takes %d messages", len(got))
	}
}

// TestSteerExactlyOnce checks that an agent sees each message once and in order,
// with readers at two daemons that run at the same time and die before they
// pass messages on, and with daemons that restart.
func TestSteerExactlyOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	courts := []*court{newCourtOn(t, server.Client(t)), newCourtOn(t, server.Client(t))}
	senders := courts
	courts[0].open(run("ls"))
	const count = 60
	var mu sync.Mutex
	var seen []string
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			c, random := courts[n%2], rand.New(rand.NewPCG(1, uint64(n)))
			for end := time.Now().Add(40 * time.Second); time.Now().Before(end); {
				all, err := c.engine.Sessions.Take(t.Context(), bridge.Taking{
					Agent: "ci", Session: "s", Reader: fmt.Sprintf("%d-%d", n, random.Uint64()), Lease: time.Second,
				})
				if err != nil {
					t.Error(err)
					return
				}
				if len(all) > 0 && random.IntN(8) > 0 { // otherwise the reader was killed
					mu.Lock()
					for _, s := range all {
						seen = append(seen, s.Text)
					}
					mu.Unlock()
					if err := c.engine.Sessions.Took(t.Context(), "ci", "s", all[len(all)-1].ID); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				done := len(seen) >= count
				mu.Unlock()
				if done {
					return
				}
				time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
			}
		})
	}
	for n := range count {
		s := bridge.Steering{Agent: "ci", Session: "s", By: person("ana"), Text: fmt.Sprint(n)}
		if n == count/2 {
			senders = []*court{courts[0], newCourtOn(t, server.Client(t))} // a daemon that starts later
		}
		_, err := senders[n%2].engine.Sessions.Steer(t.Context(), s)
		for ; bridge.ErrorCode(err) == bridge.CodeRateLimited; time.Sleep(50 * time.Millisecond) {
			_, err = senders[n%2].engine.Sessions.Steer(t.Context(), s)
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	wg.Wait()
	time.Sleep(100 * time.Millisecond)
	if rest := courts[0].taken("last", nil); len(rest) != 0 {
		t.Errorf("still there: %+v", rest)
	}
	for n, text := range seen {
		if text != fmt.Sprint(n) {
			t.Fatalf("message %d is %s: %v", n, text, seen)
		}
	}
	if len(seen) != count {
		t.Errorf("the agent has seen %d of %d messages", len(seen), count)
	}
}
