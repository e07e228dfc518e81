package webhook

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestRequesterTold checks when a requester is told how a request ended.
func TestRequesterTold(t *testing.T) {
	t.Parallel()
	by := func(who string) *bridge.Actor { return &bridge.Actor{Platform: "chat", User: "U-" + who, Person: who} }
	for name, x := range map[string]struct {
		set  func(*bridge.Record)
		err  error
		want string
		end  string
	}{
		"approved": {func(*bridge.Record) {}, nil, "U-cy ✅", "hook done"},
		"in the words of the route": {func(r *bridge.Record) {
			r.Interaction.Preview = bridge.PreviewNone
		}, nil, "U-cy A request was closed.", "hook done"},
		"by the requester": {func(r *bridge.Record) { r.Response.Actor = by("cy") }, nil, "", "hook done"},
		"by a policy":      {func(r *bridge.Record) { r.Messages = nil }, nil, "", "hook done"},
		"replaced":         {func(r *bridge.Record) { r.State = bridge.StateSuperseded }, nil, "", "hook done"},
		"unknown":          {func(r *bridge.Record) { r.Interaction.Requester = "someone" }, nil, "", "hook done"},
		"refused":          {func(*bridge.Record) {}, bridge.Errorf(bridge.CodeForbidden, "no"), "U-cy ✅", "hook done"},
		"unreachable":      {func(*bridge.Record) {}, bridge.Errorf(bridge.CodeRateLimited, "later"), "U-cy ✅", "hook retry in 5s"},
	} {
		m := &fake.Messenger{Chat: &fake.Chat{As: "chat"}, Err: x.err}
		o := newOffice(t, engine.Options{Directory: fake.NewStaff(), Platforms: []bridge.Platform{m}})
		i := fake.Question("Ship it?")
		i.Requester, i.TellRequester = "cy", true
		if i.Closings() != 1 {
			t.Fatalf("%d messages", i.Closings())
		}
		r := o.store.Put(t, i)
		r.State, r.Messages = bridge.StateAnswered, map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
		r.Response = &bridge.Response{State: bridge.StateAnswered, Actor: by("ana")}
		x.set(&r)
		o.store.Set(r)
		if err := o.Work(t.Context(), o.store.Work(life.JobHook, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Told, "\n"); !strings.HasPrefix(got, x.want) || x.want == "" && got != "" {
			t.Errorf("%s: told %q, want %q", name, got, x.want)
		}
		o.outcomes(x.end)
	}
}
