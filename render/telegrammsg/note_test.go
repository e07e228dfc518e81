package telegrammsg_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// TestMentions checks that a joiner follows an @ only where Telegram would
// detect a mention.
func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"@ana and (@bo)":     "@\u200dana and (@\u200dbo)",
		"git@github.com:nod": "git@github.com:nod",
		"é@ana, _@ana, 1@x":  "é@ana, _@ana, 1@x",
		"5 @ 3, @@ana, a @":  "5 @ 3, @@\u200dana, a @\u200d",
	} {
		if got := telegrammsg.Reply(text).Text; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestNotes checks that short messages and toasts show hidden characters and
// fit.
func TestNotes(t *testing.T) {
	t.Parallel()
	if got := telegrammsg.Toast("a\u202eb"); got != "a⟨U+202E⟩b" {
		t.Errorf("toast %q", got)
	}
	if got := telegrammsg.Reply("a\u202eb").Text; got != "a⟨U+202E⟩b" {
		t.Errorf("reply %q", got)
	}
	long := strings.Repeat("@ana ", 2000)
	reminder := telegrammsg.Reminder(bridge.Reminder{Users: []string{"7", "x"}, Text: long})
	for name, m := range map[string]telegrammsg.Message{"reply": telegrammsg.Reply(long), "reminder": reminder} {
		if n := render.Runes(m.Text); n > 4096 || n < 1000 {
			t.Errorf("%s: %d characters", name, n)
		}
	}
	if len(reminder.Entities) != 1 || reminder.Entities[0].User.ID != 7 {
		t.Errorf("the reminder mentions %+v", reminder.Entities)
	}
}
