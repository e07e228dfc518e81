package discord_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// session posts two cards of a session and returns the second, which is in the
// thread of the first, and the place of the thread.
func (d *discordDesk) session() (bridge.MessageRef, bridge.Destination) {
	d.T.Helper()
	first, err := d.post(round(0, "make build", bridge.StatePending), nil)
	if err != nil {
		d.T.Fatal(err)
	}
	return d.inThread(first, "make deploy")
}

// inThread posts a card in the thread of a message.
func (d *discordDesk) inThread(first bridge.MessageRef, command string) (bridge.MessageRef, bridge.Destination) {
	d.T.Helper()
	place := bridge.Destination{Channel: sandbox.DiscordChannel}
	place, err := d.p.Thread(d.Ctx, place, first, "release")
	if err != nil {
		d.T.Fatal(err)
	}
	v := round(0, command, bridge.StatePending)
	v.Record.Interaction.ID = bridge.ID("0193b3c4-7d5e-7a10-8f00-" + command)
	ref, err := d.p.Post(d.Ctx, place, v, nil)
	if err != nil {
		d.T.Fatal(err)
	}
	return ref, place
}

// connectAgain replaces the platform with a new one, as a restart does.
func (d *discordDesk) connectAgain() {
	d.T.Helper()
	p, err := d.Harness.New(platformtest.Setup{URL: d.Base})
	if err != nil {
		d.T.Fatal(err)
	}
	d.p = p.(*discord.Platform)
}

// moderate changes a thread as a member.
func (d *discordDesk) moderate(thread, what string) {
	d.T.Helper()
	a := sandbox.Action{Service: "discord", As: "ana", Do: "thread", Channel: thread, Text: what}
	if _, err := d.Sandbox.Act(d.Ctx, a); err != nil {
		d.T.Fatal(err)
	}
}

// TestArchivedThread checks that a card in an archived thread is closed.
func TestArchivedThread(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"archive", "idle"} {
		d := newDiscordDesk(t)
		ref, place := d.session()
		if ref.Channel != place.Thread {
			t.Fatalf("the card is in %s, not in the thread %s", ref.Channel, place.Thread)
		}
		d.want(ref, "make deploy", true)
		d.moderate(place.Thread, how)
		if err := d.p.Update(t.Context(), ref, round(0, "make deploy", bridge.StateApproved), nil); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		d.want(ref, "Approved by", false)
	}
}

// TestLockedThread checks that the error for a card in a locked thread is final,
// says what to do, and lets the card appear elsewhere: no one can click it there.
func TestLockedThread(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	ref, place := d.session()
	d.moderate(place.Thread, "lock")
	err := d.p.Update(t.Context(), ref, round(0, "make deploy", bridge.StateApproved), nil)
	if bridge.ErrorCode(err) != bridge.CodeForbidden || bridge.PublicError(err).Hint == "" || !errors.Is(err, bridge.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

// TestUnusableThread checks that the next card of a session goes to the channel
// if the session's thread takes no messages, and that a thread which the
// configuration names is never replaced by its channel.
func TestUnusableThread(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"lock", "delete"} {
		d := newDiscordDesk(t)
		_, place := d.session()
		d.moderate(place.Thread, how)
		first := bridge.MessageRef{Channel: sandbox.DiscordChannel, Message: place.Thread}
		ref, _ := d.inThread(first, "make clean")
		if ref.Channel != sandbox.DiscordChannel {
			t.Errorf("%s: the card is in %s", how, ref.Channel)
		}
		d.want(ref, "make clean", true)

		other := newDiscordDesk(t)
		_, place = other.session()
		other.moderate(place.Thread, how)
		other.connectAgain()
		v := round(0, "make secret", bridge.StatePending)
		if ref, err := other.p.Post(t.Context(), place, v, nil); err == nil {
			t.Errorf("%s: a card for a configured thread was posted at %+v", how, ref)
		}
	}
}

// TestNoThreadPermission checks that cards of a session go to the channel if
// the bot may not post in threads.
func TestNoThreadPermission(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	d.Sandbox.AddFault(sandbox.Fault{
		Service: "discord", Kind: "missing_permission", Method: "SEND_MESSAGES_IN_THREADS",
	})
	ref, _ := d.session()
	if ref.Channel != sandbox.DiscordChannel {
		t.Errorf("the card is in %s", ref.Channel)
	}
	d.want(ref, "make deploy", true)
}

// TestNewsChannel checks that cards and threads work in a news channel, and in one that
// was a text channel when the card was posted.
func TestNewsChannel(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"converted before the card": true, "converted under the card": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDiscordDesk(t)
			if before {
				d.moderate(sandbox.DiscordChannel, "news")
			}
			first, err := d.post(round(0, "make build", bridge.StatePending), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !before {
				d.moderate(sandbox.DiscordChannel, "news")
			}
			ref, place := d.inThread(first, "make deploy")
			if ref.Channel != place.Thread {
				t.Fatalf("the card is in %s, not in the thread %s", ref.Channel, place.Thread)
			}
			d.moderate(place.Thread, "idle")
			for _, at := range []bridge.MessageRef{first, ref} {
				if err := d.p.Update(t.Context(), at, round(0, "make deploy", bridge.StateApproved), nil); err != nil {
					t.Error(err)
				}
				d.want(at, "Approved by", false)
			}
		})
	}
}

// TestThreadStaysOpen checks that the thread of a session is archived as late as
// Discord allows: in an archived one, not everyone can use the buttons of a card.
func TestThreadStaysOpen(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	_, place := d.session()
	for _, c := range d.Sandbox.Chats("discord") {
		for _, m := range c.Messages {
			if thread, _ := m["thread"].(map[string]any); thread != nil && thread["id"] == place.Thread {
				if state, _ := thread["thread_metadata"].(map[string]any); fmt.Sprint(state["auto_archive_duration"]) != "10080" {
					t.Errorf("the thread is %v", thread)
				}
				return
			}
		}
	}
	t.Error("no message has the thread")
}
