package demo

import (
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestPane checks what the page says about the agent while it waits and
// afterward.
func TestPane(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{})
	defer s.Close()
	p, scenes, at := pane{sandbox: s}, Scenes(), time.Now()
	p.blocked(scenes[0], true)
	notes := s.State().Story.Notes
	if last := notes[len(notes)-1]; last.Kind != "blocked" || !slices.Contains(notes, sandbox.Note{Kind: "try", Text: outsider}) {
		t.Errorf("it waits: %+v", notes)
	}
	rec := bridge.Record{State: bridge.StateAnswered, Response: &bridge.Response{
		At: at, Actor: &bridge.Actor{Person: "ana"}, Answers: map[string]bridge.Answer{"region": bridge.TextAnswer("eu")},
	}}
	rec.Interaction.Questions = scenes[0].Request.Questions
	p.unblocked(scenes[0], rec, at.Add(3*time.Millisecond))
	notes = s.State().Story.Notes
	waits := func(n sandbox.Note) bool { return n.Kind == "blocked" }
	want := []sandbox.Note{{Kind: "unblocked", Text: "Unblocked after 3 ms: Europe, by Ana"},
		{Kind: "says", Text: "The agent releases there first."}}
	if got := notes[len(notes)-2:]; !slices.Equal(got, want) || slices.ContainsFunc(notes, waits) {
		t.Errorf("it continues: %+v", notes)
	}
}
