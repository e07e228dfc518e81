package render_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
)

// TestPreviewOfBatch checks that the notification of a batch without a preview
// shows whether people still have to decide.
func TestPreviewOfBatch(t *testing.T) {
	t.Parallel()
	for state, want := range map[bridge.State]string{
		bridge.StatePending: "2 requests are pending.", bridge.StateApproved: "2 requests were closed.",
	} {
		v := rendertest.Batch(state, state)
		for n := range v.Batch {
			v.Batch[n].Interaction.Preview = bridge.PreviewNone
		}
		if c, _ := render.NewBatch(v); c.Notice != want {
			t.Errorf("%s: %q; want %q", state, c.Notice, want)
		}
	}
}
