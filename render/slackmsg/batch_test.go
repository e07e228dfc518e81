package slackmsg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
)

// A full batch fits, whatever its markup is.
func TestFullBatchFits(t *testing.T) {
	t.Parallel()
	for name, prompt := range map[string]string{
		"spans": strings.Repeat("*a* ", 600), "lists": strings.Repeat("- a\n", 330), "quotes": strings.Repeat(`\"<&> `, 180), "code": "```\n" + strings.Repeat("x\n", 600) + "```",
	} {
		var batch []bridge.Record
		for n := range bridge.MaxBatch {
			i := bridge.Interaction{
				ID: bridge.ID(fmt.Sprintf("0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f%02d", n)),
				Ask: bridge.Ask{
					Kind: bridge.KindApproval, Prompt: prompt, Session: "s",
					Approval: &bridge.Approval{Tool: "t", Input: []byte(`{"command":"ls"}`), Decisions: []bridge.Decision{
						bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways, bridge.DecideEdit,
					}, Scopes: []bridge.Scope{bridge.ScopeAlways}, ScopeNotes: map[bridge.Scope]string{bridge.ScopeAlways: strings.Repeat("n", bridge.MaxText)}},
				},
				Agent: "a", Digest: strings.Repeat("d", 64),
			}
			batch = append(batch, bridge.Record{Interaction: i, State: bridge.StatePending})
		}
		v := bridge.NewView(batch[0], 0, nil, func(bridge.Control) string { return strings.Repeat("t", bridge.TokenLength) })
		v.Batch = batch
		m, err := slackmsg.Build(v)
		if err != nil || len(m.Blocks) == 0 {
			t.Errorf("%s: %d blocks, %v", name, len(m.Blocks), err)
		}
	}
}

// TestBatchBlocks checks the number of blocks of a batch: each pending approval
// has a line, its text and its own buttons directly below it, and a decided one
// has no buttons.
func TestBatchBlocks(t *testing.T) {
	t.Parallel()
	for open := range bridge.MaxBatch + 1 {
		states := make([]bridge.State, bridge.MaxBatch)
		for n := range states {
			states[n] = bridge.StateApproved
			if n < open {
				states[n] = bridge.StatePending
			}
		}
		v := rendertest.Batch(states...)
		for n := range v.Batch { // the coverage of a wider scope would need a note that the text is shortened
			v.Batch[n].Interaction.Approval.Scopes = []bridge.Scope{bridge.ScopeOnce}
		}
		m, err := slackmsg.Build(v)
		if most := 5 + 3*open + 2*(len(states)-open); err != nil || len(m.Blocks) > most {
			t.Errorf("%d pending: %d blocks, more than %d, %v", open, len(m.Blocks), most, err)
		}
		for n := range open {
			text, row := m.Blocks[2+3*n], m.Blocks[3+3*n]
			buttons, ok := row.(*slack.ActionBlock)
			if !ok || text.BlockType() != slack.MBTRichText || len(buttons.Elements.ElementSet) != 2 {
				t.Errorf("%d pending: %s and %s for number %d", open, text.BlockType(), row.BlockType(), n+1)
			}
		}
	}
}
