package tell

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// notifier returns a notifier of the platforms chat and phone.
func notifier() *Notifier {
	all, s := fake.TwoChats()
	platforms := map[string]bridge.Platform{}
	for _, p := range all {
		platforms[p.Name()] = p
	}
	return New(platforms, people.New(nil, s, nil), s, nil, slog.New(slog.DiscardHandler))
}

// TestSaid checks what a person who delegates a request reads about how the
// other person is notified.
func TestSaid(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"cy":  "nod mentions Cy on Chat. ",
		"dee": "nod sends Cy a card on Phone. ",
		"eve": "nod cannot tell Cy (no known chat account), so tell them yourself. ",
		"ana": "nod cannot tell Cy (requested this or owns the agent), so tell them yourself. ",
		"zoe": "nod cannot tell Cy, so tell them yourself. ", // not asked at all
	} {
		all, store := notifier(), fake.New()
		i := fake.Question("Ship it?")
		i.Requesters = []string{"ana"}
		r := store.Put(t, i)
		r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
		telling := all.Telling(t.Context(), r, &i)
		if to != "zoe" {
			telling.People([]string{to})
		}
		if got := telling.Said(to, "Cy"); got != want {
			t.Errorf("of %s: %q; want %q", to, got, want)
		}
	}
}

// TestVoid checks that a person whose approval no longer counts is told where a
// mention reaches them: not in a direct message to someone else.
func TestVoid(t *testing.T) {
	t.Parallel()
	at := func(platform, channel string) bridge.Destination {
		return bridge.Destination{Platform: platform, Channel: channel}
	}
	actor := func(person, platform, user string) bridge.Actor {
		return bridge.Actor{Person: person, Platform: platform, User: user}
	}
	for name, x := range map[string]struct {
		at    []bridge.Destination
		voter bridge.Actor
		want  string
	}{
		"a channel":            {[]bridge.Destination{at("chat", "C")}, actor("bo", "chat", "U-bo"), "[U-bo] at 0"},
		"their direct message": {[]bridge.Destination{at("chat", "@U-ana"), at("chat", "@U-bo")}, actor("bo", "chat", "U-bo"), "[U-bo] at 1"},
		"someone else's":       {[]bridge.Destination{at("chat", "@U-ana")}, actor("bo", "chat", "U-bo"), ""},
		"voted elsewhere":      {[]bridge.Destination{at("chat", "C")}, actor("bo", "phone", "P-bo"), "[U-bo] at 0"},
		"voted by the API":     {[]bridge.Destination{at("phone", "P"), at("chat", "C")}, actor("bo", bridge.PlatformAPI, "bo"), "[U-bo] at 1"},
		"an unknown account":   {[]bridge.Destination{at("chat", "C")}, actor("", "chat", "U-x"), "[U-x] at 0"},
		"no account here":      {[]bridge.Destination{at("chat", "C")}, actor("dee", "phone", "P-dee"), ""},
	} {
		all, store := notifier(), fake.New()
		i := fake.Question("Ship it?")
		i.Destinations = x.at
		r := store.Put(t, i)
		r.Messages = map[int]bridge.MessageRef{}
		for n, d := range x.at {
			r.Messages[n] = bridge.MessageRef{Channel: d.Channel, Message: "1"}
		}
		a := life.Amendment{}
		all.Void(t.Context(), &a, r, []bridge.Vote{{Actor: x.voter, State: bridge.StateApproved}}, "the rules changed")
		got := ""
		for _, m := range a.Reminders {
			got += fmt.Sprint(m.Users, " at ", m.Destination)
			if !strings.Contains(m.Text, "your approval no longer counts, because the rules changed: Ship it?") {
				t.Errorf("%s: %q", name, m.Text)
			}
		}
		if got != x.want || fmt.Sprint(a.Void) != "["+x.voter.Voter()+"]" {
			t.Errorf("%s: told %q, void %v; want %q", name, got, a.Void, x.want)
		}
	}
}

// TestWidened checks that people who may answer only since the rules changed are told.
func TestWidened(t *testing.T) {
	t.Parallel()
	all, store := notifier(), fake.New()
	was := fake.Question("Ship it?")
	next := was
	next.Responders = append(slices.Clone(was.Responders), bridge.Responder{Person: "cy", Platform: "chat", User: "U-cy"}, bridge.Responder{Person: "dee", Platform: "phone", User: "P-dee"},
		bridge.Responder{Person: "fay", Platform: "phone", User: "P-fay"})
	next.Destinations = append(slices.Clone(was.Destinations), bridge.Destination{Platform: "phone", Channel: "@P-fay"})
	r := store.Put(t, was)
	r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
	telling := all.Telling(t.Context(), r, &next)
	telling.Widened(was)
	var mentioned []string
	for _, m := range telling.Reminders("") {
		mentioned = append(mentioned, m.Users...)
	}
	if fmt.Sprint(mentioned) != "[U-cy]" || len(next.Destinations) != 3 || next.Destinations[2].Channel != "@P-dee" {
		t.Errorf("mentioned %q, cards at %v; want cy mentioned, and dee with a card", mentioned, next.Destinations)
	}
}
