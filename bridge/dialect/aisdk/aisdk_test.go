package aisdk_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/aisdk"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
)

const (
	one = `{"type":"tool-approval-request","approvalId":"a-1","toolCall":{"type":"tool-call","toolCallId":"c-1","toolName":"runCommand","input":{"command":"ls"}},"signature":"x"}`
	two = `[{"type":"text","text":"Let me see"},{"type":"tool-call","toolCallId":"c-1","toolName":"runCommand","input":{"command": "ls"}},` + one + `,{"type":"tool-approval-request","approvalId":"a-2","toolCall":{"toolCallId":"c-2","toolName":"mail","input":{}}}]`
)

func TestApprovals(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "approvals")
	yes, no := bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}, bridge.Response{State: bridge.StateDenied, Reason: "no mail"}
	for name, c := range map[string]struct {
		in    string
		resps []bridge.Response
	}{"one": {one, []bridge.Response{yes}}, "two": {two, []bridge.Response{yes, no}}, "silence": {one, []bridge.Response{{State: bridge.StateExpired}}}} {
		tr, err := aisdk.Approvals([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		book.Golden(t, name, c.in, tr, c.resps...)
	}
	const decided = `{"type":"tool-approval-request","approvalId":"a-0","isAutomatic":true,"toolCall":{"toolCallId":"c-0","toolName":"mail","input":{}}}`
	tr, err := aisdk.Approvals([]byte(`[` + decided + `,` + strings.Replace(one, `"signature"`, `"reason":"It costs money","signature"`, 1) + `]`))
	if err != nil || len(tr.Exchanges) != 1 || !strings.Contains(tr.Exchanges[0].Request.Prompt, "It costs money") {
		t.Errorf("a call that is decided, and one with a reason: %+v, %v", tr, err)
	}
	tr, err = aisdk.Approvals([]byte(decided))
	if raw, _ := json.Marshal(tr.Answer); err != nil || len(tr.Exchanges) != 0 || string(raw) != `{"role":"tool","content":[]}` {
		t.Errorf("only calls that are decided: %s, %v", raw, err)
	}
	const message = `[{"type":"tool-call","toolCallId":"c-1","toolName":"mail","input":{"to":"x"}},{"type":"tool-approval-request","approvalId":"a-1","toolCallId":"c-1"}`
	tr, err = aisdk.Approvals([]byte(message + `]`))
	if err != nil || len(tr.Exchanges) != 1 || tr.Exchanges[0].Request.Approval.Tool != "mail" || string(tr.Exchanges[0].Request.Approval.Input) != `{"to":"x"}` {
		t.Errorf("a request of a message: %+v, %v", tr, err)
	}
	for _, more := range []string{
		`{"type":"tool-approval-response","approvalId":"a-1","approved":true}`, `{"type":"tool-result","toolCallId":"c-1","output":"sent"}`, `{"type":"tool-error","toolCallId":"c-1","error":"x"}`,
	} {
		if tr, err := aisdk.Approvals([]byte(message + `,` + more + `]`)); err != nil || len(tr.Exchanges) != 0 {
			t.Errorf("a request that is settled by %s: %+v, %v", more, tr, err)
		}
	}
	for _, in := range []string{
		`{"type":"tool-call","toolCallId":"c-1","toolName":"mail","input":{"to":"y"}}`, `{"type":"tool-call","toolCallId":"c-1","toolName":"rm","input":{"to":"x"}}`, `{"type":"tool-approval-request","approvalId":"a-1","toolCallId":"c-2"},{"type":"tool-call","toolCallId":"c-2","toolName":"rm","input":{}}`,
	} {
		for _, in := range []string{message + `,` + in + `]`, `[` + in + `,` + message[1:] + `]`} {
			if _, err := aisdk.Approvals([]byte(in)); err == nil || !strings.Contains(bridge.PublicError(err).Message, "two parts have the") {
				t.Errorf("%s: %v", in, err)
			}
		}
	}
	if tr, err := aisdk.Approvals([]byte(message + `,{"type":"tool-call","toolCallId":"c-1","toolName":"mail","input":{ "to":"x" }}]`)); err != nil || len(tr.Exchanges) != 1 {
		t.Errorf("the same call twice: %+v, %v", tr, err)
	}
	for _, in := range []string{`[]`, `[{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}]`, `[{"type":"text"}]`, `{"type":"tool-approval-request"}`} {
		if _, err := aisdk.Approvals([]byte(in)); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", in, err)
		}
	}
}
