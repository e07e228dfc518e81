package caller

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/proof"
)

// TestAnswerAndReceipt checks that an answer passes only if it matches its
// receipt.
func TestAnswerAndReceipt(t *testing.T) {
	t.Parallel()
	acpAsk, err := acp.Request([]byte(`{"id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","rawInput":{"command":"ls"}},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"ever","kind":"allow_always"},{"optionId":"no","kind":"reject_once"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	codexAsk, err := codex.Request([]byte(`{"id":5,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","itemId":"i","command":"ls"}}`))
	if err != nil {
		t.Fatal(err)
	}
	claudeAsk, err := claudecode.Hook([]byte(`{"session_id":"s","cwd":"/repo","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t1"}`), claudecode.AskLocally)
	if err != nil {
		t.Fatal(err)
	}
	ana := &bridge.Actor{Person: "ana"}
	edited := json.RawMessage(`{"command":"git push --dry-run"}`)
	changed, err := proof.DigestAsSent(claudeAsk.Exchanges[0].Request.WithInput(edited))
	if err != nil {
		t.Fatal(err)
	}
	yes := proof.Receipt{State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: ana}
	no := proof.Receipt{State: bridge.StateDenied, Actor: ana, Reason: "not now"}
	asked, ruled := no, no // a rule asked people, or decided itself
	asked.Rule = "deploys"
	ruled.Rule, ruled.Policy, ruled.Actor = "never", "never", nil
	late := proof.Receipt{State: bridge.StateExpired}
	other := yes
	other.ApprovedDigest = changed
	const allow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
	const allowEdited = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"git push --dry-run"}}}`
	const allowOther = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"rm -rf /"}}}`
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s: not now"}}`
	for n, c := range []struct {
		asked   dialect.Translation
		receipt proof.Receipt
		answer  string
		passes  bool
	}{
		{acpAsk, yes, `{"outcome":{"outcome":"selected","optionId":"yes"}}`, true},
		{acpAsk, yes, `{"outcome":{"outcome":"selected","optionId":"ever"}}`, false},
		{acpAsk, no, `{"outcome":{"outcome":"selected","optionId":"no"}}`, true},
		{acpAsk, no, `{"outcome":{"outcome":"selected","optionId":"yes"}}`, false},
		{acpAsk, late, `{"outcome":{"outcome":"selected","optionId":"yes"}}`, false},
		{acpAsk, no, `{"outcome":{"outcome":"selected","optionId":"no","optionId":"yes"}}`, false},
		{codexAsk, yes, `{"decision":"accept"}`, true},
		{codexAsk, yes, `{"decision":"acceptForSession"}`, false},
		{codexAsk, no, `{"decision":"decline"}`, true},
		{codexAsk, no, `{"decision":"cancel"}`, false}, // the receipt does not stop the turn
		{codexAsk, no, `{"decision":"accept"}`, false},
		{codexAsk, late, `{"decision":"accept"}`, false},
		{claudeAsk, yes, allow, true},
		{claudeAsk, no, allow, false},
		{claudeAsk, asked, fmt.Sprintf(deny, "Denied by ana"), true},
		{claudeAsk, asked, fmt.Sprintf(deny, "Denied by the policy, and no person was asked"), false},
		{claudeAsk, ruled, fmt.Sprintf(deny, "Denied by the policy, and no person was asked"), true},
		{claudeAsk, late, allow, false},
		{claudeAsk, late, `{}`, false},
		{claudeAsk, other, allowEdited, true},
		{claudeAsk, other, allowOther, false},
		{claudeAsk, other, allow, false}, // a person approved another input
		{claudeAsk, yes, allowEdited, false},
	} {
		c.receipt.At = time.Now()
		if c.receipt.Digest, err = proof.DigestAsSent(c.asked.Exchanges[0].Request.Ask); err != nil {
			t.Fatal(err)
		}
		unsigned := func(v any) string {
			payload, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".e30"
		}
		sum := sha256.Sum256([]byte(c.answer))
		end := proof.End{ID: c.receipt.ID, Digest: c.receipt.Digest, State: c.receipt.State, Reason: c.receipt.Reason}
		a := client.Answered{Body: []byte(c.answer), Receipts: []string{unsigned(c.receipt)}, Statement: unsigned(map[string]any{
			"ends": []proof.End{end}, "body": hex.EncodeToString(sum[:]),
		})}
		if err := Covered(c.asked, a); (err == nil) != c.passes {
			t.Errorf("%d: %s with %s: %v", n, c.answer, c.receipt.State, err)
		}
	}
}
