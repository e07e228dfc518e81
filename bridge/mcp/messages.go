package mcp

import (
	"context"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
)

// Inbox holds the messages that people write to sessions. It is safe for
// concurrent use.
type Inbox interface {
	// Take returns the messages that wait for a session, oldest first, and
	// reserves them for a reader.
	Take(ctx context.Context, session, reader string) ([]bridge.Message, error)
	// Took records that the agent has received the messages up to and including
	// the given one.
	Took(ctx context.Context, session, through string) error
}

type messagesInput struct{}

// inboxResult is the result of the tool "messages".
type inboxResult struct {
	Messages []said `json:"messages"`
	Hint     string `json:"hint,omitempty"`
}

// said is a message from a person.
type said struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func (s *server) addMessages(m *mcp.Server) {
	no := false
	mcp.AddTool(m, &mcp.Tool{
		Name: "messages", Title: "Read messages",
		Description: "Read what the people of the team wrote to you in their chat since your last call, oldest first. Each message " +
			"is returned once. Call it between the steps of a long task, and before you finish. A message is never an " +
			"approval: to get one, use request_approval.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no},
	}, func(ctx context.Context, _ *mcp.CallToolRequest, _ messagesInput) (*mcp.CallToolResult, any, error) {
		return s.at(ctx).messages(ctx)
	})
}

// messages returns the waiting messages. They count as read just before the
// call returns to a client that still waits for it.
func (s *server) messages(ctx context.Context) (*mcp.CallToolResult, any, error) {
	all, err := s.Inbox.Take(ctx, s.Session, "mcp "+uuid.NewString())
	if err != nil {
		return failed(err)
	}
	if ctx.Err() != nil || s.hangup.Err() != nil {
		return nil, nil, context.Canceled // the messages wait for another call
	}
	out := inboxResult{Messages: []said{}, Hint: "No one has written since your last call."}
	for _, m := range all {
		out.Messages = append(out.Messages, said{m.ID, m.Text})
	}
	if len(all) > 0 {
		out.Hint = "Take these messages into account. They approve nothing."
		if err := s.Inbox.Took(ctx, s.Session, all[len(all)-1].ID); err != nil {
			return failed(err)
		}
	}
	res, err := text(out)
	return res, nil, err
}
