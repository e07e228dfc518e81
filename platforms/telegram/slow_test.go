package telegram_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestSlowCall checks that a call which Telegram holds delays no click of another
// person, on another card and on the same one.
func TestSlowCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("ready?")
	_, first := w.post(bridge.Destination{Channel: group}, v)
	other := w.approval()
	_, second := w.post(bridge.Destination{Channel: group}, other)
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{Interaction: v.Record.Interaction.ID, Option: bridge.OptionForm}}, nil)
	for _, method := range []string{"sendMessage", "editMessageText"} {
		w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: method, Kind: "delay", Delay: await.Limit})
	}
	w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictDraft, View: &other}, nil // the card is drawn again
	})
	held := make(chan struct{})
	go func() {
		defer close(held)
		_, _ = w.Sandbox.Person("ana").Press(t.Context(), first, render.LabelAnswer) // the prompt is held
	}()
	w.Eventually("the first click arrives", func() bool { return len(w.sink.Clicks()) == 1 })
	for n, who := range []string{"bo", "cy", "mal"} {
		if got, err := w.Sandbox.Person(who).Press(t.Context(), second, render.LabelRun); err != nil || !got.OK {
			t.Fatal(who, got, err)
		}
		if got := len(w.sink.Clicks()); got != n+2 {
			t.Errorf("after the click of %s, %d are recorded", who, got)
		}
	}
	select {
	case <-held:
		t.Error("the click of ana was not held")
	default:
	}
	w.Sandbox.ClearFaults()
	await.Receive(t, "the end of the first click", held)
}
