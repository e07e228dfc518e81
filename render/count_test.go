package render_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestExpiredHead checks that the headline of a request that expired does not say
// that enough people approved if a required one did not.
func TestExpiredHead(t *testing.T) {
	t.Parallel()
	vote := func(who string, covers ...int) bridge.Vote {
		return bridge.Vote{Actor: bridge.Actor{Platform: "chat", User: who, Person: who}, State: bridge.StateApproved, Covers: covers}
	}
	for want, x := range map[string]struct {
		must  []string
		votes []bridge.Vote
	}{
		"Expired: no one answered":                        {},
		"Expired: 1 of 2 approved":                        {votes: []bridge.Vote{vote("ana")}},
		"Expired: 2 of 3 approved in 0 s, without cy":     {must: []string{"cy"}, votes: []bridge.Vote{vote("ana"), vote("bo")}},
		"Expired: 1 of 2 approved in 0 s, without 1 more": {must: []string{"cy"}, votes: []bridge.Vote{vote("cy", 0)}},
	} {
		r := bridge.Record{State: bridge.StateExpired, Votes: x.votes, Response: &bridge.Response{State: bridge.StateExpired}}
		r.Interaction.Kind, r.Interaction.Approval = bridge.KindApproval, &bridge.Approval{Tool: "deploy"}
		r.Interaction.Quorum, r.Interaction.Must = 2, x.must
		head := render.NewCard(bridge.NewView(r, 0, nil, func(bridge.Control) string { return "" }), func(bridge.Question) bool { return false }).HeadText()
		if !strings.Contains(head, want) {
			t.Errorf("the headline is %q; want %q", head, want)
		}
	}
}
