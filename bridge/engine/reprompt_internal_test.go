package engine

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestToolKeepsApprovals checks that a follow-up of a tool that remembers its
// approvals never makes nod remember them.
func TestToolKeepsApprovals(t *testing.T) {
	t.Parallel()
	var before bridge.Record
	before.Interaction.Approval = &bridge.Approval{Tool: "delete_files", AgentRemembers: true}
	sent := bridge.Request{Ask: bridge.Ask{Approval: &bridge.Approval{Tool: "delete_files", Scopes: []bridge.Scope{bridge.ScopeAlways}}}}
	if r := inherit(before, sent); !r.Approval.AgentRemembers || sent.Approval.AgentRemembers {
		t.Errorf("the follow-up is %+v, sent as %+v", r.Approval, sent.Approval)
	}
	before.Interaction.Approval.Input = []byte(`{"files":3}`)
	bare := bridge.Request{Ask: bridge.Ask{Approval: &bridge.Approval{}}}
	if r := inherit(before, bare); r.Approval.Tool != "delete_files" || string(r.Approval.Input) != `{"files":3}` {
		t.Errorf("a follow-up without a tool is %+v", r.Approval)
	}
	before.Interaction.Approval.AgentRemembers = false
	if r := inherit(before, sent); r.Approval.AgentRemembers {
		t.Errorf("the follow-up of nod's own approval is %+v", r.Approval)
	}
}
