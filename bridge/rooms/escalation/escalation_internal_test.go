package escalation

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
	"github.com/nodbridge/nod/render"
)

// office is an engine with the room on a fake store.
type office struct {
	*engine.Engine
	t     *testing.T
	store *fake.Store
	chat  *fake.Chat
	room  *Room
}

// newOffice returns an office with the platform chat. Options change it.
func newOffice(t *testing.T, change ...func(*engine.Options)) *office {
	t.Helper()
	x := &office{t: t, store: fake.New(), chat: &fake.Chat{As: "chat"}}
	o := engine.Options{Platforms: []bridge.Platform{x.chat}, Store: x.store, DB: x.store.DB}
	for _, f := range change {
		f(&o)
	}
	o.Default()
	x.Engine = engine.New(o)
	x.room = New(x.Engine, o)
	x.Use(engine.Seams{Workers: []engine.Worker{
		{Kind: life.JobStep, Work: x.room.Step}, {Kind: life.JobRemind, Work: x.room.Remind, GaveUp: x.room.Untold},
	}})
	return x
}

// staffed returns an office with a directory of people.
func staffed(t *testing.T) *office {
	t.Helper()
	return newOffice(t, func(o *engine.Options) { o.Directory = fake.NewStaff() })
}

// twoChats returns an office with the platforms chat and phone, and a directory of
// people on one of them.
func twoChats(t *testing.T) (*office, *fake.Staff) {
	t.Helper()
	all, s := fake.TwoChats()
	return newOffice(t, func(o *engine.Options) { o.Directory, o.Platforms = s, all }), s
}

// outcomes checks the outcome of the jobs so far.
func (o *office) outcomes(want ...string) {
	o.t.Helper()
	if got := o.store.Outcomes(); !slices.Equal(got, want) {
		o.t.Errorf("the jobs ended as %q; want %q", got, want)
	}
}

// climb stores a posted request with steps, and works on the first of them.
func (o *office) climb(i bridge.Interaction, steps ...bridge.Step) bridge.Record {
	o.t.Helper()
	i.Steps = steps
	r := o.store.Put(o.t, i)
	r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
	o.store.Set(r)
	o.work(r, 0)
	return o.store.Get(r.Interaction.ID)
}

func (o *office) work(r bridge.Record, step int) {
	o.t.Helper()
	if err := o.Work(o.t.Context(), o.store.Work(life.JobStep, r.Interaction.ID, step)); err != nil {
		o.t.Fatal(err)
	}
}

// TestSteps checks what each kind of step does.
func TestSteps(t *testing.T) {
	t.Parallel()
	t.Run("remind", func(t *testing.T) {
		t.Parallel()
		o := staffed(t)
		i := fake.Question("Ship it?")
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: "unposted"})
		r := o.climb(i, bridge.Step{Remind: true})
		if len(r.Reminders) != 1 || !slices.Equal(r.Reminders[0].Users, []string{"U-ana", "U-bo"}) {
			t.Fatalf("the reminders are %+v", r.Reminders)
		}
		if r.Step != 1 {
			t.Errorf("the next step is %d", r.Step)
		}
		if err := o.Work(t.Context(), o.store.Work(life.JobRemind, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		if len(o.chat.Reminded) != 1 || !strings.Contains(o.chat.Reminded[0].Text, " left to answer (until ") {
			t.Errorf("the reminders are %+v", o.chat.Reminded)
		}
		o.outcomes("step done", "remind done")
	})
	t.Run("ask people", func(t *testing.T) {
		t.Parallel()
		o := staffed(t)
		i := fake.Question("Ship it?")
		i.Requesters = []string{"cy"}
		r := o.climb(i, bridge.Step{Ask: []string{"cy", "@oncall"}})
		if !slices.Equal(r.Interaction.Called, []string{"di", "eve"}) {
			t.Errorf("it called %v; want the group without the requester", r.Interaction.Called)
		}
		for who, want := range map[string]bool{"di": true, "eve": true, "cy": false} {
			actor := bridge.Actor{Platform: bridge.PlatformAPI, User: who, Person: who}
			if may := o.People.MayAnswer(t.Context(), r.Interaction, actor); may != want {
				t.Errorf("%s may answer: %v", who, may)
			}
		}
	})
}

// TestLastSteps checks steps that ask another route, or give up.
func TestLastSteps(t *testing.T) {
	t.Parallel()
	t.Run("ask a route", func(t *testing.T) {
		t.Parallel()
		o := staffed(t)
		r := o.climb(fake.Question("Ship it?"), bridge.Step{
			Route: "leads", Destinations: []bridge.Destination{{Platform: "chat", Channel: "L"}},
			Responders: []bridge.Responder{{Person: "cy", Platform: "chat", User: "U-cy"}},
		}, bridge.Step{After: bridge.Duration(time.Minute), Remind: true})
		if n := len(r.Interaction.Destinations); n != 2 || r.Interaction.Destinations[1].Channel != "L" {
			t.Errorf("it is shown at %+v", r.Interaction.Destinations)
		}
		if !slices.Contains(r.Interaction.Called, "leads") || r.Step != 1 {
			t.Errorf("it called %v, and the next step is %d", r.Interaction.Called, r.Step)
		}
	})
	t.Run("give up", func(t *testing.T) {
		t.Parallel()
		o := staffed(t)
		r := o.climb(fake.Question("Ship it?"), bridge.Step{GiveUp: bridge.StateExpired})
		if r.State != bridge.StateExpired || r.Response.Actor != nil {
			t.Errorf("it is %s by %v; want expired", r.State, r.Response.Actor)
		}
	})
}

// TestStepsThatWait checks when a step is skipped or postponed.
func TestStepsThatWait(t *testing.T) {
	t.Parallel()
	remind := bridge.Step{Remind: true}
	for name, c := range map[string]struct {
		change func(*office, *bridge.Record)
		step   int
		want   string
	}{
		"closed":      {func(_ *office, r *bridge.Record) { r.State = bridge.StateApproved }, 0, "step done"},
		"deferred":    {func(_ *office, r *bridge.Record) { r.Queued = time.Now() }, 0, "step done"},
		"done before": {func(_ *office, r *bridge.Record) { r.Step = 1 }, 0, "step done"},
		"no such":     {func(_ *office, r *bridge.Record) { r.Step = 4 }, 4, "step done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := staffed(t)
			i := fake.Question("Ship it?")
			i.Steps = []bridge.Step{remind}
			r := o.store.Put(t, i)
			c.change(o, &r)
			o.store.Set(r)
			o.work(r, c.step)
			o.outcomes(c.want)
			if got := o.store.Get(r.Interaction.ID); got.Amended != 0 {
				t.Error("the step was done")
			}
		})
	}
	t.Run("quiet hours", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		i := fake.Question("Ship it?")
		now := time.Now().UTC()
		i.Quiet = &bridge.Quiet{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(time.Hour).Format("15:04")}
		r := o.climb(i, remind)
		if got := o.store.Outcomes(); r.Amended != 0 || len(got) != 1 || !strings.HasSuffix(got[0], "not counted") {
			t.Errorf("in quiet hours, the jobs ended as %q", got)
		}
	})
	t.Run("forgotten", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		var r bridge.Record
		r.Interaction.ID, _ = bridge.NewID()
		o.work(r, 0)
		if err := o.Work(t.Context(), o.store.Work(life.JobRemind, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		o.outcomes("step done", "remind done")
	})
}

// tries is the number of attempts of engine.AmendNow.
const tries = 5

// conflicting is records whose first amendments come too late.
type conflicting struct {
	core.Interactions
	times int
}

func (c *conflicting) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	if c.times--; c.times >= 0 {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "another amendment came first")
	}
	return c.Interactions.Mark(ctx, id, m)
}

// changing is records that someone else changes after each load.
type changing struct {
	core.Interactions
	with func(bridge.Record) life.Mark
}

func (c changing) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := c.Interactions.Load(ctx, id)
	if err == nil {
		_, err = c.Mark(ctx, id, c.with(r))
	}
	return r, err
}

// TestChangedBeforeGivingUp checks that a step does not close a request that has changed
// since it was read, because the step may no longer be one of its steps.
func TestChangedBeforeGivingUp(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(bridge.Record) life.Mark{
		"amended": func(r bridge.Record) life.Mark {
			return life.Amendment{Expect: r.Amended, Interaction: r.Interaction}
		},
		"deferred": func(bridge.Record) life.Mark { return life.Deferred{Hold: time.Hour} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.room.records = changing{o.store, with}
			r := o.climb(fake.Question("Ship it?"), bridge.Step{GiveUp: bridge.StateDenied})
			o.outcomes("step retry in 250ms, not counted")
			if r.State != bridge.StatePending {
				t.Errorf("it is %s", r.State)
			}
		})
	}
}

// TestAmendedMeanwhile checks that a step is looked at again after a conflict,
// and that a person's change is made again.
func TestAmendedMeanwhile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.room.records = &conflicting{o.store, 1}
	r := o.climb(fake.Question("Ship it?"), bridge.Step{Remind: true})
	o.outcomes("step retry in 250ms, not counted")
	again := func(r bridge.Record) life.Amendment {
		return life.Amendment{Expect: r.Amended, Interaction: r.Interaction}
	}
	o.room.records = &conflicting{o.store, tries - 1}
	if err := engine.AmendNow(t.Context(), o.room.records, r.Interaction.ID, again); err != nil {
		t.Error(err)
	}
	o.room.records = &conflicting{o.store, tries}
	if err := engine.AmendNow(t.Context(), o.room.records, r.Interaction.ID, again); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("after %d conflicts: %v", tries, err)
	}
}

// TestStepsLookAgain checks that a step asks whom it can find, that the policy goes
// on, that the card says who was not found and why, and that nod looks again.
func TestStepsLookAgain(t *testing.T) {
	t.Parallel()
	minute := bridge.Duration(time.Minute)
	for name, x := range map[string]struct {
		crew func(*fake.Staff)
		why  string
	}{
		"unreachable": {func(s *fake.Staff) { s.Err = bridge.Errorf(bridge.CodeUnavailable, "schedule primary: HTTP 500") }, "HTTP 500"},
		"strangers":   {func(s *fake.Staff) { s.Group, s.Strangers = nil, []string{"zoe"} }, "not in the config: zoe"},
		"no one":      {func(s *fake.Staff) { s.Group = nil }, "no one is on call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fake.NewStaff()
			o := newOffice(t, func(o *engine.Options) { o.Directory = s })
			now := *s
			x.crew(s)
			r := o.climb(fake.Question("Ship it?"), bridge.Step{Ask: []string{"@oncall", "cy"}}, bridge.Step{After: 2 * minute, GiveUp: bridge.StateExpired})
			o.outcomes("step done")
			if !slices.Equal(r.Interaction.Called, []string{"cy"}) || r.Step != 1 {
				t.Fatalf("it called %v, and the next step is %d", r.Interaction.Called, r.Step)
			}
			if said := render.Standing(r); !strings.Contains(said, "@oncall") || !strings.Contains(said, x.why) {
				t.Errorf("the card says %q", said)
			}
			var steps []string
			for _, s := range r.Interaction.Steps[1:] {
				steps = append(steps, time.Duration(s.After).String()+" "+strings.Join(s.Ask, ","))
			}
			if want := []string{"30s @oncall", "1m30s "}; !slices.Equal(steps, want) {
				t.Errorf("the next steps are %q; want %q", steps, want)
			}
			*s = now
			o.work(r, 1)
			r = o.store.Get(r.Interaction.ID)
			if said := render.Standing(r); strings.Contains(said, "Not found") || !slices.Equal(r.Interaction.Called, []string{"cy", "di", "eve"}) {
				t.Errorf("found now, the card says %q", said)
			}
			o.work(r, 2)
			if r = o.store.Get(r.Interaction.ID); r.State != bridge.StateExpired {
				t.Errorf("after the last step, it is %s", r.State)
			}
		})
	}
}

// TestReminded checks that a reminder mentions the responders who are still
// needed, and the groups that the platform can mention.
func TestReminded(t *testing.T) {
	t.Parallel()
	s := fake.NewStaff()
	s.Natives = map[string]string{"sre": "S1"}
	o := newOffice(t, func(o *engine.Options) {
		o.Directory, o.Platforms = s, []bridge.Platform{fake.Talker{Chat: &fake.Chat{As: "chat"}}}
	})
	i := fake.Question("Ship it?")
	i.Groups, i.Quorum = []string{"sre", "dev"}, 2
	i.Steps = []bridge.Step{{Remind: true}}
	r := o.store.Put(t, i)
	r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
	r.Votes = []bridge.Vote{{Actor: bridge.Actor{Platform: "chat", User: "U-bo", Person: "bo"}, State: bridge.StateApproved}}
	o.store.Set(r)
	o.work(r, 0)
	got := o.store.Get(r.Interaction.ID).Reminders
	if len(got) != 1 || got[0].Text != "" || !slices.Equal(got[0].Users, []string{"U-ana", "U-di"}) || !slices.Equal(got[0].Groups, []string{"S1"}) {
		t.Errorf("the reminders are %+v", got)
	}
}

// TestReminderToDeletedCard checks that a card which a reminder finds deleted, or in a
// closed channel, is posted again.
func TestReminderToDeletedCard(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"deleted":             bridge.Wrap(bridge.CodeNotFound, bridge.ErrDeleted, "deleted"),
		"the channel is gone": bridge.Wrap(bridge.CodeForbidden, bridge.ErrClosed, "archived"),
	} {
		o := newOffice(t)
		r := o.store.Put(t, fake.Question("Ship it?"))
		for n, message := range []string{"1", "2"} {
			r = o.store.Get(r.Interaction.ID)
			r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: message}}
			r.Shown, r.Reminders = map[int]string{0: r.Interaction.Content}, []bridge.Reminder{{Text: "still waiting"}}
			o.store.Set(r)
			o.chat.Errs = []error{err}
			if err := o.Work(t.Context(), o.store.Work(life.JobRemind, r.Interaction.ID, 0)); err != nil {
				t.Fatal(err)
			}
			got := o.store.Get(r.Interaction.ID)
			again := slices.Contains(o.store.Outcomes(), "post again 0")
			if len(got.Messages) > 0 || !again || (got.Failures[0] != "") != (n == 1) {
				t.Errorf("%s, deletion %d: %+v, posted again: %v, failures %v", name, n+1, got.Messages, again, got.Failures)
			}
		}
	}
}
