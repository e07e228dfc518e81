package relay

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

// refusedPause is the time before a message is sent again after the agent has
// refused it.
const refusedPause = time.Minute

// promptMark is the start of the IDs of nod's prompts.
const promptMark = `"nod-prompt-`

// listen sends the messages from people to the agent as prompts, whenever no
// turn runs.
func (t *attendant) listen(s *attended) {
	for t.until(s, func(turns int) bool { return turns == 0 }) {
		all, err := t.Take(t.ctx, s.id)
		if err != nil {
			bridge.Pause(t.ctx, inboxPause)
			continue
		}
		if len(all) == 0 || t.prompt(s, all) {
			continue
		}
		t.agent.log.Warn("message not delivered: the agent refused the prompt; retrying", "session", s.id)
		bridge.Pause(t.ctx, refusedPause)
	}
}

// prompt starts a turn with messages, and waits for its end, and until the daemon knows
// that the agent has the messages, which would otherwise be taken again. It returns
// false if the agent refused the prompt. If another turn has started, it does
// nothing, because the messages are then taken again.
func (t *attendant) prompt(s *attended, all []bridge.Message) bool {
	id, err := encode("nod-prompt-" + uuid.NewString())
	if err != nil {
		return false
	}
	parts := make([]block, len(all))
	for n, m := range all {
		parts[n] = block{"text", strings.TrimSpace(m.Text)}
	}
	params, err := encode(map[string]any{"sessionId": s.id, "prompt": parts})
	if err != nil {
		return false
	}
	m := Message{Version: "2.0", ID: id, Method: "session/prompt", Params: params}
	done, accepted, took := make(chan bool, 1), false, make(chan struct{})
	t.mu.Lock()
	if s.turns > 0 {
		t.mu.Unlock()
		return true
	}
	t.turn(s)
	s.own, s.taken = true, func() {
		if !accepted && !t.over {
			t.work.Go(func() {
				defer close(took)
				t.took(s.id, all[len(all)-1].ID)
			})
		}
		accepted = true
	}
	t.tell(s.id, bridge.SessionReport{State: bridge.SessionWorking, Folder: s.folder})
	t.calls[idKey(id)] = func(m Message) {
		if len(m.Error) == 0 {
			s.taken()
		}
		s.own = false
		t.ended(s)
		t.release(s)
		done <- accepted
	}
	t.mu.Unlock()
	for _, p := range parts {
		t.agent.write(t.agent.client, notification("session/update", map[string]any{
			"sessionId": s.id, "update": map[string]any{"sessionUpdate": "user_message_chunk", "content": p},
		}))
	}
	t.agent.calls.begins(m)
	t.agent.write(t.agent.server, m)
	select {
	case ok := <-done:
		if !ok {
			return false
		}
	case <-t.ctx.Done():
		return true
	}
	select {
	case <-took:
	case <-t.ctx.Done():
	}
	return true
}

// took records that the agent has received the messages.
func (t *attendant) took(session, through string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), greetTime)
	defer cancel()
	if err := t.Took(ctx, session, through); err != nil {
		t.agent.log.Warn("daemon not told that the agent has a message", "session", session, "error", bridge.PublicText(err))
	}
}

// release sends the prompts of the client that were held back. The caller holds
// the lock.
func (t *attendant) release(s *attended) {
	held := s.held
	s.held = nil
	for _, m := range held {
		var p ofSession
		_ = limits.Decode(m.Params, &p) // fromClient has read it
		t.begin(s, m, p)
	}
	if len(held) > 0 && !t.over {
		t.work.Go(func() { // the agent may be slow to read
			for _, m := range held {
				t.agent.calls.begins(m)
				t.agent.write(t.agent.server, m)
			}
		})
	}
}

// notification returns a message without a response.
func notification(method string, params any) any {
	return struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params}
}
