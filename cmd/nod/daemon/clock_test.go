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
	"github.com/nodbridge/nod/cmd/nod/rig"
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
	r := rig.New(t, rig.Options{Hook: func(c redis.UniversalClient) redis.Hook { now = clock{c, t}; return now }, Config: func(c *config.Config) {
		rig.Only("slack")(c)
		rig.Auditor(c)
		route(func(r *config.Route) {
			r.Escalation = []config.Step{{After: config.Duration(time.Hour), Remind: true}, {After: config.Duration(time.Hour), Ask: config.Words{"mal"}}}
		})(c)
	}})
	short, long := rig.Approval(bridge.ScopeOnce), rig.Approval(bridge.ScopeOnce)
	short.Timeout, long.Timeout = bridge.Duration(10*time.Minute), bridge.Duration(24*time.Hour)
	a, b := r.Ask(short), r.Ask(long)
	now.jump(90 * time.Minute)
	if rec := a.End(); rec.State != bridge.StateExpired {
		t.Fatalf("after its deadline it is %s", rec.State)
	}
	a.Closed("Expired")
	r.Eventually("the first step is done", func() bool { return messages(r, "slack", "Still waiting") == 1 })
	now.jump(-2 * time.Hour)
	// Whatever time it is, an end is an end, and a decision is taken.
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("answered after its end: %v", err)
	}
	if rec := b.StillPending(); rec.Step != 1 || len(rec.Interaction.Called) != 0 {
		t.Errorf("step %d, called %v", rec.Step, rec.Interaction.Called)
	}
	d := r.Ask(rig.Approval(bridge.ScopeOnce)) // opened in the past of what was before
	r.Press("bo", d.On("slack"), "Allow once")
	if rec := d.End(); rec.State != bridge.StateApproved {
		t.Error(rec.State)
	}
	now.jump(4 * time.Hour)
	r.Eventually("the second step is done", func() bool {
		rec, err := r.Daemons[0].Engine().Get(r.Ctx, b.Interaction.ID)
		return err == nil && rec.Step == 2
	})
	r.Press("ana", b.On("slack"), "Allow once")
	if rec := b.End(); rec.State != bridge.StateApproved || len(rec.Interaction.Called) != 1 {
		t.Errorf("%s, called %v", rec.State, rec.Interaction.Called)
	}
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.Eventually("the log is sealed and whole", func() bool {
		report, err := proof.VerifyAudit(bytes.NewReader(rig.Exported(r)), keys)
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return report.Unsealed == 0
	})
}
