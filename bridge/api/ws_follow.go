package api

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// follower sends the events of a session, or of all sessions that the person
// may read, to a front end.
type follower struct {
	c       *wsConn
	session string // empty means all
	cursor  string
	show    show
	pending bool // show the pending requests first
}

// run sends events until ctx ends. If something cannot be read, it tries again, so
// that no request stays hidden from a front end that counts as connected.
func (f follower) run(ctx context.Context) {
	shown := map[bridge.ID]bool{}
	for f.pending && ctx.Err() == nil {
		f.pending = f.failed(ctx, f.showPending(ctx, shown))
	}
	for ctx.Err() == nil {
		batch, next, err := f.c.s.reader.Events(ctx, f.cursor, bridge.EventFilter{Session: f.session})
		for _, e := range batch {
			if err != nil {
				break
			}
			if e.Type == bridge.EventResponse || e.Type == bridge.EventRequest && !shown[e.InteractionID] {
				if err = f.event(ctx, e); err != nil {
					break
				}
			}
			f.cursor = e.Cursor
		}
		if f.failed(ctx, err) {
			continue // keep the cursor
		}
		if f.cursor = next; len(batch) == 0 {
			bridge.Pause(ctx, eventPoll)
		}
	}
}

// failed pauses after an error, before the next try.
func (f follower) failed(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	if ctx.Err() == nil {
		f.c.s.log.Warn("events cannot be read; retrying", "error", err)
	}
	bridge.Pause(ctx, eventPoll)
	return true
}

// showPending sends the pending requests, oldest first, and adds their IDs to shown.
func (f follower) showPending(ctx context.Context, shown map[bridge.ID]bool) error {
	all, _, err := f.c.s.engine.Pending(ctx, 0, func(rec bridge.Record) (bool, error) { return f.c.s.mayRead(ctx, f.c.p, rec.Interaction) })
	if err != nil {
		return err
	}
	slices.SortStableFunc(all.Items, func(a, b bridge.Record) int { return a.Interaction.Created.Compare(b.Interaction.Created) })
	for _, rec := range all.Items {
		i := rec.Interaction
		f.send(ctx, rec, bridge.Event{Type: bridge.EventRequest, InteractionID: i.ID, Timestamp: i.Created})
		shown[i.ID] = true
	}
	return nil
}

// event sends an event, unless the person may not read its request.
func (f follower) event(ctx context.Context, e bridge.Event) error {
	rec, err := f.c.s.engine.Get(ctx, e.InteractionID)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil // the request was deleted after its retention
	}
	may := false
	if err == nil {
		may, err = f.c.s.mayRead(ctx, f.c.p, rec.Interaction)
	}
	if may {
		f.send(ctx, rec, e)
	}
	return err
}

// send sends an event in the format of the front end. It sends nothing if the
// format cannot express the event.
func (f follower) send(ctx context.Context, rec bridge.Record, e bridge.Event) {
	v, err := f.show(rec, e)
	if err != nil {
		f.c.s.log.Error("event not shown", "id", e.InteractionID, "error", err)
	} else if v != nil {
		f.c.send(ctx, v)
	}
}
