package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestMCPMessages checks that the model reads each message once and in order, on
// both transports and over a restart of the server, and that their authors learn
// it.
func TestMCPMessages(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	for name, transport := range mcpTransports(t, r, "messages-") {
		session := "messages-" + name
		ana := steerable(r, session)
		s := mcpConnect(t, transport(), nil)
		read := func() []string {
			t.Helper()
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "messages", Arguments: map[string]any{}})
			if err != nil || res.IsError {
				t.Fatal(res, err)
			}
			var got struct{ Messages []struct{ ID, Text string } }
			if err := json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &got); err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, m := range got.Messages {
				out = append(out, m.Text)
			}
			return out
		}
		if got := read(); len(got) != 0 {
			t.Errorf("%s: at first, the model reads %q", name, got)
		}
		var sent []bridge.Steering
		var got []string
		for n := range 10 {
			m, err := ana.Steer(t.Context(), "", session, fmt.Sprintf("number %d.", n))
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, m)
			switch n {
			case 3:
				gone, cancel := context.WithCancel(t.Context())
				cancel()
				_, _ = s.CallTool(gone, &mcp.CallToolParams{Name: "messages", Arguments: map[string]any{}}) // not sent
			case 5:
				got = append(got, read()...)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = mcpConnect(t, transport(), nil)
			case 7:
				if m, err := ana.Steering(t.Context(), session, m.ID); err != nil || m.Fate != bridge.FateWaiting {
					t.Errorf("%s: before the call, the message is %s, %v", name, m.Fate, err)
				}
			}
		}
		got = append(got, read()...)
		got = append(got, read()...)
		if len(got) != len(sent) {
			t.Fatalf("%s: the model reads %q", name, got)
		}
		for n, m := range sent {
			if !strings.Contains(got[n], fmt.Sprintf("number %d.", n)) {
				t.Errorf("%s: as number %d, the model reads %q", name, n, got[n])
			}
			if m, err := ana.Steering(t.Context(), session, m.ID); err != nil || m.Fate != bridge.FateDelivered {
				t.Errorf("%s: message %d is %s, %v", name, n, m.Fate, err)
			}
		}
	}
}
