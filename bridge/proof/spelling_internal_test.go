package proof

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestEntryReadTwoWays checks that an audit entry has no valid proof if nod and
// a case-sensitive parser read its data differently.
func TestEntryReadTwoWays(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	resp.Actor.Name = "Ana"
	raw, err := json.Marshal(bridge.DecisionEntry{Response: resp, Receipt: signed(t, p, i, resp)})
	if err != nil {
		t.Fatal(err)
	}
	vote := bridge.Vote{Actor: *resp.Actor, State: bridge.StateApproved, At: resp.At}
	voted, err := json.Marshal(vote)
	if err != nil {
		t.Fatal(err)
	}
	v := bridge.AuditEntry{Type: bridge.AuditVote, ID: i.ID, Agent: i.Agent, Session: i.Session, State: bridge.StateApproved, Data: voted}
	if err := p.ProveEntry(&v); err != nil {
		t.Fatal(err)
	}
	for kind, raw := range map[bridge.AuditType]string{bridge.AuditDecision: string(raw), bridge.AuditVote: string(v.Data)} {
		entry := bridge.AuditEntry{Type: kind, ID: i.ID, Agent: i.Agent, Session: i.Session, State: bridge.StateApproved, Timestamp: time.Now().UnixMilli()}
		entry.Data = json.RawMessage(raw)
		if _, why := p.PublicKeys().EntryProblem(entry); why != "" {
			t.Fatalf("%s: the entry itself %s", kind, why)
		}
		const forged = `{"actor":{"platform":"slack","user":"U9","person":"mal"},`
		for what, data := range map[string]string{
			"another spelling": forged + strings.Replace(raw, `"actor"`, `"Actor"`, 1)[1:],
			"twice":            forged + raw[1:],
			"unknown":          `{"approved_by":"mal",` + raw[1:],
		} {
			entry.Data = json.RawMessage(data)
			if _, why := p.PublicKeys().EntryProblem(entry); why == "" {
				t.Errorf("%s, %s: it counts as proven", kind, what)
			}
		}
	}
}

// TestAuditLineReadTwoWays checks that a line of an exported log is exactly one
// value, which every parser reads in the same way.
func TestAuditLineReadTwoWays(t *testing.T) {
	t.Parallel()
	for what, line := range map[string]string{
		"more data":        `{"entry":"1-1"}{"entry":"1-2"}`,
		"another spelling": `{"entry":"1-1","Entry":"1-2"}`,
		"twice":            `{"entry":"1-1","entry":"1-2"}`,
		"twice inside":     `{"entry":"1-1","data":{"a":1,"a":2}}`,
	} {
		if _, err := VerifyAudit(strings.NewReader(line), JWKS{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
}
