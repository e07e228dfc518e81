package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// appServerEnv makes the test program an app server of Codex.
const appServerEnv = "NOD_TEST_APP_SERVER"

// approvalOf is the request of the app server.
const approvalOf = `{"id":0,"method":"item/commandExecution/requestApproval","params":{"kind":"command","threadId":"%s","turnId":"U","itemId":"c","startedAtMs":1,"command":"make","availableDecisions":["accept","cancel"]}}`

// fakeCodex is an app server with one thread, which waits for an approval. It
// sends the request to each client that resumes or starts the thread, takes the
// first answer, and reports it to all.
type fakeCodex struct {
	thread string
	mu     sync.Mutex
	all    []*websocket.Conn
	done   bool
}

// serveAppServer is the main function of the app server.
func serveAppServer() {
	if os.Getenv("NOD_TOKEN") != "" {
		panic("the app server could act as the agent")
	}
	path := strings.TrimPrefix(os.Args[len(os.Args)-1], "unix://")
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	s := &fakeCodex{thread: os.Getenv(appServerEnv)}
	panic(http.Serve(l, http.HandlerFunc(s.client)))
}

func (s *fakeCodex) client(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.all = append(s.all, c)
	s.mu.Unlock()
	for {
		_, raw, err := c.Read(r.Context())
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		_ = json.Unmarshal(raw, &m)
		say := func(format string, args ...any) {
			_ = c.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...))
		}
		switch m.Method {
		case "initialize":
			say(`{"id":%s,"result":{"userAgent":"codex/0.169.0 (test)"}}`, m.ID)
		case "thread/loaded/list":
			say(`{"id":%s,"result":{"data":[%q]}}`, m.ID, s.thread)
		case "thread/read":
			say(`{"id":%s,"result":{"thread":{"id":%q,"ephemeral":false,"threadSource":null,"preview":"make it","status":{"type":"active","activeFlags":["waitingOnApproval"]}}}}`, m.ID, s.thread)
		case "thread/start", "thread/resume":
			say(`{"id":%s,"result":{"thread":{"turns":[]}}}`, m.ID)
			say(approvalOf, s.thread)
		case "":
			s.answered(m.Result)
		}
	}
}

func (s *fakeCodex) answered(result json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || len(result) == 0 {
		return
	}
	s.done = true
	for _, c := range s.all {
		for _, m := range []string{
			`{"method":"item/completed","params":{"threadId":%[1]q,"turnId":"U","item":{"type":"commandExecution","id":"c","status":"completed","answer":%[2]s}}}`,
			`{"method":"serverRequest/resolved","params":{"threadId":%[1]q,"requestId":0}}`,
		} {
			_ = c.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, strings.Replace(m, "%[2]s", string(result), 1), s.thread))
		}
	}
}

// editor runs nod proxy codex for an editor, and returns its ends.
func editor(t *testing.T, r *rig.Rig, thread string) (cmd *exec.Cmd, in io.WriteCloser, has func(string)) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(rig.Binary(t), "proxy", "codex", "--", own, "app-server")
	cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken, appServerEnv+"="+thread, "TMPDIR="+t.TempDir(), "CODEX_HOME="+t.TempDir())
	cmd.Stderr = t.Output()
	in, err = cmd.StdinPipe()
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
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // has been called if the editor has left
	})
	lines := bufio.NewScanner(out)
	has = func(words string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), words) {
				return
			}
		}
		t.Fatalf("the editor does not get %s", words)
	}
	fmt.Fprintln(in, `{"id":1,"method":"initialize","params":{}}`)
	has("userAgent")
	fmt.Fprintln(in, `{"id":2,"method":"thread/start","params":{}}`)
	has("requestApproval")
	return cmd, in, has
}

// TestCodexEditor checks that a prompt of the app server of an editor is in chat
// as well, that the first answer counts, and that the app server ends with the
// editor.
func TestCodexEditor(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	t.Run("chat is first", func(t *testing.T) {
		_, in, has := editor(t, r, "editor-chat")
		r.Approve("ana", r.Card("editor-chat").On("telegram"))
		has(`"answer":{"decision":"accept"}`)
		has("serverRequest/resolved")
		fmt.Fprintln(in, `{"id":0,"result":{"decision":"cancel"}}`) // too late
	})
	t.Run("the editor is first", func(t *testing.T) {
		_, in, has := editor(t, r, "editor-first")
		a := r.Card("editor-first")
		fmt.Fprintln(in, `{"id":0,"result":{"decision":"accept"}}`)
		has(`"answer":{"decision":"accept"}`)
		a.Closed("Approved in the terminal")
	})
	t.Run("the editor leaves", func(t *testing.T) {
		cmd, in, _ := editor(t, r, "editor-leaves")
		a := r.Card("editor-leaves")
		sockets, err := filepath.Glob(filepath.Join(envOf(cmd, "TMPDIR"), "nod-*", "s"))
		if err != nil || len(sockets) != 1 {
			t.Fatal(sockets, err)
		}
		_ = in.Close()
		a.Closed("this request is gone")
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(envOf(cmd, "TMPDIR")); err != nil || len(left) > 0 {
			t.Error(left, err)
		}
		if c, err := net.DialTimeout("unix", sockets[0], time.Second); err == nil {
			t.Error("the app server still runs")
			_ = c.Close()
		}
	})
}

func envOf(cmd *exec.Cmd, name string) string {
	value := ""
	for _, v := range cmd.Env {
		if k, x, _ := strings.Cut(v, "="); k == name {
			value = x
		}
	}
	return value
}
