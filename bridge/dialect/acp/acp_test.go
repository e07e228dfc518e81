package acp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

const (
	first  = `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"sess_abc123def456","toolCall":{"toolCallId":"call_001"},"options":[{"optionId":"allow-once","name":"Allow once","kind":"allow_once"},{"optionId":"aa","name":"Always allow edits","kind":"allow_always"},{"optionId":"reject-once","name":"Reject","kind":"reject_once"},{"optionId":"ra","name":"Never","kind":"reject_always"}]},"toolCall":{"toolCallId":"call_001","title":"Edit a.go","kind":"edit","rawInput":{"file_path":"a.go"}}}`
	few    = `{"jsonrpc":"2.0","id":6,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"call_002","title":"Delete","content":[{"type":"diff","path":"/a","oldText":"x","newText":""}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	second = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","title":"Run a command","description":"to deploy","subject":{"type":"command","command":"make deploy","cwd":"/repo"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	elicit = `{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"Which strategy?","requestedSchema":{"type":"object","properties":{"strategy":{"type":"string","enum":["safe","fast"]}},"required":["strategy"]}}}`
)

func TestRequests(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "requests")
	yes := func(s bridge.Scope) bridge.Response { return bridge.Response{State: bridge.StateApproved, Scope: s} }
	for name, c := range map[string]struct {
		in   string
		resp bridge.Response
	}{
		"once": {first, yes(bridge.ScopeOnce)}, "always": {first, yes(bridge.ScopeAlways)}, "denied": {first, bridge.Response{State: bridge.StateDenied}},
		"denied-always": {first, bridge.Response{State: bridge.StateDenied, Scope: bridge.ScopeAlways}}, "silence": {first, bridge.Response{State: bridge.StateExpired}},
		"withdrawn": {first, bridge.Response{State: bridge.StateCancelled}}, "few": {few, yes(bridge.ScopeOnce)}, "few-granted": {few, yes(bridge.ScopeAlways)},
		"second-version":      {second, yes(bridge.ScopeOnce)},
		"elicitation":         {elicit, bridge.Response{Answers: map[string]bridge.Answer{"elicitation": {JSON: json.RawMessage(`{"strategy":"safe"}`)}}}},
		"elicitation-silence": {elicit, bridge.Response{State: bridge.StateExpired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := acp.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			out := book.Golden(t, name, c.in, tr, c.resp)
			if strings.HasSuffix(name, "silence") && (strings.Contains(out, "allow") || strings.Contains(out, "accept")) {
				t.Errorf("a request without a response is allowed: %s", out)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for in, word := range map[string]string{
		`{"method":"fs/read_text_file","params":{}}`: "method", `{"method":"session/request_permission","params":{"toolCall":{"title":"x"},"options":[{"optionId":"n","kind":"reject_once"}]}}`: "options",
		`{"method":"session/request_permission","params":{"toolCall":{"toolCallId":"t","rawInput":{}},"options":[{"optionId":"y","kind":"allow_once"}]}}`: "neither",
	} {
		if _, err := acp.Request([]byte(in)); err == nil || !strings.Contains(bridge.PublicError(err).Message, word) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, s := range []string{first, few, second, elicit} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := acp.Request(b)
		if err != nil {
			return
		}
		for _, x := range tr.Exchanges {
			r := x.Request
			if r.Normalize() != nil {
				continue
			}
			if _, err := x.Answer(dialecttest.Record(t, x.Request, bridge.Response{State: bridge.StateExpired})); !isEnded(err) {
				t.Fatal(err)
			}
		}
	})
}

// isEnded reports whether an error says that no person answered.
func isEnded(err error) bool {
	_, ok := errors.AsType[*bridge.EndedError](err)
	return ok
}
