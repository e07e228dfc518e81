package relay_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// inbox is an Inbox that a test fills.
type inbox struct {
	texts chan string
	again bool // an earlier reader took the messages
	took  []string
	slow  time.Duration // of Took; until then, the message can be taken again
}

func (in *inbox) Take(ctx context.Context, thread string) ([]bridge.Message, error) {
	select {
	case text := <-in.texts:
		return []bridge.Message{{ID: text, Session: thread, Text: text + "\n", Steering: &bridge.Steering{Again: in.again}}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (in *inbox) Took(_ context.Context, thread, through string) error {
	time.Sleep(in.slow)
	in.took = append(in.took, thread+" "+through)
	return nil
}

// TestCompanionSteer checks that a message starts a turn or adds to one, and
// counts as delivered only once the server has accepted it.
func TestCompanionSteer(t *testing.T) {
	t.Parallel()
	race(t, func(t *testing.T, c *companion) {
		in := &inbox{texts: make(chan string, 5)}
		c.Inbox = in
		s := c.connect()
		in.texts <- "one"
		s.expects(`{"id":"nod-message-1","method":"turn/start","params":{"clientUserMessageId":"one","input":[{"type":"text","text":"one"}],"threadId":"T"}}`)
		if len(in.took) > 0 {
			t.Error("delivered before the server accepts it")
		}
		in.texts <- "two"
		s.expects("")
		s.says(`{"id":"nod-message-1","result":{"turn":{"id":"U"}}}`)
		s.expects(`"id":"nod-message-2"`)
		s.says(`{"id":"nod-message-2","error":{"code":-32600,"message":"overloaded"}}`)
		time.Sleep(time.Minute)
		in.texts <- "three"
		s.expects(`"id":"nod-message-3"`)
		s.says(`{"id":"nod-message-3","result":{}}`)
		if want := []string{"T one", "T three"}; !slices.Equal(in.took, want) {
			t.Errorf("delivered %v, want %v", in.took, want)
		}
		s.says(`{"method":"thread/closed","params":{"threadId":"T"}}`)
		s.expects("thread/unsubscribe")
		in.texts <- "four"
		s.expects("")
		s.lose()
	})
}
