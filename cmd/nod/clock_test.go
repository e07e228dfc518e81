package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
)

// clock moves the time of Redis, as daemons and scripts read it: a real
// server's own clock cannot be moved alone.
type clock struct {
	client redis.UniversalClient
	t      *testing.T
}

const clockKey = "clock-of-the-test"

// jump sets the clock to what it is elsewhere, and d more.
func (c clock) jump(d time.Duration) {
	c.t.Helper()
	if err := c.client.Set(c.t.Context(), clockKey, int64(d/time.Second), 0).Err(); err != nil {
		c.t.Fatal(err)
	}
}

// DialHook implements redis.Hook.
func (clock) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (c clock) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		moved(cmd)
		err := next(ctx, cmd)
		c.told(ctx, cmd)
		return err
	}
}

// told moves the time that Redis tells.
func (c clock) told(ctx context.Context, cmd redis.Cmder) {
	if now, ok := cmd.(*redis.TimeCmd); ok && now.Err() == nil {
		offset, _ := c.client.Get(ctx, clockKey).Int64() // 0 before the first jump
		now.SetVal(now.Val().Add(time.Duration(offset) * time.Second))
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c clock) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			moved(cmd)
		}
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			c.told(ctx, cmd)
		}
		return err
	}
}

// moved makes a script read the moved time.
func moved(cmd redis.Cmder) {
	if cmd.Name() != "eval" {
		return
	}
	args := cmd.Args()
	if script, ok := args[1].(string); ok {
		args[1] = strings.Replace(script, "= call('TIME')", "= (function() local t = call('TIME'); t[1] = tostring(tonumber(t[1]) + tonumber(call('GET', '"+clockKey+"') or '0')); return t end)()", 1)
	}
}

// TestClockJump: the clock of Redis jumps ahead and back. What is overdue then
// ends once, nothing is answered after its end, steps are done once, and the
// log stays whole.
func TestClockJump(t *testing.T) {
	t.Parallel()
	var now clock
	r := newRig(t, rigOptions{hook: func(c redis.UniversalClient) redis.Hook { now = clock{c, t}; return now }, config: func(c *config.Config) {
		only("slack")(c)
		auditor(c)
		route(func(r *config.Route) {
			r.Escalation = []config.Step{{After: config.Duration(time.Hour), Remind: true}, {After: config.Duration(time.Hour), Ask: config.Words{"mal"}}}
		})(c)
	}})
	short, long := approval(bridge.ScopeOnce), approval(bridge.ScopeOnce)
	short.Timeout, long.Timeout = bridge.Duration(10*time.Minute), bridge.Duration(24*time.Hour)
	a, b := r.ask(short), r.ask(long)
	now.jump(90 * time.Minute)
	if rec := a.end(); rec.State != bridge.StateExpired {
		t.Fatalf("after its deadline it is %s", rec.State)
	}
	a.closed("Expired")
	r.eventually("the first step is done", func() bool { return r.messages("slack", "Still waiting") == 1 })
	now.jump(-2 * time.Hour)
	// Whatever time it is, an end is an end, and a decision is taken.
	if _, err := r.person.Respond(r.ctx, a.Interaction.ID, answerOnce); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("answered after its end: %v", err)
	}
	if rec := b.stillPending(); rec.Step != 1 || len(rec.Interaction.Called) != 0 {
		t.Errorf("step %d, called %v", rec.Step, rec.Interaction.Called)
	}
	d := r.ask(approval(bridge.ScopeOnce)) // opened in the past of what was before
	r.press("bo", d.on("slack"), "Allow once")
	if rec := d.end(); rec.State != bridge.StateApproved {
		t.Error(rec.State)
	}
	now.jump(4 * time.Hour)
	r.eventually("the second step is done", func() bool {
		rec, err := r.daemons[0].engine().Get(r.ctx, b.Interaction.ID)
		return err == nil && rec.Step == 2
	})
	r.press("ana", b.on("slack"), "Allow once")
	if rec := b.end(); rec.State != bridge.StateApproved || len(rec.Interaction.Called) != 1 {
		t.Errorf("%s, called %v", rec.State, rec.Interaction.Called)
	}
	keys, err := r.agent.Keys(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.eventually("the log is sealed and whole", func() bool {
		report, err := proof.VerifyAudit(bytes.NewReader(exported(r)), keys)
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return report.Unsealed == 0
	})
}
