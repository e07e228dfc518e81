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
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// patient is a chat whose answers the test decides.
type patient struct {
	asked  chan string // bodies of requests
	answer chan string // an answer, or "" for an error
	ended  chan string // why a request was withdrawn
}

func newPatient() patient {
	return patient{make(chan string, 10), make(chan string, 10), make(chan string, 10)}
}

func (p patient) Ask(ctx context.Context, _ string, _ url.Values, body []byte) (json.RawMessage, error) {
	p.asked <- string(body)
	select {
	case a := <-p.answer:
		if a == "" {
			return nil, bridge.Errorf(bridge.CodeUnsupported, "cannot be shown")
		}
		return json.RawMessage(a), nil
	case <-ctx.Done():
		p.ended <- context.Cause(ctx).Error()
		return nil, ctx.Err()
	}
}

func (p patient) Approve(ctx context.Context, _ bridge.Request) (bridge.Record, error) {
	_, err := p.Ask(ctx, "", nil, nil)
	return bridge.Record{State: bridge.StateApproved, Response: &bridge.Response{State: bridge.StateApproved}}, err
}

// ends is a relay with a test at both ends.
type ends struct {
	between
	patient
	stop func() // ends the program behind nod
}

// joined starts a relay with a handler.
func joined(t *testing.T, p patient, strict bool, handler func(near, far *relay.Side) (relay.Handler, func())) ends {
	t.Helper()
	clientIn, client := io.Pipe()
	agentIn, agent := io.Pipe()
	atClient, clientOut := io.Pipe()
	atAgent, agentOut := io.Pipe()
	near, far := relay.NewSide(clientIn, clientOut), relay.NewSide(agentIn, agentOut)
	h, wait := handler(near, far)
	e := ends{between{t: t, client: client, agent: agent, atClient: bufio.NewScanner(atClient), atAgent: bufio.NewScanner(atAgent), done: make(chan error, 1)}, p, func() { agent.Close() }}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		e.done <- (&relay.Relay{Client: near, Server: far, Handler: h, Strict: strict}).Run(ctx, func() { agentOut.Close() })
	}()
	t.Cleanup(func() {
		cancel()
		for _, c := range []io.Closer{client, agent, clientOut, agentOut, atClient, atAgent} {
			c.Close()
		}
		wait()
	})
	return e
}

func editorEnds(t *testing.T) ends {
	p := newPatient()
	return joined(t, p, false, func(near, far *relay.Side) (relay.Handler, func()) {
		h := relay.NewACP(relay.Options{Asker: p, Client: near, Server: far, Log: slog.New(slog.DiscardHandler)})
		return h, h.Wait
	})
}

func serverEnds(t *testing.T, initialize string) ends {
	p := newPatient()
	e := joined(t, p, true, func(near, far *relay.Side) (relay.Handler, func()) {
		h := relay.NewWrap(relay.WrapOptions{Approver: p, Rules: relay.Rules{Allow: []string{"get_*"}}, Name: "db", Client: near, Server: far, Log: slog.New(slog.DiscardHandler)})
		return h, h.Wait
	})
	e.say(e.client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+initialize+`}`)
	e.hear(e.atAgent)
	return e
}

// gets fails the test unless the next line has the words.
func (e ends) gets(from *bufio.Scanner, words string) {
	e.t.Helper()
	if got := e.hear(from); !strings.Contains(got, words) {
		e.t.Errorf("got %s, want %s", got, words)
	}
}

const acpForm = `{"jsonrpc":"2.0","id":6,"method":"elicitation/create","params":{"sessionId":"s","message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`

// TestErrorOfTheEditor checks that an error of the editor decides nothing as long
// as chat may answer, and that the agent gets it if chat cannot.
func TestErrorOfTheEditor(t *testing.T) {
	t.Parallel()
	for request, answer := range map[string]string{
		acpForm: `{"action":"accept","content":{"a":"x"}}`,
		acpAsks: `{"outcome":{"outcome":"selected","optionId":"yes"}}`,
	} {
		id := request[len(`{"jsonrpc":"2.0","id":`):][:1]
		failed := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"Method not found"}}`
		open := func(t *testing.T) ends {
			e := editorEnds(t)
			e.say(e.agent, request)
			e.gets(e.atClient, `"id":`+id)
			<-e.asked
			return e
		}
		t.Run("chat answers "+id, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			e.say(e.client, failed)
			e.say(e.client, `{"jsonrpc":"2.0","method":"marker"}`)
			e.gets(e.atAgent, "marker")
			e.answer <- answer
			e.gets(e.atAgent, answer)
		})
		t.Run("chat fails after it "+id, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			e.say(e.client, failed)
			e.say(e.client, `{"jsonrpc":"2.0","method":"marker"}`)
			e.gets(e.atAgent, "marker")
			e.answer <- ""
			e.gets(e.atAgent, `"error":{"code":-32601`)
		})
		t.Run("the editor answers after chat has failed "+id, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			e.answer <- ""
			e.say(e.client, `{"jsonrpc":"2.0","id":`+id+`,"result":`+answer+`}`)
			e.gets(e.atAgent, answer)
		})
	}
}

// TestEndings checks that a card says what ended its request, and never what no
// person did.
func TestEndings(t *testing.T) {
	t.Parallel()
	respond := func(id, result string) func(ends) {
		return func(e ends) { e.say(e.client, `{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`) }
	}
	for name, c := range map[string]struct {
		request string
		act     func(e ends)
		want    string
	}{
		"allowed":          {acpAsks, respond("5", `{"outcome":{"outcome":"selected","optionId":"yes"}}`), bridge.ReasonAllowedEditor},
		"rejected":         {acpAsks, respond("5", `{"outcome":{"outcome":"selected","optionId":"no"}}`), bridge.ReasonDismissedEditor},
		"another option":   {acpAsks, respond("5", `{"outcome":{"outcome":"selected","optionId":"maybe"}}`), bridge.ReasonSettledEditor},
		"the turn ended":   {acpAsks, respond("5", `{"outcome":{"outcome":"cancelled"}}`), "the turn was cancelled in the editor"},
		"another spelling": {strings.Replace(acpAsks, `"id":5`, `"id":5.0`, 1), respond("5", `{"outcome":{"outcome":"selected","optionId":"yes"}}`), bridge.ReasonAllowedEditor},
		"only a notice": {acpAsks, func(e ends) {
			e.say(e.client, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
		}, "the turn was cancelled in the editor"},
		"the session closed": {acpAsks, func(e ends) {
			e.say(e.client, `{"jsonrpc":"2.0","id":7,"method":"session/close","params":{"sessionId":"s"}}`)
		}, "the turn was cancelled in the editor"},
		"the prompt cancelled": {acpAsks, func(e ends) {
			e.say(e.client, `{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
			e.say(e.client, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}`)
		}, "the turn was cancelled in the editor"},
		"not understood":    {acpAsks, respond("5", `{}`), bridge.ReasonSettledEditor},
		"a form":            {acpForm, respond("6", `{"action":"accept","content":{}}`), bridge.ReasonAnsweredEditor},
		"a declined form":   {acpForm, respond("6", `{"action":"decline"}`), bridge.ReasonDismissedEditor},
		"a cancelled form":  {acpForm, respond("6", `{"action":"cancel"}`), bridge.ReasonDismissedEditor},
		"the editor closed": {acpAsks, func(e ends) { e.client.Close() }, "the editor was closed"},
		"the agent ended":   {acpAsks, func(e ends) { e.stop() }, "the program that nod ran has ended"},
		"the agent cancelled": {acpAsks, func(e ends) {
			e.say(e.agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
		}, "the agent cancelled the request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := editorEnds(t)
			e.say(e.agent, c.request)
			e.hear(e.atClient)
			<-e.asked
			go func() { // whatever else is sent
				for e.atAgent.Scan() {
				}
			}()
			go func() {
				for e.atClient.Scan() {
				}
			}()
			c.act(e)
			if got := <-e.ended; got != c.want {
				t.Errorf("the card says %q, want %q", got, c.want)
			}
		})
	}
}

// TestAnswerAfterCancel checks that the answer of the editor still reaches the
// agent after its turn was cancelled, and that chat no longer answers.
func TestAnswerAfterCancel(t *testing.T) {
	t.Parallel()
	e := editorEnds(t)
	e.say(e.agent, acpAsks)
	e.hear(e.atClient)
	<-e.asked
	e.say(e.client, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	e.gets(e.atAgent, "session/cancel")
	<-e.ended
	e.say(e.client, `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}`)
	e.gets(e.atAgent, `"id":5,"result":{"outcome":{"outcome":"cancelled"}}`)
}

const (
	wrapForm = `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`
	getTool  = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_x","arguments":{}}}`
	needs    = `{"resultType":"input_required","requestState":"s","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}}}`
)

// TestFormNotShown checks that a form of an MCP server that chat does not answer
// goes to the client if it shows forms, that the server gets an error if it does
// not, and that no one cancels or declines in the name of a person.
func TestFormNotShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		initialize string
		mode       string
		left       bool
	}{
		"a client with forms":         {`{"capabilities":{"elicitation":{}}}`, "", true},
		"a client with both":          {`{"capabilities":{"elicitation":{"form":{},"url":{}}}}`, "url", true},
		"a client without URLs":       {`{"capabilities":{"elicitation":{"form":{}}}}`, "url", false},
		"a client with only URLs":     {`{"capabilities":{"elicitation":{"url":{}}}}`, "form", false},
		"a client without forms":      {`{"capabilities":{"roots":{}}}`, "", false},
		"a client without any":        {`{}`, "", false},
		"a client in a later version": {`{"capabilities":{},"_meta":{"x":1}}`, "", false},
	} {
		form, need := wrapForm, needs
		if c.mode != "" {
			form = strings.Replace(form, `"message"`, `"mode":"`+c.mode+`","message"`, 1)
			need = strings.Replace(need, `"message"`, `"mode":"`+c.mode+`","message"`, 1)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serverEnds(t, c.initialize)
			e.say(e.agent, form)
			<-e.asked
			e.answer <- ""
			if !c.left {
				e.gets(e.atAgent, `"id":9,"error":{"code":-32603,"message":"nod: no person has answered the form: cannot be shown"`)
				return
			}
			e.gets(e.atClient, `"method":"elicitation/create"`)
			e.say(e.client, `{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"a":"x"}}}`)
			e.gets(e.atAgent, `{"action":"accept","content":{"a":"x"}}`)
		})
		t.Run(name+", before a call", func(t *testing.T) {
			t.Parallel()
			e := serverEnds(t, c.initialize)
			e.say(e.client, getTool)
			e.gets(e.atAgent, "get_x")
			e.say(e.agent, `{"jsonrpc":"2.0","id":2,"result":`+need+`}`)
			<-e.asked
			e.answer <- ""
			if !c.left {
				e.gets(e.atClient, `"id":2,"result":{"content":[{"text":"No person has answered a form of the tool. cannot be shown"`)
				return
			}
			e.gets(e.atClient, `"input_required"`)
		})
	}
}

// TestFormCancelled checks that a form closes when the server or the client no
// longer waits, and that nothing runs after that.
func TestFormCancelled(t *testing.T) {
	t.Parallel()
	t.Run("by the server", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{"capabilities":{"elicitation":{}}}`)
		e.say(e.agent, wrapForm)
		<-e.asked
		e.say(e.agent, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
		if got := <-e.ended; got != "the server cancelled the form" {
			t.Errorf("the card says %q", got)
		}
		e.say(e.agent, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		e.gets(e.atClient, "notifications/message")
	})
	t.Run("by the server, at once", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{"capabilities":{"elicitation":{}}}`)
		form := strings.Replace(wrapForm, `"id":9`, `"id":1234567890123456789`, 1)
		e.say(e.agent, form+"\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1234567890123456789}}`)
		e.say(e.agent, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		if got := e.hear(e.atClient); !strings.Contains(got, "notifications/message") {
			t.Errorf("the client gets %s", got)
		}
	})
	t.Run("by the client, while it waits", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{}`)
		e.say(e.client, getTool)
		e.gets(e.atAgent, "get_x")
		e.say(e.agent, `{"jsonrpc":"2.0","id":2,"result":`+needs+`}`)
		<-e.asked
		e.say(e.client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		if got := <-e.ended; got != "the client cancelled the call" {
			t.Errorf("the card says %q", got)
		}
		e.say(e.client, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		e.gets(e.atAgent, `"ping"`)
	})
	t.Run("by the client, after the answer", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{}`)
		e.say(e.client, getTool)
		e.gets(e.atAgent, "get_x")
		e.say(e.agent, `{"jsonrpc":"2.0","id":2,"result":`+needs+`}`)
		<-e.asked
		e.answer <- `{"action":"accept","content":{"a":"x"}}`
		again := e.hear(e.atAgent)
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal([]byte(again), &m) != nil || !strings.Contains(again, `"inputResponses":{"who":{"action":"accept"`) {
			t.Fatalf("sent again as %s", again)
		}
		e.say(e.client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		e.gets(e.atAgent, `{"requestId":`+string(m.ID)+`}`)
	})
	t.Run("by the client, without an ID", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{}`)
		e.say(e.client, getTool)
		e.gets(e.atAgent, "get_x")
		for _, params := range []string{`{}`, `{"requestId":null}`, `{"reason":"x"}`} {
			e.say(e.client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":`+params+`}`)
			e.gets(e.atAgent, `"params":`+params) // the message names no other call
		}
		e.say(e.agent, `{"jsonrpc":"2.0","id":2,"result":`+needs+`}`)
		<-e.asked
	})
	t.Run("by the end of the server", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{}`)
		e.say(e.client, plainCall)
		<-e.asked
		e.answer <- "approved"
		e.gets(e.atAgent, "tools/call")
		e.say(e.agent, `{"jsonrpc":"2.0","id":7,"result":`+needs+`}`)
		<-e.asked
		e.stop()
		if got := await.Receive(t, "the end of the form", e.ended); got != "the program that nod ran has ended" {
			t.Errorf("the card says %q", got)
		}
	})
	t.Run("by the client, before approval", func(t *testing.T) {
		t.Parallel()
		e := serverEnds(t, `{}`)
		e.say(e.client, plainCall)
		<-e.asked
		e.say(e.client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		if got := <-e.ended; got != "the client cancelled the call" {
			t.Errorf("the card says %q", got)
		}
	})
}
