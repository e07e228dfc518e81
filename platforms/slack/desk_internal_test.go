package slack

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
)

// deskSink counts the looks for changes, and notes the threads that people stop.
type deskSink struct {
	platformtest.Recorder
	bridge.Desk
	looks   int
	stopped []bridge.MessageRef
}

func (d *deskSink) Changes(context.Context) (string, error) { d.looks++; return "", nil }

func (d *deskSink) StopThread(_ context.Context, who bridge.Actor, thread bridge.MessageRef) (bridge.Verdict, error) {
	if who == (bridge.Actor{Platform: "slack", User: "U1"}) {
		d.stopped = append(d.stopped, thread)
	}
	return bridge.Verdict{}, nil
}

// TestClosedTabs checks that nod does not look for changes while no Home tab is open.
func TestClosedTabs(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := &deskSink{}
			h := home{workspace: newWorkspace(Options{Name: "slack", HTTPClient: platformtest.Nowhere()}), sink: d, pages: newPages()}
			if open {
				h.pages.use("ana", "")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*homeEvery+time.Second)
			defer cancel()
			h.keep(ctx)
			if (d.looks > 0) != open {
				t.Errorf("open: %v, and nod looks %d times", open, d.looks)
			}
		})
	}
}

// TestStopButton checks which clicks on Slack's own stop button stop a session.
func TestStopButton(t *testing.T) {
	t.Parallel()
	p, err := New(Options{Name: "slack", BotToken: "xoxb-1", SigningSecret: "s", HTTPClient: platformtest.Nowhere()})
	if err != nil {
		t.Fatal(err)
	}
	stop := event{Type: "agent_session_stopped"}
	stop.User, stop.Channel, stop.Thread = "U1", "C1", "1.2"
	for name, x := range map[string]struct {
		change func(*event)
		stops  bool
	}{
		"a click":   {func(*event) {}, true},
		"no person": {func(e *event) { e.User = "" }, false}, "no channel": {func(e *event) { e.Channel = "" }, false},
		"no thread": {func(e *event) { e.Thread = "" }, false}, "another event": {func(e *event) { e.Type = "reaction_added" }, false},
	} {
		d, e := &deskSink{}, stop
		x.change(&e)
		p.inbound(d).record(t.Context(), payload{Event: e})
		if stops := len(d.stopped) == 1 && d.stopped[0] == (bridge.MessageRef{Channel: "C1", Thread: "1.2"}); stops != x.stops || len(d.stopped) > 1 {
			t.Errorf("%s stops %+v", name, d.stopped)
		}
	}
}
