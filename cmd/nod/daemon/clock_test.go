package daemon_test

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
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// clock changes the time of Redis that daemons and scripts read, because the
// clock of a real server cannot be changed.
type clock struct {
	client redis.UniversalClient
	t      *testing.T
}

// clocked starts a rig, and returns the clock of its Redis.
func clocked(t *testing.T, o rig.Options) (*rig.Rig, clock) {
	t.Helper()
	var now clock
	o.OwnRedis = true // on a server that knows the scripts, they cannot be changed
	o.Hook = func(c redis.UniversalClient) redis.Hook { now = clock{c, t}; return now }
	r := rig.New(t, o)
	return r, now
}

const clockKey = "clock-of-the-test"

// jump sets the clock to the real time plus d.
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

// told changes the result of the TIME command.
func (c clock) told(ctx context.Context, cmd redis.Cmder) {
	if now, ok := cmd.(*redis.TimeCmd); ok && now.Err() == nil {
		offset, _ := c.client.Get(ctx, clockKey).Int64() // zero before the first jump
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

// moved makes a script read the changed time.
func moved(cmd redis.Cmder) {
	if cmd.Name() != "eval" {
		return
	}
	args := cmd.Args()
	if script, ok := args[1].(string); ok {
		args[1] = strings.Replace(script, "= call('TIME')", "= (function() local t = call('TIME'); t[1] = tostring(tonumber(t[1]) + tonumber(call('GET', '"+clockKey+"') or '0')); return t end)()", 1)
	}
}

// TestClockJump checks that nod handles jumps of the Redis clock, forward and
// back. Overdue requests expire once, closed requests take no answers, steps
// run once, and the audit log stays consistent.
func TestClockJump(t *testing.T) {
	t.Parallel()
	r, now := clocked(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		rig.Auditor(c)
		route(func(r *config.Route) {
			r.Escalation = []config.Step{{After: config.Duration(time.Hour), Remind: true}, {After: config.Duration(time.Hour), Ask: []string{"mal"}}}
		})(c)
	}})
	short, long := samples.Approval(bridge.ScopeOnce), samples.Approval(bridge.ScopeOnce)
	short.Timeout, long.Timeout = bridge.Duration(10*time.Minute), bridge.Duration(24*time.Hour)
	a, b := r.Ask(short), r.Ask(long)
	now.jump(90 * time.Minute)
	if rec := a.End(); rec.State != bridge.StateExpired {
		t.Fatalf("state after the deadline: %s", rec.State)
	}
	a.Closed("Expired")
	r.Eventually("the first step is done", func() bool { return messages(r, "slack", " left to decide (until ") == 1 })
	now.jump(-2 * time.Hour)
	// At any time, a closed request stays closed, and a decision counts.
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("answered after it was closed: %v", err)
	}
	if rec := b.StillPending(); rec.Step != 1 || len(rec.Interaction.Called) != 0 {
		t.Errorf("step %d, called %v", rec.Step, rec.Interaction.Called)
	}
	d := r.Ask(samples.Approval(bridge.ScopeOnce)) // sent earlier than the previous requests, by the clock
	r.Press("bo", d.On("slack"), "Run command")
	if rec := d.End(); rec.State != bridge.StateApproved {
		t.Error(rec.State)
	}
	now.jump(4 * time.Hour)
	r.Eventually("the second step is done", func() bool {
		rec, err := r.Daemons[0].Engine().Get(r.Ctx, b.Interaction.ID)
		return err == nil && rec.Step == 2
	})
	r.Press("ana", b.On("slack"), "Run command")
	if rec := b.End(); rec.State != bridge.StateApproved || len(rec.Interaction.Called) != 1 {
		t.Errorf("%s, called %v", rec.State, rec.Interaction.Called)
	}
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.Eventually("the log is sealed and consistent", func() bool {
		report, err := proof.VerifyAudit(bytes.NewReader(rig.Exported(r)), keys)
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return report.Unsealed == 0
	})
}
