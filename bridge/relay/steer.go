package relay

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// inboxPause is the pause after an error before nod reads the messages of a
// thread again.
const inboxPause = 3 * time.Second

// Inbox holds the messages that people write to threads.
type Inbox interface {
	// Take waits for messages for a thread, and reserves them. If none arrive
	// for a while, it returns none.
	Take(ctx context.Context, thread string) ([]bridge.Message, error)
	// Took records that Codex has received the messages up to and including the
	// given one.
	Took(ctx context.Context, thread, through string) error
}

// deliveries holds the messages from people that nod has sent to Codex and that
// Codex has not confirmed. It is safe for concurrent use.
type deliveries struct {
	mu      sync.Mutex
	next    int
	waiting map[string]chan Message // by the ID of the call
}

// deliveryMark is the prefix of the IDs of calls that deliver messages. The IDs
// of other calls are numbers.
const deliveryMark = `"nod-message-`

// put adds a call, and returns its ID and the channel of the response.
func (d *deliveries) put() (json.RawMessage, chan Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	id, c := deliveryMark+strconv.Itoa(d.next)+`"`, make(chan Message, 1)
	if d.waiting == nil {
		d.waiting = map[string]chan Message{}
	}
	d.waiting[id] = c
	return json.RawMessage(id), c
}

// answered passes on the response to a call.
func (d *deliveries) answered(m Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.waiting[string(m.ID)]; c != nil {
		c <- m
		delete(d.waiting, string(m.ID))
	}
}

// listen passes messages from people to a thread until the thread or the
// connection ends.
func (a *attachment) listen(thread string) {
	if a.Inbox == nil || a.listens[thread] != nil {
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.listens[thread] = cancel
	a.work.Go(func() {
		for ctx.Err() == nil {
			all, err := a.Inbox.Take(ctx, thread)
			for n := 0; n < len(all) && err == nil; n++ {
				err = a.deliver(ctx, thread, all[n])
			}
			if err != nil && ctx.Err() == nil {
				a.Log.Warn("message not delivered to Codex; retrying", "thread", thread, "error", bridge.PublicText(err))
				bridge.Pause(ctx, inboxPause)
			}
		}
	})
}

// deafen stops listen.
func (a *attachment) deafen(thread string) {
	if cancel := a.listens[thread]; cancel != nil {
		cancel()
		delete(a.listens, thread)
	}
}

// deliver sends a message to a thread. The method turn/start starts a turn, or
// adds to a running turn.
func (a *attachment) deliver(ctx context.Context, thread string, m bridge.Message) error {
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if m.Steering != nil && m.Steering.Again && a.has(ctx, thread, m.ID) {
		return a.Inbox.Took(context.WithoutCancel(ctx), thread, m.ID)
	}
	params := map[string]any{"threadId": thread, "clientUserMessageId": m.ID, "input": []text{{"text", strings.TrimSpace(m.Text)}}}
	if err := a.request(ctx, "turn/start", params, nil); err != nil {
		return err
	}
	return a.Inbox.Took(context.WithoutCancel(ctx), thread, m.ID)
}

// recentTurns is the number of turns in which nod looks for a message that it
// may have delivered on an earlier connection.
const recentTurns = 20

// has reports whether the recent turns of a thread contain the message with the
// given client ID.
func (a *attachment) has(ctx context.Context, thread, id string) bool {
	all, err := a.turns(ctx, thread, recentTurns)
	if err != nil {
		return false
	}
	for _, t := range all {
		for _, i := range t.Items {
			if i.ClientID == id {
				return true
			}
		}
	}
	return false
}
