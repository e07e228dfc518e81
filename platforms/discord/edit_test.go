package discord_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestOldMessages checks that Discord's limit on edits of old messages holds
// back further edits in the channel, without more requests.
func TestOldMessages(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "old_messages"})
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil) // the first edit turns the message into a card
	if err != nil {
		t.Fatal(err)
	}
	closed := round(0, "make deploy", bridge.StateExpired)
	var limited *bridge.Error
	for n := range 4 {
		if err = d.p.Update(t.Context(), ref, closed, nil); err != nil {
			if n < 2 {
				t.Fatalf("edit %d: %v", n, err)
			}
			break
		}
	}
	if !errors.As(err, &limited) || limited.Code != bridge.CodeRateLimited || limited.RetryAfter < 20*time.Second {
		t.Fatalf("the error is %v", err)
	}
	before := d.requests.Load()
	err = d.p.Update(t.Context(), ref, closed, nil)
	if !errors.Is(err, bridge.ErrPaced) || d.requests.Load() != before {
		t.Errorf("the next edit got %v after %d requests", err, d.requests.Load()-before)
	}
}
