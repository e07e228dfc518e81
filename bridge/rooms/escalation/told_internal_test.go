package escalation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
	"github.com/nodbridge/nod/render"
)

// TestEveryoneAskedIsTold checks that a step tells everyone whom it asks, wherever they
// are, and that the record and the card say so and nothing more. A step that reaches
// no one runs the next one at once.
func TestEveryoneAskedIsTold(t *testing.T) {
	t.Parallel()
	crowd := make([]string, 14)
	for n := range crowd {
		crowd[n] = fmt.Sprintf("p%02d", n)
	}
	leads := func(channel string) bridge.Step {
		return bridge.Step{
			Route: "leads", Destinations: []bridge.Destination{{Platform: "chat", Channel: channel}},
			Responders: []bridge.Responder{{Person: "cy", Platform: "chat", User: "U-cy"}, {Person: "dee", Platform: "phone", User: "P-dee"}},
		}
	}
	for name, x := range map[string]struct {
		step      bridge.Step
		set       func(*fake.Staff, *bridge.Interaction)
		down      bool   // the platform phone
		mentioned string // users and groups of the reminders
		cards     string // channels of new destinations
		said      string // on the card
		at        time.Duration
	}{
		"a person here":      {step: bridge.Step{Ask: []string{"cy"}}, mentioned: "U-cy", said: "asked: cy (Chat).", at: time.Hour},
		"a person elsewhere": {step: bridge.Step{Ask: []string{"dee"}}, cards: "@P-dee", said: "asked: dee.", at: time.Hour},
		"a group here": {
			step: bridge.Step{Ask: []string{"@sre"}}, set: func(s *fake.Staff, _ *bridge.Interaction) { s.Group, s.Natives = nil, map[string]string{"sre": "S1"} },
			mentioned: "S1", said: "asked: @sre (Chat).", at: time.Hour,
		},
		"fourteen people": {
			step: bridge.Step{Ask: crowd}, mentioned: "U-" + strings.Join(crowd, " U-"), said: "p13 (Chat).", at: time.Hour,
			set: func(s *fake.Staff, _ *bridge.Interaction) {
				for _, who := range crowd {
					s.People[who] = []bridge.Responder{{Person: who, Platform: "chat", User: "U-" + who}}
				}
			},
		},
		"no account":      {step: bridge.Step{Ask: []string{"eve"}}, said: "Not notified: eve (no known chat account).", at: 0},
		"only the owner":  {step: bridge.Step{Ask: []string{"cy"}}, set: func(_ *fake.Staff, i *bridge.Interaction) { i.Requesters = []string{"cy"} }, said: "Not notified: cy (requested this or owns the agent).", at: 0},
		"an empty group":  {step: bridge.Step{Ask: []string{"@oncall"}}, set: func(s *fake.Staff, _ *bridge.Interaction) { s.Group = nil }, said: "@oncall (no one is on call)", at: 0},
		"another channel": {step: leads("L"), cards: "L @P-dee", said: "asked: dee, leads.", at: time.Hour},
		"who is on call now": {
			step: bridge.Step{Route: "leads", Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}, Groups: []string{"oncall"}},
			set: func(s *fake.Staff, i *bridge.Interaction) {
				s.Earlier, s.Group, s.Since, i.Created = []string{"di"}, []string{"cy"}, time.Now().Add(-time.Minute), time.Now().Add(-time.Hour)
			},
			mentioned: "U-cy", said: "leads (Chat)", at: time.Hour,
		},
		"a person on a platform that is down": {step: bridge.Step{Ask: []string{"dee"}}, down: true, cards: "@P-dee", said: "asked: dee.", at: 0},
		"one of two can be reached": {
			step: bridge.Step{Ask: []string{"dee", "cy"}}, down: true, mentioned: "U-cy", cards: "@P-dee", said: "asked: dee, cy (Chat).", at: time.Hour,
		},
		"the same channel": {step: leads("C"), mentioned: "U-cy", cards: "@P-dee", said: "leads (Chat)", at: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, s := twoChats(t)
			i := fake.Question("Ship it?")
			i.Destinations = []bridge.Destination{{Platform: "chat", Channel: "C"}}
			if x.down {
				o.room.platforms["phone"].(fake.Talker).State = bridge.Health{State: bridge.HealthDown, Reason: "token revoked"}
			}
			if x.set != nil {
				x.set(s, &i)
			}
			r := o.climb(i, x.step, bridge.Step{After: bridge.Duration(time.Hour), Remind: true})
			var mentioned, cards []string
			for _, m := range r.Reminders {
				if len(m.Users) > 10 {
					t.Errorf("a reminder mentions %d people", len(m.Users))
				}
				mentioned = append(append(mentioned, m.Users...), m.Groups...)
			}
			for _, d := range r.Interaction.Destinations[1:] {
				cards = append(cards, d.Channel)
			}
			if got := strings.Join(mentioned, " "); got != x.mentioned {
				t.Errorf("mentioned %q; want %q", got, x.mentioned)
			}
			if got := strings.Join(cards, " "); got != x.cards {
				t.Errorf("new cards in %q; want %q", got, x.cards)
			}
			if got := render.Standing(r); !strings.Contains(got, x.said) {
				t.Errorf("the card says %q; want %q", got, x.said)
			}
			if got := time.Duration(r.Interaction.Steps[1].After); got != x.at {
				t.Errorf("the next step is due after %s; want %s", got, x.at)
			}
		})
	}
}

// TestNotTold checks that a card which could not be posted tells no one.
func TestNotTold(t *testing.T) {
	t.Parallel()
	o, _ := twoChats(t)
	r := o.climb(fake.Question("Ship it?"), bridge.Step{Ask: []string{"dee"}})
	n := len(r.Interaction.Destinations) - 1
	r.Failures = map[int]string{n: "phone: dee has not started the bot"}
	if got := render.Standing(r); !strings.Contains(got, "Not notified: dee (phone: dee has not started the bot)") {
		t.Errorf("the card says %q", got)
	}
	r.Failures, r.Messages[n] = nil, bridge.MessageRef{Channel: "@P-dee", Message: "2"}
	if got := render.Standing(r); !strings.Contains(got, "asked: dee (Phone)") {
		t.Errorf("once posted, the card says %q", got)
	}
}

// TestMentionGivenUp checks that a mention that a chat refuses permanently tells no one:
// the card says so, and the next step runs at once.
func TestMentionGivenUp(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		ask  []string
		set  func(*fake.Staff)
		said string
		at   time.Duration
	}{
		"a person":            {[]string{"cy"}, nil, "Not notified: cy (the channel is archived).", 0},
		"a group":             {[]string{"@sre"}, func(s *fake.Staff) { s.Group, s.Natives = nil, map[string]string{"sre": "S1"} }, "Not notified: @sre (the channel is archived).", 0},
		"one of two is told":  {[]string{"cy", "dee"}, nil, "Not notified: cy (the channel is archived).", time.Hour},
		"someone told before": {[]string{"dee"}, nil, "asked: dee.", time.Hour},
	} {
		o, s := twoChats(t)
		if x.set != nil {
			x.set(s)
		}
		r := o.climb(fake.Question("Ship it?"), bridge.Step{Ask: x.ask}, bridge.Step{After: bridge.Duration(time.Hour), Remind: true})
		chat := o.room.platforms["chat"].(fake.Talker).Chat
		for n := range r.Reminders {
			chat.Errs = []error{bridge.Errorf(bridge.CodeForbidden, "the channel is archived")}
			if err := o.Work(t.Context(), o.store.Work(life.JobRemind, r.Interaction.ID, n)); err != nil {
				t.Fatal(err)
			}
		}
		r = o.store.Get(r.Interaction.ID)
		if got := render.Standing(r); !strings.Contains(got, x.said) {
			t.Errorf("%s: the card says %q; want %q", name, got, x.said)
		}
		if o.store.Due != x.at {
			t.Errorf("%s: the next step is due after %s; want %s", name, o.store.Due, x.at)
		}
	}
}

// TestNeededDirectly checks that a reminder in a direct message is for its person,
// and not for others who are not in it.
func TestNeededDirectly(t *testing.T) {
	t.Parallel()
	o, s := twoChats(t)
	s.Natives = map[string]string{"sre": "S1"}
	i := fake.Question("Ship it?")
	i.Destinations = []bridge.Destination{{Platform: "chat", Channel: "@U-ana"}, {Platform: "chat", Channel: "@U-bo"}}
	i.Groups, i.Quorum = []string{"sre"}, 2
	r := o.store.Put(t, i)
	r.Messages = map[int]bridge.MessageRef{0: {Channel: "D1", Message: "1"}, 1: {Channel: "D2", Message: "1"}}
	r.Votes = []bridge.Vote{{Actor: bridge.Actor{Platform: "chat", User: "U-ana", Person: "ana"}, State: bridge.StateApproved}}
	if got := o.room.needed(t.Context(), r); len(got) != 1 || got[0].Destination != 1 || fmt.Sprint(got[0].Users, got[0].Groups) != "[U-bo] []" {
		t.Errorf("the reminders are %+v", got)
	}
}

// TestNeeded checks that reminders mention those who can supply what is missing, and
// no one who wants to be reminded later.
func TestNeeded(t *testing.T) {
	t.Parallel()
	vote := func(who string, covers ...int) bridge.Vote {
		return bridge.Vote{Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Person: who}, State: bridge.StateApproved, Covers: covers}
	}
	for name, x := range map[string]struct {
		must  []string
		votes []bridge.Vote
		later string // who wants to be reminded later
		want  string
	}{
		"no votes":               {want: "U-ana U-bo U-cy"},
		"one vote":               {votes: []bridge.Vote{vote("ana")}, want: "U-bo U-cy"},
		"the required one":       {must: []string{"cy"}, votes: []bridge.Vote{vote("ana")}, want: "U-cy"},
		"the required one voted": {must: []string{"cy"}, votes: []bridge.Vote{vote("cy", 0)}, want: "U-ana U-bo"},
		"a required group":       {must: []string{"@oncall"}, votes: []bridge.Vote{vote("ana")}, want: "U-bo"},
		"later":                  {later: "bo", want: "U-ana U-cy"},
	} {
		o, s := twoChats(t)
		s.Group = []string{"bo"}
		i := fake.Question("Ship it?")
		i.Kind, i.Approval, i.Quorum, i.Must = bridge.KindApproval, &bridge.Approval{Tool: "deploy"}, 2, x.must
		i.Responders = append(slices.Clone(i.Responders), bridge.Responder{Person: "cy", Platform: "chat", User: "U-cy"})
		i.Names = map[string]string{"ana": "Ana Lima", "bo": "Bo Chen", "cy": "Cy Okafor"}
		r := o.store.Put(t, i)
		r.Messages, r.Votes = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}, x.votes
		if x.later != "" {
			r.Reminders = []bridge.Reminder{{Snoozer: x.later, Due: time.Now().Add(time.Hour)}}
		}
		var got []string
		for _, m := range o.room.needed(t.Context(), r) {
			got = append(got, m.Users...)
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%s: mentions %q; want %q", name, s, x.want)
		}
	}
}

// TestRemindersCollected checks that many requests for the same people in a channel
// remind them once.
func TestRemindersCollected(t *testing.T) {
	t.Parallel()
	o, _ := twoChats(t)
	remind := func(r bridge.Record) {
		t.Helper()
		if err := o.Work(t.Context(), o.store.Work(life.JobRemind, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
	}
	var all []bridge.Record
	for range 5 {
		all = append(all, o.climb(fake.Question("Ship it?"), bridge.Step{Remind: true}))
	}
	for _, r := range all {
		remind(r)
	}
	chat := o.room.platforms["chat"].(fake.Talker).Chat
	if len(chat.Reminded) != 1 {
		t.Errorf("%d reminders were sent; want 1", len(chat.Reminded))
	}
	// A request that the reminder cannot have counted is not passed over.
	remind(o.climb(fake.Question("Ship it?"), bridge.Step{Remind: true}))
	if last := o.store.Gone[len(o.store.Gone)-1]; len(chat.Reminded) != 1 || !strings.HasPrefix(last, "remind retry") {
		t.Errorf("%d reminders were sent, and that of a later request is %q", len(chat.Reminded), last)
	}
	soon := fake.Question("Ship it?")
	soon.Deadline = time.Now().Add(20 * time.Second)
	if remind(o.climb(soon, bridge.Step{Remind: true})); len(chat.Reminded) != 2 {
		t.Error("there is no reminder of a request that ends within a minute")
	}
}
