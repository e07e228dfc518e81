package discordmsg_test

import (
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/rendertest"
)

// TestBatchComponents checks that each pending approval of a batch has its own
// buttons directly below its text, and that a decided one has none.
func TestBatchComponents(t *testing.T) {
	t.Parallel()
	for open := range discordmsg.MaxItems + 1 {
		states := make([]bridge.State, discordmsg.MaxItems)
		for n := range states {
			states[n] = bridge.StateApproved
			if n < open {
				states[n] = bridge.StatePending
			}
		}
		m, err := discordmsg.Build(rendertest.Batch(states...))
		if err != nil {
			t.Fatal(err)
		}
		parts := m.Components[0].(discordgo.Container).Components[1:]
		for n := range states {
			kinds := []discordgo.ComponentType{discordgo.SeparatorComponent, discordgo.TextDisplayComponent}
			if n < open {
				kinds = append(kinds, discordgo.ActionsRowComponent)
			}
			for _, kind := range kinds {
				if got := parts[0].Type(); got != kind {
					t.Fatalf("%d pending: number %d has a component of type %d; want %d", open, n+1, got, kind)
				}
				if row, ok := parts[0].(discordgo.ActionsRow); ok && len(row.Components) != 2 {
					t.Errorf("number %d has %d buttons", n+1, len(row.Components))
				}
				parts = parts[1:]
			}
		}
	}
}

// TestProgressOfApproval checks that the note about an edited input that was
// refused has no control: an approval has no pages of a form.
func TestProgressOfApproval(t *testing.T) {
	t.Parallel()
	v := rendertest.Batch(bridge.StatePending, bridge.StatePending).Of(0)
	m := discordmsg.Progress(v, "The policy denies the edited input.", 0)
	for _, c := range m.Components {
		if box, ok := c.(discordgo.Container); ok {
			for _, part := range box.Components {
				if part.Type() == discordgo.ActionsRowComponent {
					t.Errorf("it has %+v", part)
				}
			}
		}
	}
}
