package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// Messages of an ACP agent: a call of a tool, and the request to permit it.
const (
	acpUpdate = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call",` +
		`"toolCallId":"call_%d","title":"Edit a.go","kind":"edit","rawInput":{"file_path":"a.go"}}}}`
	acpRequest = `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,` +
		`"toolCall":{"toolCallId":"call_%d"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},` +
		`{"optionId":"no","name":"No","kind":"reject_once"}]}}`
)

// TestProxy checks that the first answer counts, from the client or from chat,
// and that the prompt closes in the other place.
func TestProxy(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	for name, test := range map[string]func(*testing.T, *rig.Rig){
		"chat answers first": proxyChatFirst, "the client answers first": proxyClientFirst, "only in chat": proxyOnlyChat,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *r
			sub.T = t
			test(t, &sub)
		})
	}
}

// proxied is a running proxy with its two ends. The agent consists of two
// pipes: one for its output and one for its input.
type proxied struct {
	t          *testing.T
	toProxy    io.Writer      // messages of the client
	agent      io.Writer      // messages of the agent
	client     *bufio.Scanner // messages to the client
	agentHears *bufio.Scanner // messages to the agent
}

func startProxy(t *testing.T, r *rig.Rig, args ...string) proxied {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"say", "hear"} {
		if out, err := exec.Command("mkfifo", dir+"/"+f).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	script := "cat " + dir + "/say & exec cat > " + dir + "/hear"
	cmd := exec.Command(rig.Binary(t), append(append([]string{"proxy"}, args...), "--", "sh", "-c", script)...)
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
	return proxied{t, in, say, bufio.NewScanner(out), bufio.NewScanner(hear)}
}

// next returns the next line of one of the ends.
func (p proxied) next(from *bufio.Scanner) string {
	p.t.Helper()
	if !from.Scan() {
		p.t.Fatal("no more output")
	}
	return from.Text()
}

// clientHas fails the test unless the next line for the client has the words.
func (p proxied) clientHas(words string) {
	p.t.Helper()
	if got := p.next(p.client); !strings.Contains(got, words) {
		p.t.Errorf("the client gets %s, want %s", got, words)
	}
}

// agentHas fails the test unless the next line for the agent has the words.
func (p proxied) agentHas(words string) {
	p.t.Helper()
	if got := p.next(p.agentHears); !strings.Contains(got, words) {
		p.t.Errorf("the agent gets %s, want %s", got, words)
	}
}

func proxyChatFirst(t *testing.T, r *rig.Rig) {
	p := startProxy(t, r, "acp")
	fmt.Fprintf(p.toProxy, "%s\n", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	p.agentHas("initialize")
	fmt.Fprintf(p.agent, acpUpdate+"\n"+acpRequest+"\n", "chat", 1, 5, "chat", 1)
	p.clientHas("session/update")
	p.clientHas("request_permission")
	a := r.Card("chat")
	if !strings.Contains(a.Text("telegram"), "Edit a.go") {
		t.Errorf("the card says %s, want Edit a.go", a.Text("telegram"))
	}
	r.Approve("ana", a.On("telegram"))
	p.agentHas(`{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
	p.clientHas(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
	// The late answer of the client does not pass.
	fmt.Fprintln(p.toProxy, `{"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"cancelled"}}`)
	fmt.Fprintln(p.toProxy, `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{}}`)
	p.agentHas("session/prompt")
}

func proxyClientFirst(t *testing.T, r *rig.Rig) {
	p := startProxy(t, r, "acp")
	fmt.Fprintf(p.agent, acpUpdate+"\n"+acpRequest+"\n", "client", 2, 6, "client", 2)
	p.clientHas("session/update")
	p.clientHas("request_permission")
	a := r.Card("client")
	fmt.Fprintln(p.toProxy, `{"jsonrpc":"2.0","id":6,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`)
	p.agentHas(`"no"`)
	a.Closed("in the editor")
}

func proxyOnlyChat(t *testing.T, r *rig.Rig) {
	p := startProxy(t, r, "acp", "--only-chat")
	fmt.Fprintf(p.agent, acpUpdate+"\n"+acpRequest+"\n", "only", 9, 60, "only", 9)
	a := r.Card("only")
	if !strings.Contains(a.Text("telegram"), "a.go") {
		t.Errorf("the card says %s, want the change of a.go", a.Text("telegram"))
	}
	r.Press("ana", a.On("telegram"), "Deny")
	p.agentHas(`{"jsonrpc":"2.0","id":60,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`)
	fmt.Fprintln(p.agent, `{"jsonrpc":"2.0","id":61,"method":"elicitation/create","params":{"message":"Key?","requestedSchema":{"type":"object","properties":{"api_key":{"type":"string"}}}}}`)
	p.clientHas("session/update")
	p.clientHas("elicitation/create") // nod asks no one for a credential
}
