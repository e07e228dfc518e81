package people

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// grouped is a directory whose groups have di and eve. It knows everyone in the group
// closed.
type grouped struct{ bridge.Directory }

func (grouped) Everyone(group string) (people []string, all bool) {
	return []string{"di", "eve"}, group == "closed"
}

// TestImpossible checks which requests can never be approved, and why.
func TestImpossible(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		set  func(*bridge.Interaction)
		want string // empty if it can be approved
	}{
		"two responders":            {func(*bridge.Interaction) {}, ""},
		"three of two":              {func(i *bridge.Interaction) { i.Quorum = 3 }, "3 approvals are needed, but only ana, bo can approve on the route default"},
		"two of two with an owner":  {func(i *bridge.Interaction) { i.Quorum, i.Requesters = 2, []string{"bo"} }, "2 approvals are needed, but only ana can approve"},
		"one of two with an owner":  {func(i *bridge.Interaction) { i.Requesters = []string{"bo"} }, ""},
		"only owners":               {func(i *bridge.Interaction) { i.Requesters = []string{"ana", "bo"} }, "no one can answer on the route default; not ana, bo, who"},
		"a step asks another":       {func(i *bridge.Interaction) { i.Quorum, i.Steps = 3, []bridge.Step{{Ask: []string{"cy"}}} }, ""},
		"a hand-over to another":    {func(i *bridge.Interaction) { i.Quorum, i.HandOver = 3, []string{"cy"} }, ""},
		"required, not a responder": {func(i *bridge.Interaction) { i.Must = []string{"cy"} }, "cy must approve, but is not a responder of the route default"},
		"required owner":            {func(i *bridge.Interaction) { i.Must, i.Requesters = []string{"bo"}, []string{"bo"} }, "bo must approve, but requested this"},
		"a required group":          {func(i *bridge.Interaction) { i.Must = []string{"@closed"} }, "@closed must approve, but is not"},
		"a group of the config":     {func(i *bridge.Interaction) { i.Must, i.Groups, i.Quorum = []string{"@closed"}, []string{"closed"}, 4 }, ""},
		"too few in the group":      {func(i *bridge.Interaction) { i.Groups, i.Quorum = []string{"closed"}, 5 }, "5 approvals are needed"},
		"a group of a platform":     {func(i *bridge.Interaction) { i.Must, i.Groups, i.Quorum = []string{"zoe"}, []string{"oncall"}, 5 }, ""},
		"one route of two": {func(i *bridge.Interaction) {
			i.Requirements = []bridge.Requirement{{Route: "a", Responders: i.Responders}, {Route: "b", Quorum: 2, Responders: i.Responders[:1]}}
		}, "2 approvals are needed, but only ana can approve on the route b"},
		"a notice": {func(i *bridge.Interaction) { i.Kind, i.Responders = bridge.KindNotice, nil }, ""},
	} {
		i := bridge.Interaction{Ask: bridge.Ask{Kind: bridge.KindApproval, Route: "default"}}
		i.Responders = []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}, {Person: "bo", Platform: "chat", User: "U-bo"}}
		x.set(&i)
		p := &People{directory: grouped{}}
		if got := p.Impossible(i); (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q; want %q", name, got, x.want)
		}
	}
}
