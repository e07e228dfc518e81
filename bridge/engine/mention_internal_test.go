package engine

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestMentions checks whom a card mentions.
func TestMentions(t *testing.T) {
	t.Parallel()
	crowd := func(i *bridge.Interaction) {
		i.Responders = nil
		for _, who := range strings.Split("abcdefgh", "") {
			i.Responders = append(i.Responders, bridge.Responder{Person: who, Platform: "chat", User: "U-" + who})
		}
	}
	for name, x := range map[string]struct {
		set    func(*bridge.Interaction)
		native map[string]string
		chat   fake.Talker
		want   string
	}{
		"responders":            {func(*bridge.Interaction) {}, nil, fake.Talker{}, "U-ana U-bo"},
		"a direct message":      {func(*bridge.Interaction) {}, nil, fake.Talker{Directs: true}, ""},
		"none":                  {func(i *bridge.Interaction) { i.Mention = bridge.MentionNone }, nil, fake.Talker{}, ""},
		"a notice":              {func(i *bridge.Interaction) { i.Kind = bridge.KindNotice }, nil, fake.Talker{}, ""},
		"too many":              {crowd, nil, fake.Talker{}, "U-a U-b U-c U-d U-e"},
		"the requester":         {func(i *bridge.Interaction) { i.Requesters = []string{"ana"} }, nil, fake.Talker{}, "U-bo"},
		"another platform":      {func(i *bridge.Interaction) { i.Responders[0].Platform = "api" }, nil, fake.Talker{}, "U-bo"},
		"members of a group":    {func(i *bridge.Interaction) { i.Groups = []string{"sre"} }, nil, fake.Talker{}, "U-ana U-bo U-di"},
		"a group":               {func(i *bridge.Interaction) { i.Groups = []string{"sre"} }, map[string]string{"sre": "S1"}, fake.Talker{}, "U-ana U-bo @S1"},
		"a group that is quiet": {func(i *bridge.Interaction) { i.Groups = []string{"sre"} }, map[string]string{"sre": "S1"}, fake.Talker{Quiet: true}, "U-ana U-bo U-di"},
		"only the group": {func(i *bridge.Interaction) {
			i.Groups, i.Mention = []string{"sre", "dev"}, bridge.MentionGroup
		}, map[string]string{"sre": "S1"}, fake.Talker{}, "@S1"},
		"people of a step": {func(i *bridge.Interaction) {
			i.Steps = []bridge.Step{{
				Destinations: i.Destinations, Responders: []bridge.Responder{{Person: "cy", Platform: "chat", User: "U-cy"}},
			}}
		}, nil, fake.Talker{}, "U-cy"},
	} {
		s := fake.NewStaff()
		s.Natives = x.native
		x.chat.Chat = &fake.Chat{As: "chat"}
		i := fake.Question("Ship it?")
		x.set(&i)
		i.Names = map[string]string{"ana": "Ana Ruiz"}
		o := newOffice(t, func(o *Options) { o.Directory, o.Platforms = s, []bridge.Platform{x.chat} })
		r := o.store.Put(t, i)
		r.Step = len(i.Steps)
		o.store.Set(r)
		if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range x.chat.Views[0].Mentions {
			switch {
			case m.User == "U-ana" && m.Name != "Ana Ruiz":
				t.Errorf("%s: ana is mentioned as %q", name, m.Name)
			case m.Group != "":
				got = append(got, "@"+m.Group)
			default:
				got = append(got, m.User)
			}
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%s: mentioned %q, want %q", name, s, x.want)
		}
	}
}
