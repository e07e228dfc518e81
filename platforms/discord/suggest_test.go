package discord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// suggester is a sink that suggests requests.
type suggester struct {
	platformtest.Refusing
	found []bridge.Suggestion
	err   error
	asked chan bridge.Command
	ran   chan string
}

// Suggest implements bridge.Suggester.
func (s *suggester) Suggest(_ context.Context, c bridge.Command, _ int) ([]bridge.Suggestion, error) {
	s.asked <- c
	return s.found, s.err
}

// Command implements bridge.Sink.
func (s *suggester) Command(_ context.Context, c bridge.Command) (string, error) {
	s.ran <- c.Text
	return "shown", nil
}

// TestSuggestions checks that a person who types the ID of a request gets
// suggestions in nod's words, at most as many and as long as Discord takes, and
// that the command gets the ID of the one that the person picks.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	sink := &suggester{asked: make(chan bridge.Command, 100), ran: make(chan string, 1)}
	for n := range 40 {
		sink.found = append(sink.found, bridge.Suggestion{
			Value: fmt.Sprintf("id%d", n), Label: fmt.Sprintf("Run step %d %s?", n, strings.Repeat("é", 50+n*10)), Note: "tester, 5 min left",
		})
	}
	d := running(t, sink)
	act := func(do, text string) (r sandbox.Reaction) {
		t.Helper()
		a := sandbox.Action{Service: "discord", As: "ana", Do: do, Channel: sandbox.DiscordChannel, Text: text}
		d.Eventually("the command is registered", func() bool {
			var err error
			r, err = d.Sandbox.Act(t.Context(), a)
			return err == nil
		})
		if !r.OK {
			t.Fatalf("%s: %+v", text, r)
		}
		return r
	}
	got := act("suggest", "/nod show step").Choices
	if len(got) != 25 {
		t.Fatalf("%d suggestions", len(got))
	}
	for _, name := range got {
		if utf8.RuneCountInString(name) > 100 || !strings.HasPrefix(name, "Run step") || !strings.HasSuffix(name, " · tester, 5 min left") {
			t.Errorf("a suggestion is %q", name)
		}
	}
	c := <-sink.asked
	if c.Text != "show step" || c.Actor.User == "" || len(c.Channels) != 1 || c.Channels[0] != sandbox.DiscordChannel {
		t.Errorf("nod is asked %+v", c)
	}
	if act("command", "/nod show "+got[7]); <-sink.ran != "show id7" {
		t.Error("the command did not get the ID that was picked")
	}
	if act("command", "/nod link code:abc confirm:yes"); <-sink.ran != "link abc yes" {
		t.Error("an account cannot be linked")
	}
	sink.found = nil
	if got := act("suggest", "/nod revoke x").Choices; len(got) > 0 {
		t.Errorf("of nothing, it suggests %q", got)
	}
	sink.err = errors.New("unavailable")
	if got := act("suggest", "/nod revoke y").Choices; len(got) > 0 {
		t.Errorf("after an error, it suggests %q", got)
	}
}
