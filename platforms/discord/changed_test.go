package discord_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestEveryMessage checks that what a person writes to nod reaches the sink or is
// answered, whatever kind of message it is, and that deleted cards are reported.
func TestEveryMessage(t *testing.T) {
	t.Parallel()
	d := running(t, nil)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	act := func(do, channel, message, text string, values map[string][]string) {
		t.Helper()
		a := sandbox.Action{Service: "discord", As: "bo", Do: do, Channel: channel, Message: message, Text: text, Values: values}
		if _, err := d.Sandbox.Act(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	act("reply", ref.Channel, ref.Message, "", map[string][]string{"file": {"a.png"}})
	d.Eventually("a file arrives as a reply", func() bool { return len(d.sink.Replies()) == 1 })
	said := d.sink.Replies()[0]
	act("edit", said.Card.Channel, said.Message, "with words", nil)
	d.Eventually("the edit arrives", func() bool { return len(d.sink.Replies()) == 2 })
	if edited := d.sink.Replies()[1]; edited.Standing != bridge.StandingEdited || edited.Message != said.Message {
		t.Errorf("the edit is %+v", edited)
	}
	answered := func() int { return strings.Count(strings.Join(d.texts(), "\n"), "neither a command nor a reply") }
	direct := "900000000000000002" // of bo
	d.Eventually("bo is told in a direct message", func() bool { return strings.Contains(strings.Join(d.texts(), "\n"), "not that") })
	act("send", direct, "", "hello nod", nil)
	d.Eventually("bo is told what nod takes", func() bool { return answered() == 1 })
	act("delete", ref.Channel, ref.Message, "", nil)
	d.Eventually("the deletion is reported", func() bool { return len(d.sink.Gone()) > 0 })
	if got := d.sink.Gone()[0]; got.Channel != ref.Channel || got.Message != ref.Message {
		t.Errorf("%+v was deleted, the sink gets %+v", ref, got)
	}
}

// texts returns the texts of all messages.
func (d *discordDesk) texts() []string {
	var out []string
	for _, c := range d.Sandbox.Chats("discord") {
		for _, m := range c.Messages {
			out = append(out, sandbox.Texts(m))
		}
	}
	return out
}
