package bridge_test

import (
	"fmt"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestCount checks that the number on a card is the number of people: a required
// approver who fills several requirements counts once.
func TestCount(t *testing.T) {
	t.Parallel()
	ana := func(route string, quorum int) bridge.Requirement {
		return bridge.Requirement{Route: route, Quorum: quorum, Must: []string{"ana"}}
	}
	for name, x := range map[string]struct {
		p     bridge.Placement
		votes [][]int // the slots that each approval fills
		want  string
	}{
		"anyone":                       {bridge.Placement{}, nil, "0 of 1: 1 more"},
		"a quorum":                     {bridge.Placement{Quorum: 2}, [][]int{{}}, "1 of 2: 1 more"},
		"a required person":            {bridge.Placement{Must: []string{"ana"}}, nil, "0 of 1: ana"},
		"who is one of the quorum":     {bridge.Placement{Quorum: 2, Must: []string{"ana"}}, nil, "0 of 2: 1 more, ana"},
		"without whom two approved":    {bridge.Placement{Quorum: 2, Must: []string{"ana"}}, [][]int{{}, {}}, "2 of 3: ana"},
		"two groups":                   {bridge.Placement{Must: []string{"@sre", "@leads"}}, nil, "0 of 2: @sre, @leads"},
		"two groups, filled by one":    {bridge.Placement{Must: []string{"@sre", "@leads"}}, [][]int{{0, 1}}, "1 of 1"},
		"one person of two routes":     {bridge.Placement{Requirements: []bridge.Requirement{ana("a", 0), ana("b", 0)}}, nil, "0 of 1: a: ana, b: ana"},
		"one of the quorum of a route": {bridge.Placement{Requirements: []bridge.Requirement{ana("a", 2), ana("b", 0)}}, nil, "0 of 2: a: 1 more and ana, b: ana"},
		"two routes":                   {bridge.Placement{Requirements: []bridge.Requirement{{Route: "a"}, {Route: "b"}}}, [][]int{{0}}, "1 of 2: b: 1 more"},
	} {
		var r bridge.Record
		r.Interaction.Kind, r.Interaction.Placement = bridge.KindApproval, x.p
		for n, covers := range x.votes {
			r.Votes = append(r.Votes, bridge.Vote{Actor: bridge.Actor{Person: fmt.Sprint("p", n)}, State: bridge.StateApproved, Covers: covers})
		}
		have, need := r.Count()
		got := fmt.Sprintf("%d of %d", have, need)
		if m := r.Missing(); m != "" {
			got += ": " + m
		}
		if got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}
