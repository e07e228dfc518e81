package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
)

// asker is an Asker that counts the requests.
type asker struct {
	bridge.Asker
	asked []bridge.Request
}

func (a *asker) Open(_ context.Context, r bridge.Request, _ string) (bridge.Record, error) {
	a.asked = append(a.asked, r)
	return bridge.Record{}, bridge.Errorf(bridge.CodeUnavailable, "chat is not available")
}

// TestArguments checks that no tool sends a request for arguments that two
// parsers could read differently.
func TestArguments(t *testing.T) {
	t.Parallel()
	a := &asker{}
	client := connect(t, mcp.Options{Asker: a, Session: "s", Claude: true}, "", nil)
	for tool, args := range map[string]string{"request_approval": `{"action":"Do it","input":{"x":@}}`, "permission_prompt": `{"tool_name":"Bash","input":{"x":@}}`} {
		for _, x := range []string{`{"command":"ls","command":"rm"}`, `9007199254740993`, `"\ud800"`, strings.Repeat("[", 150) + strings.Repeat("]", 150)} {
			res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(strings.Replace(args, "@", x, 1))})
			if err == nil && !res.IsError {
				t.Errorf("%s takes %.40s", tool, x)
			}
			if len(a.asked) > 0 {
				t.Errorf("%s asks about %.40s: %+v", tool, x, a.asked)
				a.asked = nil
			}
		}
		if _, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(strings.Replace(args, "@", `1`, 1))}); err != nil || len(a.asked) != 1 {
			t.Errorf("%s: %v, asked %d", tool, err, len(a.asked))
		}
		a.asked = nil
	}
}
