package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Reporter receives reports about sessions, and knows which sessions are
// stopped. It is safe for concurrent use.
type Reporter interface {
	// Report reports the state of a session.
	Report(ctx context.Context, session string, r bridge.SessionReport) error
	// Stopped reports whether a person has stopped a session.
	Stopped(ctx context.Context, session string) (bool, error)
}

// observed is a thread of a person whose state nod reports.
type observed struct {
	id     string
	status chan status // the newest turn
	end    context.CancelFunc
}

// observe reports a thread until it closes or the connection ends.
func (a *attachment) observe(thread string, now status) {
	if a.Reporter == nil || a.observes[thread] != nil {
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	o := &observed{thread, make(chan status, 1), cancel}
	a.observes[thread] = o
	o.status <- now
	a.work.Go(func() { a.attend(ctx, o) })
}

// changed passes a status to the goroutine that reports a thread.
func (a *attachment) changed(thread string, now status) {
	o := a.observes[thread]
	if o == nil {
		return
	}
	select {
	case <-o.status: // drops an older status that was not reported
	default:
	}
	o.status <- now
	if now.Type == "notLoaded" {
		delete(a.observes, thread)
	}
}

// attend reports the changes of a thread, and interrupts its running turn if a person
// has stopped the thread.
func (a *attachment) attend(ctx context.Context, o *observed) {
	defer o.end()
	poll := time.NewTicker(stopPoll)
	defer poll.Stop()
	active, interrupted := false, ""
	for {
		select {
		case now := <-o.status:
			active = now.Type == "active"
			a.reportThread(ctx, o.id, now)
			if now.Type == "notLoaded" {
				return
			}
		case <-poll.C:
			if active {
				interrupted = a.heed(ctx, o.id, interrupted)
			}
		case <-ctx.Done():
			if a.Own {
				a.reportThread(context.WithoutCancel(ctx), o.id, status{Type: "notLoaded"})
			}
			return
		}
	}
}

// reportThread reports the status of a thread. It does not report a thread
// without messages.
func (a *attachment) reportThread(ctx context.Context, thread string, now status) {
	r := bridge.SessionReport{At: time.Now()}
	switch {
	case now.Type == "notLoaded":
		r.State, r.Update = bridge.SessionFinished, true
	case now.waits():
		r.State, r.Waits = bridge.SessionWaiting, "an answer"
	case now.Type == "active":
		r.State = bridge.SessionWorking
	case now.Type == "systemError":
		r.State, r.Waits = bridge.SessionWaiting, nextMessage+", after an error"
	default:
		r.State, r.Waits = bridge.SessionWaiting, nextMessage
		if turn, err := a.lastTurn(ctx, thread); err == nil {
			r.Last = turn.message()
		}
	}
	if r.State != bridge.SessionFinished {
		var got struct {
			Thread struct {
				Name    string `json:"name"`
				Preview string `json:"preview"`
				Cwd     string `json:"cwd"`
			} `json:"thread"`
		}
		if err := a.request(ctx, "thread/read", named{thread}, &got); err != nil || got.Thread.Preview == "" {
			return // the thread may have closed
		}
		r.Title, r.Prompt, r.Folder = got.Thread.Name, got.Thread.Preview, got.Thread.Cwd
	}
	ctx, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	if err := a.Reporter.Report(ctx, thread, r); err != nil && ctx.Err() == nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
		a.Log.Warn("thread not reported", "thread", thread, "error", bridge.PublicText(err))
	}
}

// heed interrupts the turn of a stopped thread, and ends its background
// commands. It returns the last turn that it interrupted.
func (a *attachment) heed(ctx context.Context, thread, interrupted string) string {
	limited, cancel := context.WithTimeout(ctx, reportLimit)
	stopped, err := a.Reporter.Stopped(limited, thread)
	cancel()
	if err != nil || !stopped {
		return interrupted
	}
	turn, err := a.lastTurn(ctx, thread)
	if err != nil || turn.Status != "inProgress" || turn.ID == interrupted {
		return interrupted
	}
	err = a.request(ctx, "turn/interrupt", map[string]string{"threadId": thread, "turnId": turn.ID}, nil)
	if err == nil {
		err = a.request(ctx, "thread/backgroundTerminals/clean", named{thread}, nil)
	}
	if err != nil {
		a.Log.Warn("stopped thread not interrupted; retrying", "thread", thread, "error", bridge.PublicText(err))
		return interrupted
	}
	return turn.ID
}

// turn is a turn of a thread.
type turn struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Items  []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ClientID string `json:"clientId"`
	} `json:"items"`
}

// message returns the last message from the agent in a turn.
func (t turn) message() string {
	last := ""
	for _, i := range t.Items {
		if i.Type == "agentMessage" {
			last = cmp.Or(strings.TrimSpace(i.Text), last)
		}
	}
	return last
}

// turns returns the newest turns of a thread, newest first.
func (a *attachment) turns(ctx context.Context, thread string, limit int) ([]turn, error) {
	var got struct {
		Data []turn `json:"data"`
	}
	err := a.request(ctx, "thread/turns/list", map[string]any{"threadId": thread, "limit": limit, "itemsView": "full"}, &got)
	return got.Data, err
}

func (a *attachment) lastTurn(ctx context.Context, thread string) (turn, error) {
	all, err := a.turns(ctx, thread, 1)
	if err != nil || len(all) == 0 {
		return turn{}, err
	}
	return all[0], nil
}

// request sends a request of nod, and waits for its result. Unlike call, it may
// be used by any goroutine. If v is nil, the result is discarded.
func (a *attachment) request(ctx context.Context, method string, params, v any) error {
	raw, err := encode(params)
	if err != nil {
		return err
	}
	id, answer := a.delivers.put()
	if err := a.send(ctx, Message{ID: id, Method: method, Params: raw}); err != nil {
		return err
	}
	var got Message
	select {
	case got = <-answer:
	case <-time.After(greetTime):
		return bridge.Errorf(bridge.CodeUnavailable, "Codex did not answer in time")
	case <-ctx.Done():
		return ctx.Err()
	}
	if len(got.Error) > 0 {
		return bridge.Errorf(bridge.CodeUnavailable, "Codex: %s", failureText(got))
	}
	if v == nil {
		return nil
	}
	return limits.Decode(json.RawMessage(got.Result), v)
}
