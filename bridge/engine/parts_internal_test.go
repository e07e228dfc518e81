package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestRefusals checks that a refusal is in the audit log once a minute, for
// each reason, and that a log that cannot be written stops nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.store.Put(t, fake.Question("Ship it?")).Interaction
	eve := bridge.Actor{Platform: "chat", User: "U-eve"}
	for _, why := range []string{people.WhyNobody, people.WhyNobody, people.WhyRequester} {
		o.Journal.Refuse(t.Context(), i, eve, why)
	}
	if got := o.store.Audited(t); len(got) != 2 {
		t.Errorf("the log has %v; want two refusals", got)
	}
	o.store.Fail(bridge.Errorf(bridge.CodeUnavailable, "no connection"))
	o.Journal.Refuse(t.Context(), i, eve, people.WhyUnlinked)
}

// TestPermit checks what an agent may send, and how much.
func TestPermit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		approval := func() *bridge.Request {
			r := &bridge.Request{}
			r.Kind, r.Prompt = bridge.KindApproval, "May I?"
			r.Approval = &bridge.Approval{Tool: "Bash", Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeAlways}}
			return r
		}
		for name, c := range map[string]struct {
			agent bridge.Agent
			want  bridge.Code
		}{
			"no limits":   {bridge.Agent{}, ""},
			"kind":        {bridge.Agent{Kinds: []bridge.Kind{bridge.KindNotice}}, bridge.CodeForbidden},
			"in a minute": {bridge.Agent{Name: "ci", PerMinute: 1}, ""},
			"scopes":      {bridge.Agent{Scopes: []bridge.Scope{bridge.ScopeOnce}}, ""},
		} {
			r := approval()
			if err := o.Openings.permit(t.Context(), c.agent, r); bridge.ErrorCode(err) != c.want {
				t.Errorf("%s: %v; want %q", name, err, c.want)
			}
			if name == "scopes" && len(r.Approval.Scopes) != 1 {
				t.Errorf("it still offers %v", r.Approval.Scopes)
			}
		}
		err := o.Openings.permit(t.Context(), bridge.Agent{Name: "ci", PerMinute: 1}, approval())
		if e := bridge.PublicError(err); e.Code != bridge.CodeRateLimited || e.RetryAfter <= 0 || e.RetryAfter > time.Minute {
			t.Errorf("the second in a minute: %v, again in %s", err, e.RetryAfter)
		}
		o.store.Fail(bridge.Errorf(bridge.CodeUnavailable, "no connection"))
		if err := o.Openings.permit(t.Context(), bridge.Agent{PerMinute: 1}, approval()); bridge.ErrorCode(err) != bridge.CodeUnavailable {
			t.Errorf("without the store: %v", err)
		}
	})
}

// TestOneAtATime checks that a session has one pending request at a time, that
// a repeat finds the first, and that the lease is given back.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	open := func(key string) (bridge.Record, error) {
		r := bridge.Request{}
		r.Prompt, r.Session, r.OneAtATime = "Ship it?", "s", true
		return o.Open(t.Context(), bridge.Agent{Name: "ci"}, r, key)
	}
	first, err := open("k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open("other"); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("a second one: %v; want a conflict", err)
	}
	if _, err := open("k"); err != nil {
		t.Errorf("a repeat: %v", err)
	}
	if who := o.store.Holder(t, "one:ci/s"); who != "" {
		t.Errorf("the lease is still held by %s", who)
	}
	first.State = bridge.StateAnswered
	for _, id := range o.store.Order {
		r := o.store.Get(id)
		r.State = bridge.StateAnswered
		o.store.Set(r)
	}
	if _, err := open("third"); err != nil {
		t.Errorf("after the first was answered: %v", err)
	}
}

// TestOneAtATimeWaits checks that an opening waits for the lease, as long as
// its caller does.
func TestOneAtATimeWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.store.Lease(t, "one:ci/s", "another call")
		r := bridge.Request{}
		r.Prompt, r.Session, r.OneAtATime = "Ship it?", "s", true
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := o.Open(ctx, bridge.Agent{Name: "ci"}, r, ""); err != context.DeadlineExceeded {
			t.Errorf("while another opens: %v", err)
		}
		o.store.Fail(bridge.Errorf(bridge.CodeUnavailable, "no connection"))
		if _, err := o.Openings.alone(t.Context(), &Draft{}); bridge.ErrorCode(err) != bridge.CodeUnavailable {
			t.Errorf("without the store: %v", err)
		}
	})
}

// TestReach checks how a request is opened that some or all destinations cannot
// show.
func TestReach(t *testing.T) {
	t.Parallel()
	r := bridge.Request{}
	r.Prompt = "Ship it?"
	agent := bridge.Agent{Name: "ci"}
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		o.chat.Refuses = bridge.Errorf(bridge.CodeUnsupported, "the prompt is too long")
		if _, err := o.Open(t.Context(), agent, r, ""); bridge.ErrorCode(err) != bridge.CodeUnsupported {
			t.Errorf("it is opened: %v", err)
		}
	})
	t.Run("two channels", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, func(o *Options) {
			route := o.Routes[bridge.DefaultRoute]
			route.Destinations = append(route.Destinations, bridge.Destination{Platform: "chat", Channel: "D"})
			o.Routes[bridge.DefaultRoute] = route
		})
		for _, refusal := range []error{nil, bridge.Errorf(bridge.CodeUnsupported, "the prompt is too long")} {
			o.chat.Refuses, o.chat.Checks = refusal, 0
			_, err := o.Open(t.Context(), agent, r, "")
			if o.chat.Checks != 1 || bridge.ErrorCode(err) != bridge.ErrorCode(refusal) {
				t.Errorf("it is drawn %d times: %v", o.chat.Checks, err)
			}
		}
	})
	t.Run("down", func(t *testing.T) {
		t.Parallel()
		hour := bridge.Duration(time.Hour)
		remind, ask, end := bridge.Step{After: hour, Remind: true}, bridge.Step{After: hour, Ask: []string{"cy"}}, bridge.Step{After: hour, GiveUp: bridge.StateExpired}
		for name, x := range map[string]struct {
			steps []bridge.Step
			due   string // when each is due after the one before
		}{
			"more people are asked":            {[]bridge.Step{ask, ask}, "0s 1h0m0s"},
			"more are asked after a reminder":  {[]bridge.Step{remind, ask}, "0s 0s"},
			"the same people are reminded":     {[]bridge.Step{remind, end}, "1h0m0s 1h0m0s"},
			"the policy ends":                  {[]bridge.Step{end}, "1h0m0s"},
			"there is no policy of escalation": {nil, ""},
		} {
			o := newOffice(t, func(o *Options) {
				route := o.Routes[bridge.DefaultRoute]
				route.Steps = x.steps
				o.Routes[bridge.DefaultRoute] = route
			})
			o.chat.State = bridge.Health{State: bridge.HealthDown, Reason: "token revoked"}
			got, err := o.Open(t.Context(), agent, r, "")
			if err != nil || got.State != bridge.StatePending || len(got.Failures) > 0 {
				t.Fatalf("%s: it is %s, with the failures %v: %v", name, got.State, got.Failures, err)
			}
			var due []string
			for _, s := range got.Interaction.Steps {
				due = append(due, time.Duration(s.After).String())
			}
			if got := strings.Join(due, " "); got != x.due {
				t.Errorf("%s: the steps are due after %q; want %q", name, got, x.due)
			}
		}
	})
	t.Run("down, and the caller asks in another way", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		o.chat.State = bridge.Health{State: bridge.HealthDown, Reason: "token revoked"}
		now := r
		now.Now = true
		got, err := o.Open(t.Context(), agent, now, "")
		if err != nil || got.State != bridge.StateUndeliverable || got.Response.Reason != "chat: token revoked" {
			t.Errorf("it is %s: %+v, %v", got.State, got.Response, err)
		}
	})
	t.Run("down and unknown", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, func(o *Options) {
			route := o.Routes[bridge.DefaultRoute]
			route.Destinations = append(route.Destinations, bridge.Destination{Platform: "gone", Channel: "G"})
			o.Routes[bridge.DefaultRoute] = route
		})
		o.chat.State = bridge.Health{State: bridge.HealthDown, Reason: "token revoked"}
		got, err := o.Open(t.Context(), agent, r, "")
		if err != nil || got.State != bridge.StatePending || got.Failures[0] != "" || got.Failures[1] != "platform gone is not configured" {
			t.Fatalf("it is %s, with the failures %v: %v", got.State, got.Failures, err)
		}
		a, err := o.Availability(t.Context(), agent, "", "")
		if err != nil || a.Available || len(a.Destinations) != 2 || a.Destinations[0].Reachable || !strings.Contains(a.Destinations[0].Reason, "token revoked") {
			t.Errorf("available: %+v, %v", a, err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, func(o *Options) {
			route := o.Routes[bridge.DefaultRoute]
			route.Destinations = []bridge.Destination{{Platform: "gone", Channel: "G"}}
			o.Routes[bridge.DefaultRoute] = route
		})
		got, err := o.Open(t.Context(), agent, r, "")
		if err != nil || got.State != bridge.StateUndeliverable || got.Response.Reason != "platform gone is not configured" {
			t.Errorf("it is %s: %+v, %v", got.State, got.Response, err)
		}
	})
	t.Run("reachable", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		a, err := o.Availability(t.Context(), agent, "", "s")
		if err != nil || !a.Available || !a.Destinations[0].Reachable {
			t.Errorf("available: %+v, %v", a, err)
		}
		if _, err := o.Availability(t.Context(), agent, "unknown", ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("an unknown route: %v", err)
		}
	})
}

// TestRoutes checks which routes a request may go to.
func TestRoutes(t *testing.T) {
	t.Parallel()
	to := []bridge.Destination{{Platform: "chat", Channel: "C"}}
	many := make([]bridge.Destination, bridge.MaxDestinations)
	ana := []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}}
	m := routes{
		"default": {Destinations: to, Responders: ana, Steps: []bridge.Step{{After: 5, Remind: true}, {After: 7, Route: "leads"}, {After: 9, GiveUp: bridge.StateDenied}}},
		"leads":   {Destinations: []bridge.Destination{{Platform: "chat", Channel: "L"}}, Responders: ana},
		"nobody":  {Destinations: to},
		"nowhere": {Responders: ana},
		"lost":    {Destinations: to, Responders: ana, Steps: []bridge.Step{{Route: "unknown"}}},
		"many":    {Destinations: many, Responders: ana, Steps: []bridge.Step{{Route: "leads"}}},
		"steps":   {Destinations: to, Responders: ana, Steps: []bridge.Step{{Route: "leads"}}},
		"plain":   {Destinations: to, Responders: ana, Steps: []bridge.Step{{After: 1, Remind: true}}},
	}
	for name, want := range map[string]bridge.Code{
		"default": "", "leads": "", "nobody": bridge.CodeForbidden, "nowhere": bridge.CodeInvalid, "unknown": bridge.CodeInvalid,
	} {
		if _, err := m.find(name); bridge.ErrorCode(err) != want {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	for _, c := range []struct {
		names     []string
		onTimeout bridge.OnTimeout
		want      bridge.Code
	}{
		{[]string{"default"}, bridge.OnTimeoutEscalate, ""},
		{[]string{"default", "leads"}, bridge.OnTimeoutEscalate, ""},
		{[]string{"leads"}, bridge.OnTimeoutEscalate, bridge.CodeInvalid},
		{[]string{"leads", "plain"}, bridge.OnTimeoutEscalate, bridge.CodeInvalid},
		{[]string{"leads", "steps"}, bridge.OnTimeoutEscalate, ""},
		{[]string{"many"}, bridge.OnTimeoutExpire, bridge.CodeInvalid},
		{[]string{"many"}, bridge.OnTimeoutEscalate, bridge.CodeInvalid},
		{[]string{"many", "leads"}, bridge.OnTimeoutExpire, bridge.CodeInvalid},
		{[]string{"lost"}, bridge.OnTimeoutExpire, bridge.CodeInvalid},
		{[]string{"steps"}, bridge.OnTimeoutExpire, ""},
	} {
		i := bridge.Interaction{}
		i.Kind, i.Created = bridge.KindApproval, time.Unix(0, 0)
		i.Deadline = i.Created.Add(10)
		err := m.address(&i, bridge.Agent{}, c.onTimeout, c.names)
		if bridge.ErrorCode(err) != c.want {
			t.Errorf("%v: %v; want %q", c.names, err, c.want)
		}
		if c.want != "" {
			continue
		}
		due := bridge.Duration(0)
		for _, s := range i.Steps {
			if due += s.After; s.Route != "" {
				break
			}
		}
		limit, ends := bridge.Duration(12), time.Unix(0, 10)
		if c.onTimeout == bridge.OnTimeoutEscalate {
			limit, ends = 10, time.Unix(0, 20)
		}
		if due > limit || !i.Deadline.Equal(ends) {
			t.Errorf("%v: more people are asked after %d of %d, and it ends at %s", c.names, due, limit, i.Deadline)
		}
	}
	if step := m["default"].Steps[1]; step.After != 7 {
		t.Errorf("a request has changed the steps of its route: %+v", step)
	}
}

// TestChain checks that the steps of several routes are joined by time.
func TestChain(t *testing.T) {
	t.Parallel()
	minute := func(n int) bridge.Duration { return bridge.Duration(time.Duration(n) * time.Minute) }
	got := routes{}.chain([]string{"a", "b"}, map[string][]bridge.Step{
		"a": {{After: minute(1)}, {After: minute(4)}}, "b": {{After: minute(2)}, {After: minute(1)}},
	})
	var all []string
	for _, s := range got {
		all = append(all, s.For+" "+time.Duration(s.After).String())
	}
	if s := strings.Join(all, ", "); s != "a 1m0s, b 1m0s, b 1m0s, a 2m0s" {
		t.Errorf("the steps are %s", s)
	}
}
