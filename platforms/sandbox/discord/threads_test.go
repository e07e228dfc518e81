package discord_test

import (
	"slices"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

// TestThreads checks what an archived, a locked and a deleted thread take.
func TestThreads(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	thread := func() (string, string) {
		where := d.post(&discordgo.MessageSend{Content: "x"})
		ch, err := d.bot.MessageThreadStart(where.Channel, where.Message, "talk", 60)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.bot.ChannelMessageSend(ch.ID, "in the thread")
		if err != nil {
			t.Fatal(err)
		}
		return ch.ID, m.ID
	}
	do := func(channel, what string) {
		d.Act(core.Action{As: "ana", Do: "thread", Channel: channel, Text: what})
	}
	edit := func(channel, message string) error {
		_, err := d.bot.ChannelMessageEdit(channel, message, "y")
		return err
	}
	reopen := func(channel string) error {
		body := map[string]bool{"archived": false}
		_, err := d.bot.Request("PATCH", discordgo.EndpointChannel(channel), body)
		return err
	}
	archived := func(channel string) bool { return slices.Contains(d.state().Archived, channel) }
	for _, how := range []string{"archive", "idle"} {
		id, message := thread()
		do(id, how)
		d.refused(how+": edit", 50083, edit(id, message))
		if err := reopen(id); err != nil || archived(id) {
			t.Errorf("%s: reopened: %v", how, err)
		}
		if err := edit(id, message); err != nil {
			t.Errorf("%s: edit after reopening: %v", how, err)
		}
		do(id, how)
		if _, err := d.bot.ChannelMessageSend(id, "a new message reopens it"); err != nil || archived(id) {
			t.Errorf("%s: post: %v", how, err)
		}
	}
	id, message := thread()
	do(id, "lock")
	_, err := d.bot.ChannelMessageSend(id, "x")
	d.refused("locked: post", 160005, err)
	d.refused("locked: edit", 50083, edit(id, message))
	d.refused("locked: reopen", 50013, reopen(id))
	do(id, "delete")
	d.refused("deleted: edit", 10003, edit(id, message))
	_, err = d.bot.MessageThreadStart(discord.Channel, id, "again", 60)
	d.refused("deleted: thread again", 160004, err)
	d.refused("no thread", 50013, reopen(discord.Channel))
	d.refused("no channel", 10003, reopen("1"))
	for _, a := range []core.Action{{Channel: discord.Channel, Text: "archive"}, {Channel: "1", Text: "lock"}} {
		a.As, a.Do = "ana", "thread"
		if _, err := d.e.Act(t.Context(), a); err == nil {
			t.Errorf("%+v is possible", a)
		}
	}
}
