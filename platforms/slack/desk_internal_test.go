package slack

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
)

// deskSink counts the looks for changes and the overviews, and notes the threads
// that people stop.
type deskSink struct {
	platformtest.Recorder
	bridge.Desk
	looks, overviews int
	stopped          []bridge.MessageRef
}

func (d *deskSink) Changes(context.Context) (string, error) { d.looks++; return "one", nil }

func (d *deskSink) Overview(context.Context, bridge.Actor, int) (bridge.Overview, error) {
	d.overviews++
	return bridge.Overview{}, nil
}

func (d *deskSink) StopThread(_ context.Context, who bridge.Actor, thread bridge.MessageRef) (bridge.Verdict, error) {
	if who == (bridge.Actor{Platform: "slack", User: "U1"}) {
		d.stopped = append(d.stopped, thread)
	}
	return bridge.Verdict{}, nil
}

// TestClosedTabs checks that nod does not look for changes while no Home tab is
// open, and that it draws an open tab only after a change.
func TestClosedTabs(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := &deskSink{}
			h := home{workspace: newWorkspace(Options{Name: "slack", HTTPClient: platformtest.Answering(`{"ok":true}`)}), sink: d, pages: newPages()}
			if open {
				h.pages.use("ana", "")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*homeEvery+time.Second)
			defer cancel()
			h.keep(ctx)
			if (d.looks > 0) != open {
				t.Errorf("open: %v, and nod looks %d times", open, d.looks)
			}
			if open != (d.overviews == 1) {
				t.Errorf("open: %v, and after one change, nod reads %d overviews", open, d.overviews)
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

// TestStatusNotShown checks after which time nod sends Slack the status of a session
// again, if Slack did not take it: a status that removes the stop button comes sooner.
func TestStatusNotShown(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		err         error
		works, ends time.Duration
	}{
		"rate limit":    {&slack.RateLimitedError{RetryAfter: time.Hour}, time.Hour, 0},
		"not an agent":  {slack.SlackErrorResponse{Err: "not_agent_app"}, nativeRetry, nativeRetry},
		"no scope":      {slack.SlackErrorResponse{Err: "missing_scope"}, nativeRetry, nativeRetry},
		"Slack fails":   {slack.StatusCodeError{Code: http.StatusBadGateway}, nativeAgain, 0},
		"no connection": {errors.New("no route to host"), nativeAgain, 0},
		"no thread":     {slack.SlackErrorResponse{Err: "thread_not_found"}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, now := newNatives(newWorkspace(Options{Name: "slack"})), time.Now()
			n.settle(bridge.MessageRef{Channel: "C1"}, native{}, x.err)
			for status, want := range map[string]time.Duration{slack.AgentSessionStatusProcessing: x.works, slack.AgentSessionStatusClosed: x.ends} {
				due := func(after time.Duration) bool {
					_, due := n.due(bridge.MessageRef{Channel: "C2"}, native{status: status, at: now.Add(after)})
					return due
				}
				if !due(want) || want > 0 && due(want-1) {
					t.Errorf("%s: a session that is %s is not due exactly after %v", name, status, want)
				}
			}
		})
	}
}
