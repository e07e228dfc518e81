package daemon_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestMCPOverRestart checks that a daemon that stops ends a call over HTTP with a
// result, from which the model finds the request again, and that the request stays.
func TestMCPOverRestart(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Quiet: true, Config: rig.Only("slack")})
			call := func(url, tool, arguments string) string {
				body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"progressToken":"p",
					"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return ""
				}
				req.Header = http.Header{
					"Authorization": {"Bearer " + rig.TestAgentToken}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
					"Mcp-Protocol-Version": {version}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return err.Error()
				}
				defer resp.Body.Close()
				raw, err := io.ReadAll(resp.Body)
				if err != nil {
					return string(raw) + err.Error()
				}
				return string(raw)
			}
			first := make(chan string, 1)
			go func() { first <- call(r.Daemons[0].URL, "ask_human", `{"question":"Still there?"}`) }()
			var id bridge.ID
			r.Eventually("people are asked", func() bool {
				page, err := r.Agent.List(t.Context(), bridge.ListFilter{State: bridge.StatePending})
				if err != nil || len(page.Items) == 0 {
					return false
				}
				id = page.Items[0].Interaction.ID
				return true
			})
			address := strings.TrimPrefix(r.Daemons[0].URL, "http://")
			r.Daemons[0].Stop()
			got := await.Receive(t, "the end of the call", first)
			if !strings.Contains(got, `"result"`) || !strings.Contains(got, string(id)) || strings.Contains(got, "context canceled") {
				t.Errorf("the call ends with %s", got)
			}
			r.Daemons = nil
			r.Start(rig.ListenOn(t, address))
			if rec, err := r.Agent.Get(t.Context(), id); err != nil || rec.State != bridge.StatePending {
				t.Errorf("the request is %s, %v", rec.State, err)
			}
		})
	}
}
