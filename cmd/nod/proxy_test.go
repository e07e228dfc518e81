package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nodbridge/nod/cmd/nod/rig"
)

// TestProxy checks that the first answer counts, from the client or from chat,
// and that the prompt closes in the other place.
func TestProxy(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	const request = `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"call_%d"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"Edit a.go","kind":"edit","rawInput":{"file_path":"a.go"}}}}`
	start := func(t *testing.T, args ...string) (*bufio.Scanner, io.Writer, *os.File, *bufio.Scanner) {
		t.Helper()
		// The agent consists of two pipes: one for its output and one for its
		// input.
		dir := t.TempDir()
		for _, f := range []string{"say", "hear"} {
			if out, err := exec.Command("mkfifo", dir+"/"+f).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
		}
		cmd := exec.Command(rig.Binary(t), append(append([]string{"proxy"}, args...), "--", "sh", "-c", "cat "+dir+"/say & exec cat > "+dir+"/hear")...)
		cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		say, err := os.OpenFile(dir+"/say", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		hear, err := os.OpenFile(dir+"/hear", os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = say.Close(); _ = in.Close(); _ = cmd.Wait(); _ = hear.Close() })
		return bufio.NewScanner(out), in, say, bufio.NewScanner(hear)
	}
	line := func(t *testing.T, s *bufio.Scanner) string {
		t.Helper()
		if !s.Scan() {
			t.Fatal("no more output")
		}
		return s.Text()
	}
	t.Run("chat answers first", func(t *testing.T) {
		t.Parallel()
		sub := *r
		sub.T = t
		client, toProxy, agent, agentHears := start(t, "acp")
		fmt.Fprintf(toProxy, "%s\n", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
		if got := line(t, agentHears); !strings.Contains(got, "initialize") {
			t.Errorf("the agent hears %s", got)
		}
		fmt.Fprintf(agent, update+"\n"+request+"\n", 1, 5, "chat", 1)
		line(t, client) // the update
		if got := line(t, client); !strings.Contains(got, "request_permission") {
			t.Errorf("the client sees %s", got)
		}
		a := sub.Card("chat")
		if !strings.Contains(a.Text("telegram"), "Edit a.go") {
			t.Errorf("card: %s", a.Text("telegram"))
		}
		sub.Press("ana", a.On("telegram"), "Allow once")
		if got := line(t, agentHears); got != `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}` {
			t.Errorf("the agent hears %s", got)
		}
		if got := line(t, client); got != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}` {
			t.Errorf("the client sees %s", got)
		}
		fmt.Fprintln(toProxy, `{"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"cancelled"}}`)
		fmt.Fprintln(toProxy, `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{}}`)
		if got := line(t, agentHears); !strings.Contains(got, "session/prompt") {
			t.Errorf("a late answer passed: %s", got)
		}
	})
	t.Run("the client answers first", func(t *testing.T) {
		t.Parallel()
		sub := *r
		sub.T = t
		client, toProxy, agent, agentHears := start(t, "acp")
		fmt.Fprintf(agent, request+"\n", 6, "client", 2)
		line(t, client)
		a := sub.Card("client")
		fmt.Fprintln(toProxy, `{"jsonrpc":"2.0","id":6,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`)
		if got := line(t, agentHears); !strings.Contains(got, `"no"`) {
			t.Errorf("the agent hears %s", got)
		}
		a.Closed("answered at the terminal")
	})
	t.Run("only in chat, codex", func(t *testing.T) {
		t.Parallel()
		sub := *r
		sub.T = t
		client, _, agent, agentHears := start(t, "codex", "--only-chat")
		fmt.Fprintln(agent, `{"method":"item/started","params":{"item":{"type":"fileChange","id":"call_9","changes":[{"path":"a.go","diff":"-a\n+b"}]}}}`)
		fmt.Fprintln(agent, `{"method":"item/fileChange/requestApproval","id":60,"params":{"threadId":"codex-thread","turnId":"t","itemId":"call_9","startedAtMs":1}}`)
		a := sub.Card("codex-thread")
		if !strings.Contains(a.Text("telegram"), "a.go") {
			t.Errorf("the card does not show the change: %s", a.Text("telegram"))
		}
		sub.Press("ana", a.On("telegram"), "Deny and stop")
		if got := line(t, agentHears); got != `{"id":60,"result":{"decision":"cancel"}}` {
			t.Errorf("the agent hears %s", got)
		}
		fmt.Fprintln(agent, `{"method":"item/tool/requestUserInput","id":61,"params":{"threadId":"codex-thread","questions":[{"id":"k","question":"Key?","isSecret":true}]}}`)
		line(t, client) // item/started
		if got := line(t, client); !strings.Contains(got, "requestUserInput") {
			t.Errorf("a prompt that chat does not support is not shown in the client: %s", got)
		}
	})
}
