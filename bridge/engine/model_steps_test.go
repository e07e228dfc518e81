package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
)

// climbing is one run of the model of escalation policies.
type climbing struct {
	*world
	rt       *rapid.T
	id       bridge.ID
	opened   time.Time
	last     time.Time // when the last step was due
	steps    []bridge.Step
	from, to time.Time       // the quiet hours; zero if there are none
	asked    map[string]bool // who may answer by now
	reminded int
	done     int // steps
}

// TestEscalationModel checks that each step of an escalation policy is taken once, at
// its time, and not before: after the quiet hours, until someone answers or the request
// ends, even if there are two daemons. Only people who were asked by then may answer.
func TestEscalationModel(t *testing.T) {
	t.Parallel()
	inBubble(t, func(p *part, rt *rapid.T) {
		c := &climbing{rt: rt, asked: map[string]bool{"ana": true, "bo": true}}
		s := c.setup()
		c.world = newWorld(p, s)
		if rapid.Bool().Draw(rt, "second daemon") {
			c.reload(s)
			c.serve()
		}
		timeout := time.Duration(rapid.IntRange(60, 360).Draw(rt, "timeout")) * time.Second
		c.open(timeout)
		deadline := c.opened.Add(timeout)
		end := deadline
		if rapid.Bool().Draw(rt, "answered") {
			end = c.opened.Add(time.Duration(rapid.Int64Range(int64(10*time.Second), int64(timeout-time.Second)).Draw(rt, "after")))
		}
		if c.climb(end) {
			return
		}
		want := bridge.StateExpired
		if end != deadline && c.answers(end, rapid.SampledFrom(team).Draw(rt, "who")) {
			want = bridge.StateApproved
		}
		if want == bridge.StateExpired && c.climb(deadline) {
			return
		}
		c.until(deadline.Add(2 * time.Second))
		c.ended(want)
	})
}

// setup draws an escalation policy.
func (c *climbing) setup() setup {
	s := newSetup()
	r := s.routes["default"]
	most := rapid.IntRange(1, 5).Draw(c.rt, "steps")
	for n := range most {
		step := bridge.Step{After: bridge.Duration(time.Duration(rapid.IntRange(10, 100).Draw(c.rt, "after")) * time.Second)}
		kinds := []string{"remind", "cy", "di", "eve", "prod"}
		if n == most-1 {
			kinds = append(kinds, "expired", "denied")
		}
		switch kind := rapid.SampledFrom(kinds).Draw(c.rt, "kind"); kind {
		case "remind":
			step.Remind = true
		case "prod":
			step.Route = kind
		case "expired", "denied":
			step.GiveUp = bridge.State(kind)
		default:
			step.Ask = []string{kind}
		}
		r.Steps = append(r.Steps, step)
	}
	c.steps = r.Steps
	if rapid.IntRange(0, 2).Draw(c.rt, "quiet") == 0 {
		c.from = time.Now().UTC().Truncate(time.Minute).Add(time.Duration(rapid.IntRange(0, 3).Draw(c.rt, "from")) * time.Minute)
		c.to = c.from.Add(time.Duration(rapid.IntRange(1, 3).Draw(c.rt, "for")) * time.Minute)
		r.Quiet = &bridge.Quiet{From: c.from.Format("15:04"), To: c.to.Format("15:04")}
	}
	s.routes["default"] = r
	return s
}

func (c *climbing) open(timeout time.Duration) {
	r := shell("make x")
	r.Timeout = bridge.Duration(timeout)
	rec := c.world.open(agentCI, r)
	c.id, c.opened, c.last = rec.Interaction.ID, rec.Interaction.Created, rec.Interaction.Created
}

func (c *climbing) until(at time.Time) { time.Sleep(time.Until(at)) }

// climb checks the steps that are due before a time. It reports whether the request is
// over, or the next step is due so near to that time that it may be taken or not.
func (c *climbing) climb(end time.Time) bool {
	for c.done < len(c.steps) {
		s := c.steps[c.done]
		due := c.last.Add(time.Duration(s.After))
		if !due.Before(c.from) && due.Before(c.to) {
			due = c.to
		}
		if due.Sub(end).Abs() < 3*time.Second {
			return true
		}
		if !due.Before(end) {
			return false
		}
		c.until(due.Add(-time.Second))
		c.looks()
		c.until(due.Add(2 * time.Second))
		if s.GiveUp != "" {
			c.ended(s.GiveUp)
			return true
		}
		c.take(s)
		c.last = due
		c.looks()
	}
	return false
}

// take counts a step.
func (c *climbing) take(s bridge.Step) {
	c.done++
	if s.Remind {
		c.reminded++
	}
	names := s.Ask
	if s.Route != "" {
		names = []string{"cy", "di"}
	}
	for _, who := range names {
		c.asked[who] = true
	}
}

// looks compares the pending request with the model.
func (c *climbing) looks() {
	rec, reminded := c.get(c.id), 0
	for _, m := range rec.Reminders {
		if m.Again && m.Destination == 0 {
			reminded++
		}
	}
	if rec.State != bridge.StatePending || rec.Step != c.done || reminded != c.reminded {
		c.rt.Fatalf("%s after %s: %s, %d steps, %d reminders; want %d steps, %d reminders", c.policy(), time.Since(c.opened), rec.State, rec.Step, reminded, c.done, c.reminded)
	}
	_, other := c.chat.card("C2", c.id)
	if leads := slices.ContainsFunc(c.steps[:c.done], func(s bridge.Step) bool { return s.Route != "" }); other != leads {
		c.rt.Fatalf("%s after %s: the other route has a card: %t, want %t", c.policy(), time.Since(c.opened), other, leads)
	}
}

// answers lets a person approve, and reports whether that counts.
func (c *climbing) answers(at time.Time, who string) bool {
	c.until(at)
	want := bridge.VerdictForbidden
	if c.asked[who] {
		want = bridge.VerdictSettled
	}
	if v := c.press(who, c.id, "C1", bridge.DecideOnce, ""); v.Kind != want {
		c.rt.Fatalf("%s after %s: %s reads %s %q, want %s", c.policy(), time.Since(c.opened), who, v.Kind, v.Note, want)
	}
	return c.asked[who]
}

// ended checks that the request is over, and that no further step was taken.
func (c *climbing) ended(want bridge.State) {
	if rec := c.get(c.id); rec.State != want || rec.Step != c.done {
		c.rt.Fatalf("%s after %s: %s after %d steps, want %s after %d", c.policy(), time.Since(c.opened), rec.State, rec.Step, want, c.done)
	}
}

// policy describes the escalation policy.
func (c *climbing) policy() string {
	out := ""
	for _, s := range c.steps {
		out += fmt.Sprintf("%s: %v%s%s remind %t; ", time.Duration(s.After), s.Ask, s.Route, s.GiveUp, s.Remind)
	}
	return fmt.Sprintf("%squiet from %s to %s", out, c.from.Sub(c.opened), c.to.Sub(c.opened))
}
