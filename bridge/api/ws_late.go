package api

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// userMessage is a late answer or a message from a person, for the agent.
type userMessage struct {
	Type          string    `json:"type"`
	SessionID     string    `json:"sessionId"`
	MessageID     string    `json:"messageId"`
	InteractionID bridge.ID `json:"interactionId"`
	Content       string    `json:"content"`
}

// deliverMessages sends the messages of a session to an agent that has greeted
// it. It sends each message once in this connection. The next connection
// repeats messages that are not acknowledged.
func (c *wsConn) deliverMessages(ctx context.Context, session string) {
	for ctx.Err() == nil {
		for _, m := range c.messages(ctx, session) {
			c.deliver(ctx, m)
		}
		bridge.Pause(ctx, messagePoll)
	}
}

func (c *wsConn) messages(ctx context.Context, session string) []bridge.Message {
	items, err := c.s.engine.Sessions.Messages(ctx, c.p.Agent.Name, session)
	if err != nil && ctx.Err() == nil {
		c.s.log.Warn("messages cannot be read; retrying", "error", err)
	}
	return items
}

// deliver sends a message unless this connection has it.
func (c *wsConn) deliver(ctx context.Context, m bridge.Message) {
	key := m.Session + "\x00" + m.ID
	c.mu.Lock()
	known := c.told[key]
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[key] = true
	c.mu.Unlock()
	if !known { // if the message cannot be sent, the connection ends
		c.send(ctx, userMessage{"user_message", m.Session, m.ID, m.Record.Interaction.ID, m.Text})
	}
}

// expectLate delivers the late answer to a deferred request of this connection,
// even if the agent has not greeted its session.
func (c *wsConn) expectLate(ctx context.Context, session string, id bridge.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late == nil {
		c.late = map[string]map[bridge.ID]bool{}
	}
	first := c.late[session] == nil
	if first {
		c.late[session] = map[bridge.ID]bool{}
	}
	if c.late[session][id] = true; first {
		c.work.Go(func() { c.deliverLate(ctx, session) })
	}
}

// deliverLate sends the expected answers of a session until there are none or ctx
// ends.
func (c *wsConn) deliverLate(ctx context.Context, session string) {
	for ctx.Err() == nil {
		for _, m := range c.messages(ctx, session) {
			if c.expected(session, m.Record.Interaction.ID) {
				c.deliver(ctx, m)
			}
		}
		if c.noneLate(session) {
			return
		}
		bridge.Pause(ctx, messagePoll)
	}
}

// expected reports whether a message answers a deferred request of this
// connection. If so, the request is no longer expected.
func (c *wsConn) expected(session string, id bridge.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := c.late[session][id]
	delete(c.late[session], id)
	return is
}

// noneLate reports whether no answer of a session is expected. If so, it
// forgets the session.
func (c *wsConn) noneLate(session string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	none := len(c.late[session]) == 0
	if none {
		delete(c.late, session)
	}
	return none
}
