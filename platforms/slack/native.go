package slack

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
)

const (
	// nativeTime is the time limit for one status.
	nativeTime = 2 * time.Second
	// nativeAgain is the time after which a status is sent again. Another daemon
	// may have changed it.
	nativeAgain = time.Minute
	// nativeRetry is the time after which nod checks again whether the app can
	// show sessions.
	nativeRetry = time.Hour
	maxNatives  = 1000 // maximum number of sessions whose status is remembered
	// maxNativeTitle is the maximum length of a title, in characters. Slack
	// accepts 200 and shows fewer.
	maxNativeTitle = 80
)

// natives shows the sessions of agents with Slack's own status: a working
// session has Slack's stop button, and a session that waits for people shows
// "Needs attention". In workspaces without this feature, only the message shows
// the status. It is safe for concurrent use.
type natives struct {
	*workspace

	mu    sync.Mutex
	until time.Time // until then, no status is sent, because the app has no sessions
	busy  time.Time // until then, only a status that removes Slack's stop button is sent
	sent  map[bridge.MessageRef]native
}

// native holds the values that Slack shows of a session.
type native struct {
	status string
	title  string
	since  time.Time
	tally  bridge.Tally
	at     time.Time
}

func newNatives(w *workspace) *natives {
	return &natives{workspace: w, sent: map[bridge.MessageRef]native{}}
}

// show sends the status of the session whose message was posted or changed. The
// message also shows the status, so a failure has no other effect.
func (n *natives) show(ctx context.Context, ref bridge.MessageRef, v bridge.View) {
	if !render.IsSession(v) || v.Session == nil || ref.Thread != "" { // several sessions share a thread from the config
		return
	}
	s := v.Session
	next := native{status: nativeStatus(*s), since: s.Status.Since, tally: s.Decided, at: time.Now()}
	if !v.Record.Interaction.Private {
		next.title = render.Cut(render.Line(s.Status.Title), maxNativeTitle, render.Runes)
	}
	was, due := n.due(ref, next)
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nativeTime)
	defer cancel()
	got, err := n.api.SetAgentSessionStatusContext(ctx, slack.AgentSessionSetStatusParameters{
		Status: next.status, ChannelID: ref.Channel, ThreadTS: ref.Message, Title: next.title,
	})
	if err == nil && next.title != was.title && !sameTitle(got.Title, next.title) && (got.Title == "" || was.title != "") {
		// The status sets the title of a new session only, because people may
		// change the title.
		_, err = n.api.RenameAgentSessionContext(ctx, slack.AgentSessionRenameParameters{
			Title: next.title, ChannelID: ref.Channel, ThreadTS: ref.Message,
		})
	}
	n.settle(ref, next, err)
}

// sameTitle reports whether Slack shows a title. Slack replaces colons. An
// empty title matches any title.
func sameTitle(got, want string) bool {
	plain := strings.NewReplacer(":", "_")
	return want == "" || plain.Replace(got) == plain.Replace(want)
}

// due returns the last status that this daemon sent, and reports whether a
// status must be sent now.
func (n *natives) due(ref bridge.MessageRef, next native) (native, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was, known := n.sent[ref]
	same := known && was.status == next.status && was.title == next.title && was.since.Equal(next.since) && was.tally == next.tally
	ends := next.status == slack.AgentSessionStatusActive || next.status == slack.AgentSessionStatusClosed
	open := !next.at.Before(n.until) && (ends || !next.at.Before(n.busy))
	return was, open && !(same && next.at.Sub(was.at) < nativeAgain)
}

// settle records the result of sending a status. If the app is not an agent or
// lacks a scope, nod sends no status for nativeRetry.
func (n *natives) settle(ref bridge.MessageRef, next native, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		if len(n.sent) >= maxNatives {
			clear(n.sent)
		}
		n.sent[ref] = next
		return
	}
	delete(n.sent, ref)
	n.log.Debug("session status not shown in Slack", "platform", n.name, "error", err)
	err = n.classify(ref.Channel, err)
	switch {
	case platforms.Is(err, platforms.AboutLimit):
		n.busy = time.Now().Add(max(time.Second, bridge.PublicError(err).RetryAfter))
	case platforms.Is(err, platforms.AboutFeature, platforms.AboutPermission): // a limitation of the app
		n.until = time.Now().Add(nativeRetry)
	case platforms.AboutOf(err) == "" || platforms.Is(err, platforms.AboutService):
		n.busy = time.Now().Add(nativeAgain)
	}
}

// forget makes the next update of a session's message send the status again.
func (n *natives) forget(ref bridge.MessageRef) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sent, ref)
}

// nativeStatus returns the status that Slack shows of a session.
func nativeStatus(s bridge.SessionView) string {
	switch phase := render.PhaseOf(s); {
	case len(s.Pending) > 0 && phase == render.PhaseWaiting:
		return slack.AgentSessionStatusSuspended
	case phase == render.PhaseWorking:
		return slack.AgentSessionStatusProcessing
	case phase == render.PhaseFinished:
		return slack.AgentSessionStatusClosed
	}
	return slack.AgentSessionStatusActive // the session is stopped, or waits for its user elsewhere
}

// isStop reports whether an event is a click on Slack's own stop button.
func (e event) isStop() bool {
	return e.Type == "agent_session_stopped" && e.User != "" && e.Channel != "" && e.Thread != ""
}

// stopped applies a click on Slack's own stop button. It returns a function to run
// after the acknowledgment, or nil.
func (i inbound) stopped(ctx context.Context, e event) func(context.Context) {
	stopper, ok := i.sink.(bridge.SessionStopper)
	if !ok {
		return nil
	}
	who, thread := bridge.Actor{Platform: i.name, User: e.User}, bridge.MessageRef{Channel: e.Channel, Thread: e.Thread}
	i.cards.natives.forget(bridge.MessageRef{Channel: e.Channel, Message: e.Thread}) // Slack keeps its own status
	v, err := stopper.StopThread(ctx, who, thread)
	if err != nil {
		i.log.Error("session not stopped", "platform", i.name, "error", err)
		v.Note = bridge.NotRecorded(err)
	}
	return func(ctx context.Context) {
		i.replies.tell(ctx, bridge.Click{Actor: who, Ref: thread}, "", v.Note)
	}
}
