package engine

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

// twoChats returns an office with the platforms chat and phone, and a directory of
// people on one of them.
func twoChats(t *testing.T) (*office, *fake.Staff) {
	t.Helper()
	all, s := fake.TwoChats()
	return newOffice(t, func(o *Options) { o.Directory, o.Platforms = s, all }), s
}

// TestOpenedTells checks that a request that opens tells everyone who may
// answer it: by the cards of its destinations, or by a card of their own. Its
// card says who has such a card, and who is not notified. If no one is told,
// the first step is due at once.
func TestOpenedTells(t *testing.T) {
	t.Parallel()
	phones := func(n int) (all []bridge.Responder) {
		for k := range n {
			all = append(all, bridge.Responder{Person: fmt.Sprintf("p%02d", k), Platform: "phone", User: fmt.Sprintf("P-%02d", k)})
		}
		return all
	}
	only := func(names ...string) []bridge.Responder { // as the config has people with no account
		var all []bridge.Responder
		for _, who := range names {
			all = append(all, bridge.Responder{Person: who, Platform: bridge.PlatformAPI, User: who})
		}
		return all
	}
	dee := bridge.Responder{Person: "dee", Platform: "phone", User: "P-dee"}
	for name, x := range map[string]struct {
		set   func(*fake.Staff, *bridge.Interaction)
		down  bool   // the platform phone
		cards string // channels of further destinations
		said  string // on the card
		at    time.Duration
	}{
		"everyone is here":      {at: time.Hour},
		"a person elsewhere":    {set: func(_ *fake.Staff, i *bridge.Interaction) { i.Responders = append(i.Responders, dee) }, cards: "@P-dee", said: "Notified by a separate card: dee (Phone).", at: time.Hour},
		"only people elsewhere": {set: func(_ *fake.Staff, i *bridge.Interaction) { i.Responders = []bridge.Responder{dee} }, cards: "@P-dee", said: "Notified by a separate card: dee (Phone).", at: time.Hour},
		"a linked account": {
			set:   func(s *fake.Staff, i *bridge.Interaction) { i.Responders = append(i.Responders, only("dee")...) },
			cards: "@P-dee", said: "Notified by a separate card: dee (Phone).", at: time.Hour,
		},
		"no account":        {set: func(_ *fake.Staff, i *bridge.Interaction) { i.Responders = append(i.Responders, only("eve")...) }, said: "⚠️ Not notified: eve (no known chat account).", at: time.Hour},
		"no one has any":    {set: func(_ *fake.Staff, i *bridge.Interaction) { i.Responders = only("eve") }, said: "⚠️ Not notified: eve (no known chat account).", at: 0},
		"its platform down": {set: func(_ *fake.Staff, i *bridge.Interaction) { i.Responders = []bridge.Responder{dee} }, down: true, cards: "@P-dee", at: 0},
		"the owner elsewhere": {set: func(_ *fake.Staff, i *bridge.Interaction) {
			i.Responders, i.Requesters = append(i.Responders, dee), []string{"dee"}
		}, at: time.Hour},
		"twelve elsewhere": {
			set: func(s *fake.Staff, i *bridge.Interaction) {
				i.Responders = append(i.Responders, phones(12)...)
				for _, r := range phones(12) {
					s.People[r.Person] = []bridge.Responder{r}
				}
			},
			cards: "@P-00 @P-01 @P-02 @P-03 @P-04 @P-05 @P-06 @P-07 @P-08 @P-09", said: "⚠️ Not notified: p10 (too many direct messages), p11 (too many direct messages).", at: time.Hour,
		},
		"no room, because a step needs it": {
			set: func(_ *fake.Staff, i *bridge.Interaction) {
				i.Responders = append(i.Responders, dee)
				for n := range bridge.MaxDestinations - 1 {
					i.Steps[0].Destinations = append(i.Steps[0].Destinations, bridge.Destination{Platform: "chat", Channel: fmt.Sprint("S", n)})
				}
			},
			said: "⚠️ Not notified: dee (too many direct messages).", at: time.Hour,
		},
		"on call elsewhere": {set: func(s *fake.Staff, i *bridge.Interaction) { s.Group, i.Groups = []string{"dee"}, []string{"oncall"} }, cards: "@P-dee", said: "dee (Phone).", at: time.Hour},
		"no one on call": {
			set: func(s *fake.Staff, i *bridge.Interaction) {
				s.Group, i.Responders, i.Groups = nil, nil, []string{"oncall"}
			},
			said: "⚠️ Not found; nod will look again: @oncall (no one is on call).", at: 0,
		},
		"an unreadable schedule": {
			set: func(s *fake.Staff, i *bridge.Interaction) {
				s.Err, i.Groups = bridge.Errorf(bridge.CodeUnavailable, "HTTP 500"), []string{"oncall"}
			},
			said: "⚠️ Not found; nod will look again: @oncall (HTTP 500).", at: time.Hour,
		},
		"a group of its platform": {
			set: func(s *fake.Staff, i *bridge.Interaction) {
				s.Group, s.Natives, i.Responders, i.Groups = nil, map[string]string{"sre": "S1"}, nil, []string{"sre"}
			},
			at: time.Hour,
		},
		"a group of another platform": {
			set: func(s *fake.Staff, i *bridge.Interaction) {
				s.Group, s.Natives, i.Groups = nil, map[string]string{"sre": "S1"}, []string{"sre"}
				i.Destinations = []bridge.Destination{{Platform: "phone", Channel: "P"}}
				i.Responders = []bridge.Responder{dee}
			},
			said: "⚠️ Not notified: @sre (no card of this request is on its platform).", at: time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, s := twoChats(t)
			s.OnlyOn = "chat"
			if x.down {
				o.reach.platforms["phone"].(fake.Talker).State = bridge.Health{State: bridge.HealthDown, Reason: "gone"}
			}
			i := fake.Question("Ship it?")
			i.Steps = []bridge.Step{{After: bridge.Duration(time.Hour), Ask: []string{"cy"}}}
			if x.set != nil {
				x.set(s, &i)
			}
			had := len(i.Destinations)
			opening := life.Opening{Interaction: i}
			if err := o.reach.findPeople(t.Context(), &opening, false); err != nil {
				t.Fatal(err)
			}
			i = opening.Interaction
			r := bridge.Record{Interaction: i, State: bridge.StatePending, Failures: opening.Failures, Messages: map[int]bridge.MessageRef{}}
			var cards []string
			for n, d := range i.Destinations {
				if n >= had {
					cards = append(cards, d.Channel)
				}
				if r.Failures[n] == "" && !(x.down && d.Platform == "phone") {
					r.Messages[n] = bridge.MessageRef{Channel: d.Channel, Message: "1"}
				}
			}
			if got := strings.Join(cards, " "); got != x.cards {
				t.Errorf("further cards in %q; want %q", got, x.cards)
			}
			if got := render.Standing(r); x.said == "" && got != "" || !strings.Contains(got, x.said) {
				t.Errorf("the card says %q; want %q", got, x.said)
			}
			var at time.Duration
			for n, s := range i.Steps {
				if at += time.Duration(s.After); slices.Equal(s.Ask, []string{"cy"}) {
					break
				}
				if n == len(i.Steps)-1 {
					t.Error("the step is gone")
				}
			}
			if at != x.at {
				t.Errorf("the step is due after %s; want %s", at, x.at)
			}
		})
	}
}

// TestCardGivenUp checks that a card that was to notify people and cannot be
// posted is mentioned on the others, and that the next step runs at once if no
// one else was told.
func TestCardGivenUp(t *testing.T) {
	t.Parallel()
	here := bridge.Told{At: []int{0}}
	dee := bridge.Told{Name: "dee", At: []int{1}}
	asked := func(step int, told bridge.Told) bridge.Told { told.Step = step; return told }
	for name, x := range map[string]struct {
		told []bridge.Told
		step int // the next one
		at   time.Duration
	}{
		"the only one at the opening":        {[]bridge.Told{dee}, 0, 0},
		"others at the opening":              {[]bridge.Told{here, dee}, 0, time.Hour},
		"the only one of a step":             {[]bridge.Told{here, asked(1, dee)}, 1, 0},
		"one of two of a step":               {[]bridge.Told{here, asked(1, bridge.Told{Name: "cy", At: []int{0}}), asked(1, dee)}, 1, time.Hour},
		"a step after which another one ran": {[]bridge.Told{here, asked(1, dee), asked(2, bridge.Told{Name: "cy", At: []int{0}})}, 2, time.Hour},
		"no one else is to be told there":    {[]bridge.Told{here}, 0, time.Hour},
	} {
		o, _ := twoChats(t)
		i := fake.Question("Ship it?")
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "phone", Channel: "@P-dee"})
		i.Steps = slices.Repeat([]bridge.Step{{After: bridge.Duration(time.Hour), Ask: []string{"cy"}}}, 3)
		i.Told = x.told
		r := o.store.Put(t, i)
		r.Messages, r.Step = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}, x.step
		o.store.Set(r)
		o.store.Due = time.Hour
		o.dispatcher.platforms["phone"].(fake.Talker).Errs = []error{bridge.Errorf(bridge.CodeForbidden, "dee has not started the bot")}
		if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, r.Interaction.ID, 1)); err != nil {
			t.Fatal(err)
		}
		after := o.store.Get(r.Interaction.ID)
		if o.store.Due != x.at || after.Step != x.step {
			t.Errorf("%s: step %d is due after %s; want step %d after %s", name, after.Step, o.store.Due, x.step, x.at)
		}
		tells := slices.ContainsFunc(x.told, func(t bridge.Told) bool { return t.Name == "dee" })
		if got := render.Standing(after); tells != strings.Contains(got, "Not notified: dee (dee has not started the bot)") || tells != (after.Amended > 0) {
			t.Errorf("%s: the card says %q, after %d amendments", name, got, after.Amended)
		}
	}
}

// TestCarriedTold checks that a follow-up in the same messages still says who was
// told.
func TestCarriedTold(t *testing.T) {
	t.Parallel()
	o, _ := twoChats(t)
	was := fake.Question("Ship it?")
	was.Route = "default"
	was.Destinations = append(was.Destinations, bridge.Destination{Platform: "phone", Channel: "@P-dee"})
	was.Told, was.Unfound = []bridge.Told{{Name: "dee", At: []int{1}, Step: 2}}, []bridge.Unfound{{Name: "@oncall", Why: "HTTP 500"}}
	next := fake.Question("And now?")
	next.Route = "default"
	o.rounds.follow(&next, bridge.Record{Interaction: was})
	if fmt.Sprint(next.Destinations, next.Told, next.Unfound) != fmt.Sprint(was.Destinations, []bridge.Told{{Name: "dee", At: []int{1}}}, was.Unfound) {
		t.Errorf("the follow-up has %v, %+v, %+v", next.Destinations, next.Told, next.Unfound)
	}
}

// TestFollowUpForOthers checks that a follow-up which asks others in the same channel has
// a card of its own, because an edit would tell them nothing.
func TestFollowUpForOthers(t *testing.T) {
	t.Parallel()
	o, _ := twoChats(t)
	for name, x := range map[string]struct {
		ask  func(*bridge.Interaction)
		same bool
	}{
		"the same people": {func(*bridge.Interaction) {}, true},
		"fewer people":    {func(i *bridge.Interaction) { i.Responders = i.Responders[1:] }, true},
		"someone else":    {func(i *bridge.Interaction) { i.Responders = append(i.Responders, bridge.Responder{Person: "fay"}) }, false},
		"another group":   {func(i *bridge.Interaction) { i.Groups = []string{"oncall"} }, false},
	} {
		was, next := fake.Question("Ship it?"), fake.Question("And now?")
		was.ID, was.Route, next.Route = "i_1", "default", "other"
		x.ask(&next)
		o.rounds.follow(&next, bridge.Record{Interaction: was})
		if got := next.Root == was.ID; got != x.same {
			t.Errorf("%s: it takes over the messages: %t; want %t", name, got, x.same)
		}
	}
}
