package bridge_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestIdentity checks what two calls must have in common to be the same one.
func TestIdentity(t *testing.T) {
	t.Parallel()
	of := func(c bridge.CallID, agent, session, content string) bridge.Identity {
		return c.Identity(agent, session, content)
	}
	base := bridge.CallID{Connection: "c", ID: "Bash_0", Caller: "x"}
	first := of(base, "ci", "s", "ls")
	for name, c := range map[string]struct {
		id            bridge.Identity
		repeat, retry bool
	}{
		"a retry":              {of(base, "ci", "s", "ls"), true, true},
		"another caller":       {of(bridge.CallID{Connection: "c", ID: "Bash_0", Caller: "y"}, "ci", "s", "ls"), true, false},
		"no caller":            {of(bridge.CallID{Connection: "c", ID: "Bash_0"}, "ci", "s", "ls"), true, false},
		"another connection":   {of(bridge.CallID{Connection: "d", ID: "Bash_0", Caller: "x"}, "ci", "s", "ls"), false, true},
		"another ID":           {of(bridge.CallID{Connection: "c", ID: "Bash_1", Caller: "x"}, "ci", "s", "ls"), false, false},
		"another session":      {of(base, "ci", "t", "ls"), false, false},
		"another agent":        {of(base, "cd", "s", "ls"), false, false},
		"another content":      {of(base, "ci", "s", "rm"), false, false},
		"a key of its caller":  {of(bridge.CallID{Connection: "c", ID: "Bash_0", Caller: "x", Key: "k"}, "ci", "s", "ls"), false, false},
		"another part":         {of(bridge.CallID{Connection: "c", ID: "Bash_0", Caller: "x", Part: 1}, "ci", "s", "ls"), true, false},
		"a boundary elsewhere": {of(bridge.CallID{Connection: "cBash", ID: "_0", Caller: "x"}, "ci", "s", "ls"), false, false},
	} {
		if got := c.id.Name == first.Name; got != c.repeat {
			t.Errorf("%s repeats it: %t", name, got)
		}
		if got := c.id.Retry == first.Retry; got != c.retry {
			t.Errorf("%s retries it: %t", name, got)
		}
	}
	key := func(session, content string) bridge.Identity {
		return of(bridge.CallID{Key: "k", ID: "i"}, "ci", session, content)
	}
	if key("s", "ls").Name != key("t", "rm").Name || !key("s", "ls").Chosen {
		t.Error("a key that a caller chose does not identify its call alone")
	}
	if none := of(bridge.CallID{}, "ci", "s", "ls"); none.Name != "" || none.Retry != "" || none.Key != "" {
		t.Errorf("a call without an ID has an identity: %+v", none)
	}
}

// TestRepetitions checks what a repeated call gets, in every state of the
// request that the first call opened.
func TestRepetitions(t *testing.T) {
	t.Parallel()
	now := time.Now()
	by := func(state bridge.State, person bool) bridge.Record {
		r := bridge.Record{State: state, Response: &bridge.Response{State: state}}
		if person {
			r.Response.Actor = &bridge.Actor{Person: "ana"}
		}
		return r
	}
	at := func(r bridge.Record, ago time.Duration) bridge.Record { r.Sent = now.Add(-ago); return r }
	approved := by(bridge.StateApproved, true)
	deferred := bridge.Record{State: bridge.StatePending, Queued: now}
	received := approved
	received.Delivered = now
	const asks, joins, spent = bridge.Asks, bridge.Joins, bridge.Spent
	for name, c := range map[string]struct {
		record           bridge.Record
		id, key, another bridge.Repetition // another caller with the key
	}{
		"open":                     {bridge.Record{State: bridge.StatePending}, joins, joins, joins},
		"deferred":                 {deferred, joins, joins, joins},
		"approved, not sent":       {approved, joins, joins, joins},
		"answered, not sent":       {by(bridge.StateAnswered, true), joins, joins, joins},
		"denied, not sent":         {by(bridge.StateDenied, true), joins, joins, joins},
		"approved, sent":           {at(approved, time.Second), asks, joins, spent},
		"denied, sent":             {at(by(bridge.StateDenied, true), time.Second), asks, joins, spent},
		"approved, sent long ago":  {at(approved, time.Hour), asks, spent, spent},
		"approved, received":       {received, asks, joins, spent},
		"approved by a rule":       {by(bridge.StateApproved, false), asks, joins, joins},
		"denied by the timeout":    {by(bridge.StateDenied, false), asks, joins, joins},
		"default at the timeout":   {by(bridge.StateAnswered, false), asks, joins, joins},
		"expired":                  {by(bridge.StateExpired, false), asks, joins, joins},
		"expired, sent":            {at(by(bridge.StateExpired, false), time.Hour), asks, spent, spent},
		"cancelled":                {by(bridge.StateCancelled, false), asks, joins, joins},
		"declined by a person":     {by(bridge.StateCancelled, true), asks, joins, joins},
		"superseded":               {by(bridge.StateSuperseded, false), asks, joins, joins},
		"reached no one":           {by(bridge.StateUndeliverable, false), asks, joins, joins},
		"reached no one, was sent": {at(by(bridge.StateUndeliverable, false), time.Second), asks, joins, spent},
	} {
		for kind, x := range map[string]struct {
			by   bridge.CallID
			want bridge.Repetition
		}{"ID": {bridge.CallID{ID: "i"}, c.id}, "key": {bridge.CallID{Key: "k"}, c.key}, "key of another": {bridge.CallID{Key: "k", Caller: "y"}, c.another}} {
			if got := x.by.Identity("ci", "s", "ls").Repeat(c.record, now); got != x.want {
				t.Errorf("%s, %s: %d, want %d", name, kind, got, x.want)
			}
		}
	}
}
