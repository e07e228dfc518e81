package relay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// reader is a chat that reports what people would be asked, and never answers.
type reader chan string

func (r reader) Ask(_ context.Context, _ string, _ url.Values, body []byte) (json.RawMessage, error) {
	tr, err := acp.Request(body)
	if err != nil {
		r <- "refused: " + bridge.PublicError(err).Message
		return nil, err
	}
	r <- string(tr.Exchanges[0].Request.Approval.Input)
	return nil, bridge.Errorf(bridge.CodeUnavailable, "no one")
}

// TestUpdatesAsSent checks that people see a command exactly as the agent has sent
// it in an update, or not at all.
func TestUpdatesAsSent(t *testing.T) {
	t.Parallel()
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"execute",UPDATE}}}`
	const ask = `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","kind":"allow_once"}]}}`
	for _, c := range []struct {
		name    string
		updates []string
		want    string
	}{
		{"a command", []string{`"rawInput":{"command":"./sé"}`}, `{"command":"./sé"}`},
		{"an empty update later", []string{`"rawInput":{"command":"ls"}`, `"rawInput":{},"content":[]`}, `{"command":"ls"}`},
		{"a part at a time", []string{`"rawInput":{"command":"ls"}`, `"rawInput":{"env":"x"}`}, `{"command":"ls","env":"x"}`},
		{"bytes that are not UTF-8", []string{"\"rawInput\":{\"command\":\"./s\xff\"}"}, "refused: toolCall: an earlier update cannot be read"},
		{"half a surrogate pair", []string{`"rawInput":{"command":"./s\ud800"}`, `"title":"s"`}, "refused: toolCall: an earlier update cannot be read"},
		{"a title of another type", []string{`"rawInput":{"command":"ls"}`, `"title":7`}, "refused: toolCall: an earlier update cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			agentIn, agent := io.Pipe()
			clientIn, client := io.Pipe()
			atClient, clientOut := io.Pipe()
			near, far := relay.NewSide(clientIn, clientOut), relay.NewSide(agentIn, io.Discard)
			seen := make(reader, 1)
			h := relay.NewACP(relay.Options{Asker: seen, Client: near, Server: far, Log: slog.New(slog.DiscardHandler)})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _ = (&relay.Relay{Client: near, Server: far, Handler: h}).Run(ctx, func() {}) }()
			go func() { _, _ = io.Copy(io.Discard, bufio.NewReader(atClient)) }()
			t.Cleanup(func() {
				cancel()
				for _, c := range []io.Closer{agent, client, clientOut, agentIn, clientIn} {
					c.Close()
				}
				h.Wait()
			})
			for _, u := range c.updates {
				if _, err := io.WriteString(agent, strings.Replace(update, "UPDATE", u, 1)+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := io.WriteString(agent, ask+"\n"); err != nil {
				t.Fatal(err)
			}
			if got := await.Receive(t, "the request", (chan string)(seen)); !strings.HasPrefix(got, c.want) {
				t.Errorf("people see %s, want %s", got, c.want)
			}
		})
	}
}
