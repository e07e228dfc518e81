package people

import (
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestUnread checks who may decide while a group cannot be read: the failure
// gives no one a right to approve, removes no one else's right, and never
// prevents a denial by a person. The order of the groups does not matter.
func TestUnread(t *testing.T) {
	t.Parallel()
	asked := func(groups ...string) bridge.Interaction {
		return bridge.Interaction{Placement: bridge.Placement{
			Responders: []bridge.Responder{{Person: "ana", Platform: "chat", User: "U1"}}, Groups: groups,
		}}
	}
	must := asked("sre")
	must.Must = []string{"@oncall"}
	counts := asked("oncall")
	counts.DenyCounts = true
	own := asked("oncall")
	own.Requesters = []string{"cy"}
	for _, x := range []struct {
		name string
		i    bridge.Interaction
		who  string
		in   string // the group that includes the account
		why  string
		deny bool
	}{
		{"named", asked("oncall"), "ana", "", "", true},
		{"named, with a required group", must, "ana", "", "", true},
		{"in another group", asked("oncall", "sre"), "bo", "sre", "", true},
		{"in another group, first", asked("sre", "oncall"), "bo", "sre", "", true},
		{"perhaps on call", asked("oncall", "sre"), "cy", "", WhyUnread, true},
		{"perhaps on call, where a denial counts", counts, "cy", "", WhyUnread, true},
		{"perhaps on call, the requester", own, "cy", "", WhyUnread, true},
		{"no person", asked("oncall"), "", "", WhyUnread, false},
		{"no person, in another group", asked("oncall", "sre"), "", "sre", "", true},
		{"nobody", asked("sre"), "cy", "", WhyNobody, false},
	} {
		k := known{who: bridge.Actor{Platform: "chat", User: "U", Person: x.who}, in: map[string]bool{x.in: true}, unread: map[string]string{"oncall": "HTTP 500"}}
		no := k.answer(x.i)
		if no.Why != x.why || (no.Why == "" || no.Denies) != x.deny {
			t.Errorf("%s: %+v; want %q, denies %v", x.name, no, x.why, x.deny)
		}
	}
}

// TestUnreadSlots checks that an approval does not count toward a group that cannot
// be read, and toward everything else.
func TestUnreadSlots(t *testing.T) {
	t.Parallel()
	i := bridge.Interaction{Placement: bridge.Placement{Must: []string{"@oncall", "@sre", "ana"}, Requirements: []bridge.Requirement{
		{Route: "a", Groups: []string{"oncall"}, Must: []string{"@sre"}}, {Route: "b", Groups: []string{"sre"}, Must: []string{"@oncall"}},
	}}}
	k := known{who: bridge.Actor{Person: "ana"}, in: map[string]bool{"sre": true}, unread: map[string]string{"oncall": "HTTP 500"}}
	yes, maybe := k.covers(i)
	if !slices.Equal(yes, []int{1, 2, 5}) || !slices.Equal(maybe, []int{0, 3, 4, 6}) {
		t.Errorf("it counts toward %v, and perhaps toward %v, of %+v", yes, maybe, i.ApprovalSlots())
	}
}
