package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestOldMessages checks that what was written long ago, or before the state that it
// would change, changes nothing and says so, and that an edit, a forwarded and an
// anonymous message do the same thing.
func TestOldMessages(t *testing.T) {
	t.Parallel()
	w := newGovernedOn(t, redistest.Shared(t).Client(t)) // with the history that sessions need
	w.rule = func(bridge.Act) bridge.Ruling { return bridge.Ruling{Effect: bridge.EffectAsk} }
	ana := bridge.Actor{Platform: "chat", User: "U-ana"}
	rec := w.open(agentCI, bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: "Why?", Session: "s1", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText}},
	}})
	id := rec.Interaction.ID
	command := func(text string, at time.Time) string {
		t.Helper()
		said, err := w.engine.Command(t.Context(), bridge.Command{Actor: ana, Channels: []string{"C1"}, Text: text, At: at})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	reply := func(message string, at time.Time, standing bridge.Standing) bridge.Verdict {
		t.Helper()
		v, err := w.engine.Reply(t.Context(), bridge.Said{
			Actor: ana, Card: rec.Messages[0], Message: message, Text: "because", At: at, Standing: standing,
			After: func(bridge.MessageRef) bool { return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	told, yesterday := false, time.Now().Add(-20*time.Hour)
	for _, text := range []string{"stop s1", "cancel last", "pending", "tell s1 hello"} {
		if said := command(text, yesterday); !strings.Contains(said, "arrived only now") || !strings.Contains(said, "Nothing was changed") {
			t.Errorf("%s of yesterday: %q", text, said)
		}
	}
	if said := command("cancel last", time.Now().Add(-2*time.Minute)); !strings.Contains(said, "opened after you sent this") {
		t.Errorf("cancel of a request that was opened later: %q", said)
	}
	for standing, at := range map[bridge.Standing]time.Time{
		"": yesterday, bridge.StandingForwarded: time.Now(), bridge.StandingAnonymous: time.Now(), bridge.StandingEdited: time.Now(),
	} {
		v := reply("1 "+string(standing), at, standing)
		if v.Kind == bridge.VerdictSettled || standing == "" && !strings.Contains(v.Note, "arrived only now") {
			t.Errorf("%q: %+v", standing, v)
		}
		told = told || standing != "" && strings.Contains(v.Note, bridge.Rights[standing].Why)
	}
	if !told { // the others are hints, which come once an hour
		t.Error("no one is told why a message does not count")
	}
	w.state(id, bridge.StatePending)
	if said := command("stop s1", time.Now()); !strings.Contains(said, "Stopped") {
		t.Errorf("stop: %q", said)
	}
	if said := command("resume s1", time.Now().Add(-time.Minute)); !strings.Contains(said, "stopped after you sent this") {
		t.Errorf("resume of before the stop: %q", said)
	}
	if said := command("resume s1", time.Now()); !strings.Contains(said, "Resumed") {
		t.Errorf("resume: %q", said)
	}
}
