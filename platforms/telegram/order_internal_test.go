package telegram

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// drafts answers each click with the next draft of a card.
type drafts struct {
	bridge.Sink
	views []bridge.View
}

func (d *drafts) Click(context.Context, bridge.Click) (bridge.Verdict, error) {
	v := d.views[0]
	d.views = d.views[1:]
	return bridge.Verdict{Kind: bridge.VerdictDraft, View: &v}, nil
}

// TestOrder checks that a card does not show an older draft after a newer one,
// whether a click or a job draws it, and in whatever order the drawings begin.
func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(revision, change int64, who string, private bool) bridge.View {
		v := bridge.View{Draft: &bridge.Draft{Change: change, Actor: bridge.Actor{User: who}}}
		v.Record.Interaction.ID, v.Record.Revision, v.Record.Interaction.Private = "x", revision, private
		return v
	}
	ana, untouched := at(1, 3, "ana", false), at(1, 0, "", false)
	untouched.Draft = nil
	other := ana
	other.Destination = 1
	for name, c := range map[string]struct {
		clicked []bridge.View // in the order in which nod records the clicks
		drawn   bridge.View
		want    bool
	}{
		"the newest":               {[]bridge.View{at(1, 2, "ana", false), ana}, ana, true},
		"the same from a job":      {[]bridge.View{ana}, ana, true},
		"a newer one from a job":   {[]bridge.View{ana}, at(1, 4, "bo", false), true},
		"an older one":             {[]bridge.View{at(1, 2, "ana", false), ana}, at(1, 2, "ana", false), false},
		"an older one of another":  {[]bridge.View{ana}, at(1, 2, "bo", false), false},
		"an older one, told later": {[]bridge.View{ana, at(1, 2, "bo", false)}, at(1, 2, "bo", false), false},
		"of a newer record":        {[]bridge.View{ana}, at(2, 2, "ana", false), true},
		"on another card":          {[]bridge.View{other}, at(1, 2, "ana", false), true},
		"without a draft":          {[]bridge.View{ana}, untouched, true},
		"a copy of another person": {[]bridge.View{at(1, 3, "ana", true)}, at(1, 2, "bo", true), true},
		"an older own copy":        {[]bridge.View{at(1, 3, "ana", true)}, at(1, 2, "ana", true), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o order
			sink := &drafts{views: slices.Clone(c.clicked)}
			for range c.clicked {
				if _, err := o.click(t.Context(), sink, bridge.Click{}); err != nil {
					t.Fatal(err)
				}
			}
			drawn := errors.New("drawn")
			if err := o.draw(c.drawn, func() error { return drawn }); errors.Is(err, drawn) != c.want {
				t.Errorf("drawn: %v, want %t", err, c.want)
			}
		})
	}
}

// TestLane checks which updates keep their order.
func TestLane(t *testing.T) {
	t.Parallel()
	ana := user{ID: 7}
	for want, u := range map[string]update{
		"7": {Message: &message{From: &ana}}, "click 7": {Callback: &callback{From: ana}}, "": {Edited: &message{From: &ana}},
	} {
		if got := u.lane(); got != want {
			t.Errorf("lane %q, want %q", got, want)
		}
	}
}
