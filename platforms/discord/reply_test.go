package discord_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestReplies checks which messages reach the engine as replies to a card, with
// their text, and that its answer is for their author only.
func TestReplies(t *testing.T) {
	t.Parallel()
	d := running(t, nil)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(do, who, text string, values map[string][]string) {
		t.Helper()
		_, err := d.Sandbox.Act(t.Context(), sandbox.Action{
			Service: "discord", As: who, Do: do, Channel: ref.Channel, Message: ref.Message, Text: text, Values: values,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	before := d.sees(ref)
	write("send", "bo", "not a reply, but it names <@"+sandbox.DiscordBotUser+">", nil)
	write("reply", "bo", "<@"+sandbox.DiscordBotUser+"> because *it* <is>", nil)
	write("reply", "bo", "without the mention", map[string][]string{"mention": {"off"}})
	d.Eventually("all arrive", func() bool { return len(d.sink.Replies()) == 3 })
	texts := map[string]bool{}
	for _, s := range d.sink.Replies() {
		if s.InThread() { // the engine knows that the channel is not a thread
			if s.Card.Channel != ref.Channel || !s.After(ref) {
				t.Errorf("a message is %+v; the card is %+v", s, ref)
			}
			continue
		}
		texts[s.Text] = true
		if s.Actor.User != "300000000000000002" || s.Actor.Platform != "discord" || s.Card != ref || s.Message == "" ||
			!s.After(s.Card) {
			t.Errorf("a reply is %+v; the card is %+v", s, ref)
		}
	}
	if !texts["because *it* <is>"] || !texts[""] {
		t.Errorf("the texts are %v", texts)
	}
	told := func(in bool) func() bool {
		return func() bool {
			for _, c := range d.Sandbox.Chats("discord") {
				for _, m := range c.Messages {
					if (c.ID == ref.Channel) == in && strings.Contains(sandbox.Texts(m), "not that") {
						return true
					}
				}
			}
			return false
		}
	}
	d.Eventually("bo is told in a direct message", told(false))
	if told(true)() {
		t.Error("the channel reads it")
	}
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "no_direct"})
	write("reply", "bo", "and again", nil)
	d.Eventually("bo is told in a reply", told(true))
	if d.sees(ref) != before {
		t.Error("the card changed")
	}
}
