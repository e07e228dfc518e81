package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestReminded checks that a reminder mentions the responders who are still
// needed, and the groups that the platform can mention.
func TestReminded(t *testing.T) {
	t.Parallel()
	s := newStaff()
	s.native = map[string]string{"sre": "S1"}
	o := newOffice(t, func(o *Options) {
		o.Directory, o.Platforms = s, []bridge.Platform{talker{chat: &chat{name: "chat"}}}
	})
	i := question("Ship it?")
	i.Groups, i.Quorum = []string{"sre", "dev"}, 2
	i.Steps = []bridge.Step{{Remind: true}}
	r := o.store.put(t, i)
	r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
	r.Votes = []bridge.Vote{{Actor: bridge.Actor{Platform: "chat", User: "U-bo", Person: "bo"}, State: bridge.StateApproved}}
	o.store.set(r)
	o.work(r, 0)
	got := o.store.get(r.Interaction.ID).Reminders
	if len(got) != 1 || !strings.Contains(got[0].Text, "answer until ") || !slices.Equal(got[0].Users, []string{"U-ana", "U-di"}) || !slices.Equal(got[0].Groups, []string{"S1"}) {
		t.Errorf("the reminders are %+v", got)
	}
}

// TestRemindBy checks when requests of a route remind by default.
func TestRemindBy(t *testing.T) {
	t.Parallel()
	m := routes{bridge.DefaultRoute: {
		Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}},
		Responders:   []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}},
		Remind:       bridge.RemindAfter{Percent: 75},
	}}
	i := question("Ship it?")
	i.Deadline = i.Created.Add(time.Hour)
	if err := m.address(&i, bridge.Agent{}, bridge.OnTimeoutExpire, []string{bridge.DefaultRoute}); err != nil {
		t.Fatal(err)
	}
	if len(i.Steps) != 1 || !i.Steps[0].Remind || time.Duration(i.Steps[0].After) != 45*time.Minute {
		t.Errorf("the steps are %+v", i.Steps)
	}
}
