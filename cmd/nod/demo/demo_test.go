package demo

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestDemoAutoplay checks that the scripted people complete every act.
func TestDemoAutoplay(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := Run(t.Context(), Options{Listen: "127.0.0.1:0", Autoplay: true, Out: &out, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "All answers arrived correctly: 9 acts") {
		t.Error(out.String())
	}
}

// TestDemoPasskey checks that the demo offers to sign an approval, at an address
// that browsers accept.
func TestDemoPasskey(t *testing.T) {
	t.Parallel()
	err := withStage(t.Context(), "127.0.0.1:0", slog.New(slog.DiscardHandler), func(ctx context.Context, st *stage) error {
		invited, err := st.person.Invite(ctx, "ana")
		if err != nil || !strings.HasPrefix(invited.URL, "http://localhost:") {
			t.Errorf("%+v %v", invited, err)
		}
		input, _ := json.Marshal(map[string]string{"command": signedCommand}) // a string always marshals
		rec, err := st.agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
			Prompt: "May I?", Approval: &bridge.Approval{Tool: "bash", Input: input},
		}}, "")
		if err != nil || rec.Interaction.StepUp == "" {
			t.Errorf("no passkey is required: %+v %v", rec.Interaction, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
