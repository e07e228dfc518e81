package relay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// chat returns a fixed answer to the agent's requests.
type chat struct {
	// If answer is empty, no one answers until the request is cancelled.
	answer string
	err    error
}

func (c chat) Ask(ctx context.Context, _ string, _ url.Values, _ []byte) (json.RawMessage, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case c.answer == "":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return json.RawMessage(c.answer), nil
}

// between is an agent's relay with a test at both ends.
type between struct {
	t                 *testing.T
	client, agent     io.WriteCloser
	atClient, atAgent *bufio.Scanner
	done              chan error
}

func proxy(t *testing.T, c chat, only bool) *between {
	t.Helper()
	clientIn, client := io.Pipe()
	agentIn, agent := io.Pipe()
	atClient, clientOut := io.Pipe()
	atAgent, agentOut := io.Pipe()
	near, far := relay.NewSide(clientIn, clientOut), relay.NewSide(agentIn, agentOut)
	h := relay.NewACP(relay.Options{Asker: c, OnlyChat: only, Client: near, Server: far, Log: slog.New(slog.DiscardHandler)})
	b := &between{t: t, client: client, agent: agent, atClient: bufio.NewScanner(atClient), atAgent: bufio.NewScanner(atAgent), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		b.done <- (&relay.Relay{Client: near, Server: far, Handler: h}).Run(ctx, func() { agentOut.Close() })
	}()
	t.Cleanup(func() {
		cancel()
		for _, c := range []io.Closer{client, agent, clientOut, agentOut, atClient, atAgent} {
			c.Close()
		}
		h.Wait()
	})
	return b
}

func (b *between) say(to io.Writer, line string) {
	b.t.Helper()
	if _, err := io.WriteString(to, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

// hear returns the next line, or an empty string at the end.
func (b *between) hear(s *bufio.Scanner) string {
	b.t.Helper()
	line := make(chan string, 1)
	go func() {
		s.Scan()
		line <- s.Text()
	}()
	return await.Receive(b.t, "a line", line)
}

const (
	acpAsks = `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","rawInput":{"command":"ls"}},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}`
)

// TestPermissionNotUnderstood checks that a permission request that two parsers
// could read differently reaches neither the client nor chat, and that the
// agent gets an error.
func TestPermissionNotUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string
	}{
		"a member twice":        {`"command":"ls"`, `"command":"ls","command":"rm"`},
		"the method twice":      {`"method":`, `"method":"session/update","method":`},
		"an unknown member":     {`"method":`, `"Params":{},"method":`},
		"half a surrogate pair": {`"ls"`, `"ls \ud800"`},
		"another version":       {`"2.0"`, `"1.0"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := proxy(t, chat{answer: `{"decision":"accept","outcome":{"outcome":"selected","optionId":"yes"}}`}, false)
			b.say(b.agent, strings.Replace(acpAsks, c.from, c.to, 1))
			if got := b.hear(b.atAgent); !strings.Contains(got, `"id":5,"error":{"code":-32`) {
				t.Errorf("the agent hears %s", got)
			}
			b.say(b.agent, `{"method":"marker"}`)
			if got := b.hear(b.atClient); !strings.Contains(got, "marker") {
				t.Errorf("the client sees %s", got)
			}
		})
	}
}

// TestAnswerNotUnderstood checks that an invalid answer of the client leaves chat
// to answer, and that the agent gets an error if chat cannot.
func TestAnswerNotUnderstood(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled","outcome":"selected","optionId":"yes"}}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}},"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"3.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"yes\",\"x\":\"\xff\"}}}",
	} {
		e := editorEnds(t)
		e.say(e.agent, acpAsks)
		e.hear(e.atClient)
		<-e.asked
		e.say(e.client, answer)
		e.say(e.client, `{"jsonrpc":"2.0","method":"marker"}`)
		e.gets(e.atAgent, "marker")
		e.answer <- ""
		if got := e.hear(e.atAgent); !strings.Contains(got, `"id":5,"error"`) {
			t.Errorf("%s became %s", answer, got)
		}
	}
}

// TestClientGone checks that the agent gets a denial for its pending requests
// when its client disconnects, even if they were only in chat.
func TestClientGone(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		for want, asks := range map[string]string{
			`{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}`: acpAsks,
			`{"jsonrpc":"2.0","id":6,"result":{"action":"cancel"}}`:                 `{"jsonrpc":"2.0","id":6,"method":"elicitation/create","params":{}}`,
		} {
			b := proxy(t, chat{}, only)
			b.say(b.agent, asks)
			if only {
				b.say(b.agent, `{"method":"marker"}`)
			}
			b.hear(b.atClient) // the client has the request
			b.client.Close()
			if got := b.hear(b.atAgent); got != want {
				t.Errorf("the agent hears %s, want %s", got, want)
			}
		}
	}
}

// TestChatFails checks that a failure of chat approves nothing: the client
// still has the request and decides.
func TestChatFails(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		b := proxy(t, chat{err: errors.New("unreachable")}, only)
		b.say(b.agent, acpAsks)
		if got := b.hear(b.atClient); !strings.Contains(got, "request_permission") {
			t.Errorf("the client sees %s", got)
		}
		b.say(b.client, `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`)
		if got := b.hear(b.atAgent); !strings.Contains(got, `"no"`) {
			t.Errorf("the agent hears %s", got)
		}
	}
}

// TestSameID checks that the agent cannot use an ID again for which the client
// owes a response, because that response could count for the new request.
func TestSameID(t *testing.T) {
	t.Parallel()
	other := strings.Replace(acpAsks, `"ls"`, `"rm"`, 1)
	const (
		read     = `{"jsonrpc":"2.0","id":5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`
		allowed  = `{"outcome":{"outcome":"selected","optionId":"yes"}}`
		response = `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`
	)
	inChat := func(e ends) {
		<-e.asked
		e.answer <- allowed
		e.gets(e.atAgent, allowed)
		e.gets(e.atClient, "$/cancel_request")
	}
	for name, c := range map[string]struct {
		first, second string
		between       func(ends)
		passes        bool // the agent gets the response
	}{
		"both wait":               {acpAsks, other, func(e ends) { <-e.asked }, true},
		"answered in chat":        {acpAsks, other, inChat, false},
		"answered in chat, other": {acpAsks, read, inChat, false},
		"cancelled by the agent": {acpAsks, other, func(e ends) {
			e.say(e.agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
			e.gets(e.atClient, "$/cancel_request")
		}, true},
		"another request first":  {read, other, func(ends) {}, true},
		"another request second": {acpAsks, read, func(e ends) { <-e.asked }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := editorEnds(t)
			e.say(e.agent, c.first)
			e.gets(e.atClient, `"id":5`)
			c.between(e)
			e.say(e.agent, c.second)
			e.gets(e.atAgent, `"id":5,"error":{"code":-32600,"message":"nod: id: already used by an unfinished request"}`)
			e.say(e.client, response)
			if c.passes {
				e.gets(e.atAgent, `"optionId":"no"`)
			}
			e.say(e.client, `{"jsonrpc":"2.0","method":"marker"}`)
			e.gets(e.atAgent, "marker")                               // nod has processed the response
			e.say(e.agent, strings.Replace(other, `"rm"`, `"df"`, 1)) // the ID is free again
			e.gets(e.atClient, `"df"`)
		})
	}
}
