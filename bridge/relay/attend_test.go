package relay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/relay"
)

// watched are the Sessions of a test.
type watched struct {
	inbox
	mu      sync.Mutex
	reports []string
	stopped bool
}

func (w *watched) Report(_ context.Context, session string, r bridge.SessionReport) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, strings.TrimRight(fmt.Sprintf("%s %s %s %s%s%s %s", session, r.State, r.Folder, r.Prompt, r.Title, r.Step, r.Last), " "))
	return nil
}

func (w *watched) Stopped(context.Context, string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped, nil
}

func (w *watched) stop(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = is
}

// acpTalk is the relay of an ACP agent, with a test on both ends.
type acpTalk struct {
	*watched
	t                 *testing.T
	near, far         io.Writer
	atClient, atAgent chan string
	end               func()
}

func talkACP(t *testing.T, w *watched) *acpTalk {
	t.Helper()
	return talkACPWith(t, w, chat{})
}

func talkACPWith(t *testing.T, w *watched, asker relay.Asker) *acpTalk {
	t.Helper()
	clientIn, client := io.Pipe()
	agentIn, agent := io.Pipe()
	x := &acpTalk{watched: w, t: t, near: client, far: agent, atClient: make(chan string, 100), atAgent: make(chan string, 100)}
	near, far := relay.NewSide(clientIn, heardLines(x.atClient)), relay.NewSide(agentIn, heardLines(x.atAgent))
	h := relay.NewACP(relay.Options{Asker: asker, Sessions: w, Client: near, Server: far, Log: slog.New(slog.DiscardHandler)})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = (&relay.Relay{Client: near, Server: far, Handler: h}).Run(t.Context(), func() { agent.Close() })
	}()
	x.end = func() {
		client.Close()
		<-done
		h.Wait()
	}
	return x
}

// heardLines is a writer that passes on lines.
type heardLines chan string

func (l heardLines) Write(p []byte) (int, error) {
	l <- strings.TrimSpace(string(p))
	return len(p), nil
}

func (x *acpTalk) say(to io.Writer, line string, args ...any) {
	x.t.Helper()
	if _, err := fmt.Fprintf(to, line+"\n", args...); err != nil {
		x.t.Fatal(err)
	}
	synctest.Wait()
}

// hears returns the next line, which has to contain a text. An empty text means
// that there is no line.
func (x *acpTalk) hears(c chan string, want string) string {
	x.t.Helper()
	synctest.Wait()
	select {
	case got := <-c:
		if want == "" || !strings.Contains(got, want) {
			x.t.Fatalf("heard %s, want %q", got, want)
		}
		return got
	default:
		if want != "" {
			x.t.Fatalf("heard nothing, want %s", want)
		}
	}
	return ""
}

const (
	acpNew    = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/shop","mcpServers":[]}}`
	acpPrompt = `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%q}]}}`
	acpUpdate = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":%q,"title":"make","content":{"type":"text","text":%q}}}}`
	acpEnds   = `{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`
)

func (x *acpTalk) open() {
	x.t.Helper()
	x.say(x.near, acpNew)
	x.hears(x.atAgent, "session/new")
	x.say(x.far, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	x.hears(x.atClient, `"sessionId":"s"`)
}

// TestACPSessions checks what is reported about a session, and that a stop
// cancels its turn and its permission request at once.
func TestACPSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := talkACP(t, &watched{})
		x.open()
		x.say(x.near, acpPrompt, 2, "Fix the login")
		x.hears(x.atAgent, "Fix the login")
		x.say(x.far, acpUpdate, "agent_message_chunk", "I look. ")
		x.say(x.far, acpUpdate, "tool_call", "")
		x.say(x.far, acpUpdate, "agent_message_chunk", "All tests ")
		x.say(x.far, acpUpdate, "agent_message_chunk", "pass.")
		x.say(x.far, acpUpdate, "session_info_update", "")
		x.say(x.far, acpEnds, "2")
		for range 6 {
			<-x.atClient
		}
		x.say(x.near, acpPrompt, 3, "Now release")
		x.hears(x.atAgent, "Now release")
		x.say(x.far, acpAsksIn("s"))
		x.hears(x.atClient, "request_permission")
		x.stop(true)
		time.Sleep(stopWithin)
		x.hears(x.atAgent, `"method":"session/cancel","params":{"sessionId":"s"}`)
		x.hears(x.atAgent, `"id":5,"result":{"outcome":{"outcome":"cancelled"}}`)
		x.hears(x.atClient, "$/cancel_request")
		time.Sleep(time.Minute)
		x.hears(x.atAgent, "") // once is enough
		x.say(x.far, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`)
		x.hears(x.atClient, "cancelled")
		x.say(x.near, acpPrompt, 4, "Go on") // the session is still stopped
		x.hears(x.atAgent, "Go on")
		time.Sleep(stopWithin)
		x.hears(x.atAgent, "session/cancel")
		x.stop(false)
		x.end()
		want := []string{
			"s working /shop Fix the login", "s working  make", "s   make", "s waiting   All tests pass.",
			"s working /shop Now release", "s waiting", "s working /shop Go on", "s finished",
		}
		if !slices.Equal(x.reports, want) {
			t.Errorf("reported %q", x.reports)
		}
	})
}

// cancelling is a chat whose requests are cancelled when the channel is closed.
type cancelling chan struct{}

func (c cancelling) Ask(ctx context.Context, _ string, _ url.Values, _ []byte) (json.RawMessage, error) {
	select {
	case <-c:
		return json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestACPStopComesFirst checks that the agent hears of a stop before the end of its
// permission request, although the stop cancels the request in chat first.
func TestACPStopComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(cancelling)
		x := talkACPWith(t, &watched{}, cancelled)
		x.open()
		x.say(x.near, acpPrompt, 2, "Now release")
		x.hears(x.atAgent, "Now release")
		x.say(x.far, acpAsksIn("s"))
		x.hears(x.atClient, "request_permission")
		x.stop(true)
		close(cancelled)
		x.hears(x.atAgent, `"method":"session/cancel","params":{"sessionId":"s"}`)
		x.hears(x.atAgent, `"id":5,"result":{"outcome":{"outcome":"cancelled"}}`)
		time.Sleep(time.Minute)
		x.hears(x.atAgent, "")
		x.end()
	})
}

// stopWithin is the time in which a stop takes effect.
const stopWithin = time.Second

func acpAsksIn(session string) string {
	return strings.Replace(acpAsks, `"sessionId":"s"`, `"sessionId":"`+session+`"`, 1)
}

var promptID = regexp.MustCompile(`"id":("nod-prompt-[^"]+")`)

// TestACPSteerOnce checks that nod takes no message while the daemon does not know yet
// that the agent has the one before, because it would take that one again.
func TestACPSteerOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{inbox: inbox{texts: make(chan string, 1), slow: 3 * time.Second}}
		x := talkACP(t, w)
		x.open()
		x.say(x.near, acpPrompt, 2, "Fix it")
		x.hears(x.atAgent, "Fix it")
		x.say(x.far, acpEnds, "2")
		x.hears(x.atClient, "end_turn")
		w.texts <- "one"
		x.hears(x.atClient, "user_message_chunk")
		id := promptID.FindStringSubmatch(x.hears(x.atAgent, `"text":"one"`))[1]
		w.texts <- "one" // the message is still in the inbox
		x.say(x.far, acpEnds, id)
		time.Sleep(time.Second)
		if len(w.texts) == 0 {
			t.Error("the message is taken again")
		}
		time.Sleep(3 * time.Second)
		if len(w.texts) > 0 {
			t.Error("no message is taken afterwards")
		}
		x.hears(x.atClient, "user_message_chunk")
		x.hears(x.atAgent, "one")
		x.end()
	})
}

// TestACPSteer checks that messages become prompts, one after the other and
// never during a turn, and count as delivered only once the agent works on them.
func TestACPSteer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{inbox: inbox{texts: make(chan string, 5)}}
		x := talkACP(t, w)
		x.open()
		x.say(x.near, acpPrompt, 2, "Fix it")
		x.hears(x.atAgent, "Fix it")
		w.texts <- "one"
		x.hears(x.atAgent, "") // the turn runs
		x.say(x.far, acpEnds, "2")
		x.hears(x.atClient, "end_turn")
		x.hears(x.atClient, `"sessionUpdate":"user_message_chunk"`)
		id := promptID.FindStringSubmatch(x.hears(x.atAgent, `"prompt":[{"type":"text","text":"one"}]`))[1]
		x.say(x.near, acpPrompt, 3, "Mine")
		x.hears(x.atAgent, "") // the message waits for its turn
		if len(w.took) > 0 {
			t.Error("delivered before the agent works on it")
		}
		x.say(x.far, acpUpdate, "available_commands_update", "")
		x.hears(x.atClient, "available_commands_update")
		if len(w.took) > 0 {
			t.Error("delivered before the agent works on it")
		}
		x.say(x.far, acpUpdate, "agent_message_chunk", "Yes.")
		x.hears(x.atClient, "Yes.")
		if !slices.Equal(w.took, []string{"s one"}) {
			t.Errorf("delivered %q", w.took)
		}
		x.say(x.far, acpEnds, id)
		x.hears(x.atClient, "") // the client did not ask
		x.hears(x.atAgent, "Mine")
		w.texts <- "two"
		x.say(x.far, acpEnds, "3")
		x.hears(x.atClient, "end_turn")
		x.hears(x.atClient, "user_message_chunk")
		id = promptID.FindStringSubmatch(x.hears(x.atAgent, "two"))[1]
		x.say(x.far, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"sign in"}}`, id)
		x.hears(x.atClient, "")
		x.end()
		if !slices.Equal(w.took, []string{"s one"}) {
			t.Errorf("delivered %q", w.took)
		}
	})
}
