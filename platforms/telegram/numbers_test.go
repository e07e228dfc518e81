package telegram_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
	"github.com/nodbridge/nod/render"
)

// TestNumbersRestart checks that the bot hears people after a week without an
// update, when Telegram restarts its numbers, and that it handles each update once.
func TestNumbersRestart(t *testing.T) {
	t.Parallel()
	sink, clock := &platformtest.Recorder{}, sandbox.NewClock()
	r := platformtest.New(t, harness, platformtest.Options{Sink: sink, Sandbox: sandbox.Options{Clock: clock}})
	w := world{r, r.Platform.(*telegram.Platform), sink}
	v := w.question("ready?")
	_, at := w.post(bridge.Destination{Channel: group}, v)
	w.sink.Shows(bridge.Form{}, bridge.Errorf(bridge.CodeUnavailable, "not now"))
	for week := 1; week <= 3; week++ {
		for n, who := range []string{"ana", "bo", "cy"} {
			if got, err := w.Sandbox.Person(who).Press(t.Context(), at, render.LabelAnswer); err != nil || !got.OK && got.Toast == "" {
				t.Fatalf("week %d, %s: %+v, %v", week, who, got, err)
			}
			if got, want := len(w.sink.Clicks()), 3*(week-1)+n+1; got != want {
				t.Fatalf("week %d: after the click of %s, the sink has %d clicks, want %d", week, who, got, want)
			}
		}
		send := sandbox.Action{Service: "telegram", As: "ana", Do: "send", Channel: group, Text: fmt.Sprintf("/nod show %d", week)}
		if _, err := w.Sandbox.Act(t.Context(), send); err != nil {
			t.Fatal(err)
		}
		w.Eventually("the command arrives", func() bool { return len(w.sink.Commands()) >= week })
		if got := len(w.sink.Commands()); got != week {
			t.Fatalf("week %d: %d commands arrived", week, got)
		}
		clock.Advance(8 * 24 * time.Hour)
	}
}
