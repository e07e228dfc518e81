//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestMCPGivenUp checks that a client on stdio that gives up, or nod that is
// stopped, takes the request along, in each state of a call.
func TestMCPGivenUp(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Quiet: true, Config: rig.Only("slack")})
	wrap := []string{"--wrap", "--name", "texts", "--allow", "get_*", "--", os.Args[0]}
	for what, c := range map[string]struct {
		args []string
		call string
	}{
		"a question":         {nil, `"ask_human","arguments":{"question":"Still there?"}`},
		"a guarded call":     {wrap, `"set_text","arguments":{"text":"x"}`},
		"a form of a server": {wrap, `"get_name","arguments":{"text":"x"}`},
	} {
		for _, how := range []string{"cancelled", "closed", "stopped", "hung up"} {
			t.Run(what+", "+how, func(t *testing.T) {
				t.Parallel()
				session := strings.ReplaceAll(what+how, " ", "-")
				cmd := exec.Command(rig.Binary(t), append([]string{"mcp", "--session", session}, c.args...)...)
				cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken, wrappedEnv+"=1")
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				p := &process{t: t, cmd: cmd}
				p.starts()
				fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
				if lines := bufio.NewScanner(out); !lines.Scan() {
					t.Fatal("no output")
				}
				fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				fmt.Fprintln(in, `{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":`+c.call+`}}`)
				filter := bridge.ListFilter{Session: session}
				var rec bridge.Record
				r.Eventually("people are asked", func() bool {
					page, err := r.Agent.List(t.Context(), filter)
					if err != nil || len(page.Items) == 0 {
						return false
					}
					rec = page.Items[0]
					return true
				})
				switch how {
				case "cancelled":
					fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7","reason":"the user stopped it"}}`)
				case "closed":
					in.Close()
				case "stopped":
					p.signal(syscall.SIGTERM)
				case "hung up":
					p.signal(syscall.SIGHUP)
				}
				await.Until(t, "the request is cancelled", func() bool {
					after, err := r.Agent.Get(t.Context(), rec.Interaction.ID)
					return err == nil && after.State == bridge.StateCancelled
				})
				in.Close()
				_ = cmd.Wait() // only the end counts, not the exit code
			})
		}
	}
}
