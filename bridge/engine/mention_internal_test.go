package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// talker is a chat that can mention people and, with a mentionable group, groups.
type talker struct {
	*chat
	direct bool
	quiet  bool // a mention of a group notifies no one
}

func (p talker) Direct(d bridge.Destination) bool {
	return p.direct || strings.HasPrefix(d.Channel, "@")
}

func (p talker) DirectChannel(user string) string { return "@" + user }

func (p talker) Pings(context.Context, string) bool { return !p.quiet }

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
		chat   talker
		want   string
	}{
		"responders":            {func(*bridge.Interaction) {}, nil, talker{}, "U-ana U-bo"},
		"a direct message":      {func(*bridge.Interaction) {}, nil, talker{direct: true}, ""},
		"none":                  {func(i *bridge.Interaction) { i.Mention = bridge.MentionNone }, nil, talker{}, ""},
		"a notice":              {func(i *bridge.Interaction) { i.Kind = bridge.KindNotice }, nil, talker{}, ""},
		"too many":              {crowd, nil, talker{}, "U-a U-b U-c U-d U-e"},
		"the requester":         {func(i *bridge.Interaction) { i.Requesters = []string{"ana"} }, nil, talker{}, "U-bo"},
		"another platform":      {func(i *bridge.Interaction) { i.Responders[0].Platform = "api" }, nil, talker{}, "U-bo"},
		"members of a group":    {func(i *bridge.Interaction) { i.Groups = []string{"sre"} }, nil, talker{}, "U-ana U-bo U-di"},
		"a group":               {func(i *bridge.Interaction) { i.Groups = []string{"sre"} }, map[string]string{"sre": "S1"}, talker{}, "U-ana U-bo @S1"},
		"a group that is quiet": {func(i *bridge.Interaction) { i.Groups = []string{"sre"} }, map[string]string{"sre": "S1"}, talker{quiet: true}, "U-ana U-bo U-di"},
		"only the group": {func(i *bridge.Interaction) {
			i.Groups, i.Mention = []string{"sre", "dev"}, bridge.MentionGroup
		}, map[string]string{"sre": "S1"}, talker{}, "@S1"},
		"people of a step": {func(i *bridge.Interaction) {
			i.Steps = []bridge.Step{{
				Destinations: i.Destinations, Responders: []bridge.Responder{{Person: "cy", Platform: "chat", User: "U-cy"}},
			}}
		}, nil, talker{}, "U-cy"},
	} {
		s := newStaff()
		s.native = x.native
		x.chat.chat = &chat{name: "chat"}
		i := question("Ship it?")
		x.set(&i)
		i.Names = map[string]string{"ana": "Ana Ruiz"}
		o := newOffice(t, func(o *Options) { o.Directory, o.Platforms = s, []bridge.Platform{x.chat} })
		r := o.store.put(t, i)
		r.Step = len(i.Steps)
		o.store.set(r)
		if err := o.dispatcher.do(t.Context(), o.store.work(bridge.JobPost, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range x.chat.views[0].Mentions {
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
