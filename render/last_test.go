package render_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestDueAfterVote checks that the last line of a card counts only the approvals
// that are missing, and names only people who have not voted.
func TestDueAfterVote(t *testing.T) {
	t.Parallel()
	r := find(t, "approval").Record
	r.Interaction.Groups, r.Interaction.Quorum, r.Interaction.Responders = nil, 3, nil
	var mentions []bridge.Mention
	r.Interaction.Names = map[string]string{"bo": "Bo Chen", "cy": "Cy Okafor"}
	for _, who := range []string{"ana", "bo", "cy"} {
		r.Interaction.Responders = append(r.Interaction.Responders, bridge.Responder{Person: who, Platform: "slack", User: "U-" + who})
		mentions = append(mentions, bridge.Mention{Person: who, Name: r.Interaction.NameOf(who), User: "U-" + who})
	}
	for n, want := range []string{"3 approvals needed from ana, Bo Chen, Cy Okafor", "2 more approvals needed from Bo Chen, Cy Okafor", "waiting for Cy Okafor"} {
		for _, m := range [][]bridge.Mention{nil, mentions} {
			var s strings.Builder
			for _, span := range render.Due(r, m) {
				if span.Mention != nil {
					span.Text = span.Mention.Name
				}
				s.WriteString(span.Text)
			}
			if !strings.HasSuffix(s.String(), " · "+want) {
				t.Errorf("after %d votes: %q", n, s.String())
			}
		}
		who := bridge.Actor{Person: r.Interaction.Responders[n].Person, Platform: "slack"}
		r.Votes = append(r.Votes, bridge.Vote{Actor: who, State: bridge.StateApproved})
	}
}

// TestDueWithGroups checks that the last line of a card names people whom it waits for
// next to groups.
func TestDueWithGroups(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		kind   bridge.Kind
		quorum int
		people []string
		want   string
	}{
		{bridge.KindAsk, 0, nil, "waiting for oncall, sre"},
		{bridge.KindAsk, 0, []string{"ana"}, "waiting for ana, oncall, sre"},
		{bridge.KindApproval, 0, []string{"ana", "bo"}, "1 approval needed from ana, bo, oncall, sre"},
		{bridge.KindApproval, 3, []string{"a", "b", "c", "d", "e", "f", "ana"}, "3 approvals needed from 7 people, oncall, sre"},
		{bridge.KindApproval, 0, []string{"owner"}, "1 approval needed from oncall, sre"},
	} {
		r := find(t, "approval").Record
		i := &r.Interaction
		i.Kind, i.Quorum, i.Groups, i.Requesters, i.Responders = x.kind, x.quorum, []string{"oncall", "sre"}, []string{"owner"}, nil
		for _, who := range x.people {
			i.Responders = append(i.Responders, bridge.Responder{Person: who, Platform: "slack", User: "U-" + who})
		}
		var s strings.Builder
		for _, span := range render.Due(r, nil) {
			s.WriteString(span.Text)
		}
		if !strings.HasSuffix(s.String(), " · "+x.want) {
			t.Errorf("%q; want %q at the end", s.String(), x.want)
		}
	}
}

// TestNewer checks that a superseded card links to the card that replaced it.
func TestNewer(t *testing.T) {
	t.Parallel()
	v := find(t, "approval-superseded")
	v.Newer = "https://chat.example/C2/7"
	c := render.NewCard(v, never)
	if s := render.PlainText(c.Closing); !strings.Contains(s, render.LabelOpenNewer) {
		t.Errorf("the card ends with %q", s)
	}
}

// TestInProcess checks the card of a question that the agent's own process has
// answered: no one withdrew it.
func TestInProcess(t *testing.T) {
	t.Parallel()
	v := find(t, "form")
	v.Record.State = bridge.StateCancelled
	v.Record.Response = &bridge.Response{State: bridge.StateCancelled, Reason: bridge.ReasonInProcess}
	c := render.NewCard(v, never)
	if c.HeadText() != "⌨️ Answered in the agent's process" || strings.Contains(render.PlainText(c.Closing), "Reason") {
		t.Errorf("the card says %q and %q", c.HeadText(), render.PlainText(c.Closing))
	}
}
