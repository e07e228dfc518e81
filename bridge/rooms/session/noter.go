package session

import (
	"context"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

const (
	// notePoll is the interval at which nod looks for messages whose authors
	// need a new status.
	notePoll = time.Second
	// noteLease is the time after which another daemon reports to an author.
	noteLease = 30 * time.Second
	// noteTime is the time limit for one note.
	noteTime = 10 * time.Second
)

// noter reports the status of messages for sessions to their authors. Only one
// daemon at a time reports to an author, so that a note never shows an older
// state.
type noter struct {
	inbox     *Inbox
	platforms map[string]bridge.Platform
	redactor  *engine.Redactor
	nudge     chan struct{}
	log       *slog.Logger
}

// wake makes run look for messages immediately.
func (n *noter) wake() {
	select {
	case n.nudge <- struct{}{}:
	default:
	}
}

func (n *noter) run(ctx context.Context) {
	for ctx.Err() == nil {
		all, err := n.inbox.Untold(ctx, steeringBatch, noteLease)
		if err != nil && ctx.Err() == nil {
			n.log.Warn("authors of messages not told", "error", err)
		}
		for _, s := range all {
			n.tell(ctx, s)
		}
		if len(all) > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-n.nudge:
		case <-time.After(notePoll):
		}
	}
}

// tell writes the status of a message next to it. If the platform is
// unreachable now, the note is retried after the lease ends.
func (n *noter) tell(ctx context.Context, s bridge.Steering) {
	if s.Told != s.Fate && s.Where != nil {
		p, ok := n.platforms[s.Where.Platform].(bridge.SteeringNoter)
		if ok {
			work, cancel := context.WithTimeout(ctx, noteTime)
			ref, err := p.NoteSteering(work, s.Where.Ref, s.Note, redacted(n.redactor, s).Notice())
			cancel()
			switch code := bridge.ErrorCode(err); {
			case err == nil:
				s.Note = &ref
			case ctx.Err() != nil, code == bridge.CodeUnavailable, code == bridge.CodeRateLimited, code == bridge.CodeInternal:
				n.log.Warn("author of a message not told; retrying", "platform", s.Where.Platform, "message", s.ID, "error", err)
				return
			default:
				n.log.Warn("author of a message not told", "platform", s.Where.Platform, "message", s.ID, "error", err)
			}
		}
	}
	s.Told = s.Fate
	if err := n.inbox.Told(ctx, s); err != nil {
		n.log.Warn("note about a message not recorded", "message", s.ID, "error", err)
	}
}
