//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// process is a nod program under test.
type process struct {
	t         *testing.T
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

func program(r *rig.Rig, t *testing.T, url string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(rig.Binary(t), args...)}
	p.cmd.Env = append(os.Environ(), "NOD_URL="+url, "NOD_TOKEN="+rig.TestAgentToken)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	p.starts()
	return p
}

// starts starts the program. It would ignore a signal that this process ignores,
// such as SIGHUP after nohup.
func (p *process) starts() {
	p.t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(heard)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits until the program exits and checks its exit code.
func (p *process) ends(code int) {
	p.t.Helper()
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(exit, err)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit %d, want %d\n%s%s", got, code, p.out.String(), p.errs.String())
	}
}

// pendingPrompt returns the pending request with a prompt.
func pendingPrompt(r *rig.Rig, prompt string) bridge.Record {
	r.T.Helper()
	var found bridge.Record
	r.Eventually("the request "+prompt+" is posted", func() bool {
		page, err := r.Agent.List(r.Ctx, bridge.ListFilter{State: bridge.StatePending})
		if err != nil {
			return false
		}
		for _, rec := range page.Items {
			if rec.Interaction.Prompt == prompt && len(rec.Messages) == len(rec.Interaction.Destinations) {
				found = rec
				return true
			}
		}
		return false
	})
	return found
}

// TestInterrupted checks that a signal cancels the request of a waiting
// command, closes its cards, and determines the exit code.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	url := r.Daemons[0].URL
	for name, c := range map[string]struct {
		signal os.Signal
		code   int
		args   []string
	}{
		"ask":         {syscall.SIGINT, 130, []string{"ask", "Stop ask?"}},
		"approve":     {syscall.SIGTERM, 143, []string{"approve", "Stop approve?"}},
		"run":         {syscall.SIGHUP, 129, []string{"run", "--prompt", "Stop run?", "--", "touch", "ran"}},
		"approve int": {syscall.SIGINT, 130, []string{"approve", "Stop approve int?"}},
	} {
		p := program(r, t, url, c.args...)
		rec := pendingPrompt(r, "Stop "+name+"?")
		p.signal(c.signal)
		p.ends(c.code)
		if !strings.Contains(p.errs.String(), "cancelled") || p.out.Len() > 0 {
			t.Errorf("%s: %s%s", name, p.out.String(), p.errs.String())
		}
		after, err := r.Agent.Get(r.Ctx, rec.Interaction.ID)
		if err != nil || after.State != bridge.StateCancelled {
			t.Errorf("%s: %s, %v", name, after.State, err)
		}
		for _, s := range rig.Services {
			a := rig.Asked{Record: rec, R: r}
			r.Eventually("the card on "+s+" is closed", func() bool {
				_, err := r.Sandbox.Person("ana").Press(r.Ctx, a.On(s), "Approve")
				return err != nil
			})
		}
	}

	p := program(r, t, url, "approve", "Keep this?", "--keep")
	rec := pendingPrompt(r, "Keep this?")
	p.signal(syscall.SIGINT)
	p.ends(130)
	_, key, found := strings.Cut(p.errs.String(), "--key ")
	if after, err := r.Agent.Get(r.Ctx, rec.Interaction.ID); err != nil || after.State != bridge.StatePending || !found {
		t.Fatalf("%s, %v: %s", after.State, err, p.errs.String())
	}
	p = program(r, t, url, "approve", "Keep this?", "--key", strings.TrimSpace(key))
	r.Press("ana", rig.Asked{Record: rec, R: r}.On("slack"), "Approve")
	p.ends(0)
	if said := p.errs.String(); !strings.Contains(said, "--key: an earlier call opened "+string(rec.Interaction.ID)) {
		t.Errorf("the repeated call says %s", said)
	}
}

// TestInterruptedOffline checks that an interrupted command exits if the daemon
// does not answer, and that a second signal ends it.
func TestInterruptedOffline(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 99), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	t.Cleanup(server.Close)
	t.Cleanup(sync.OnceFunc(func() { close(release) }))
	r := &rig.Rig{}
	r.T = t
	p := program(r, t, server.URL, "approve", "Anyone?")
	<-asked
	p.signal(syscall.SIGINT)
	p.ends(130)
	if said := p.errs.String(); !strings.Contains(said, "interrupted; unknown whether the request is open: no answer in time") {
		t.Errorf("it says %s", said)
	}
	for len(asked) > 0 {
		<-asked
	}
	p = program(r, t, server.URL, "approve", "Anyone?")
	<-asked
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // how it ended is checked instead
		close(ended)
	}()
	await.Until(t, "the signals end the command", func() bool { // nothing shows when it has received the first
		_ = p.cmd.Process.Signal(syscall.SIGINT) // it may have ended
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("it ended with %s; want the effect of a signal", p.cmd.ProcessState)
	}
}

// TestRunExitCodes checks that the exit codes of nod run differ from those of
// its command, and that the command gets signals and can exit with any code.
func TestRunExitCodes(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	url := r.Daemons[0].URL
	n := 0
	approved := func(args ...string) *process {
		n++
		prompt := "Run " + strconv.Itoa(n) + "?"
		p := program(r, t, url, append([]string{"run", "--prompt", prompt, "--"}, args...)...)
		r.Approve("ana", rig.Asked{Record: pendingPrompt(r, prompt), R: r}.On("slack"))
		return p
	}
	for _, code := range []int{0, 1, 2, 110, 119, 255} {
		p := approved("sh", "-c", "exit "+strconv.Itoa(code))
		p.ends(code)
		if strings.Contains(p.errs.String(), "itself") {
			t.Errorf("%d: %s", code, p.errs.String())
		}
	}
	for _, code := range []int{111, 115, 118} {
		p := approved("sh", "-c", "exit "+strconv.Itoa(code))
		p.ends(code)
		if !strings.Contains(p.errs.String(), "the command itself exited with code "+strconv.Itoa(code)) {
			t.Errorf("%d: %s", code, p.errs.String())
		}
	}
	p := program(r, t, url, "run", "--prompt", "Run denied?", "--", "touch", "ran")
	r.Press("ana", rig.Asked{Record: pendingPrompt(r, "Run denied?"), R: r}.On("slack"), "Deny")
	p.ends(111)
	program(r, t, url, "run", "--no-such-flag", "--", "true").ends(112)
	program(r, t, url, "run", "--", "no-such-command-anywhere").ends(112)
	program(r, t, "http://127.0.0.1:1/", "run", "--timeout", "x", "--", "true").ends(112)
	notNod := httptest.NewServer(http.NotFoundHandler())
	defer notNod.Close()
	program(r, t, notNod.URL, "run", "--patience", "1s", "--", "true").ends(115)

	script := filepath.Join(t.TempDir(), "gone")
	programs.Write(t, script, "#!/no/such/interpreter\n")
	approved(script).ends(118)

	ready := filepath.Join(t.TempDir(), "ready")
	p = approved("sh", "-c", "trap 'exit 42' TERM; touch "+ready+"; while :; do sleep 0.05; done")
	r.Eventually("the command runs", func() bool { _, err := os.Stat(ready); return err == nil })
	p.signal(syscall.SIGTERM)
	p.ends(42)
	approved("sh", "-c", "kill -9 $$").ends(137)
}

// TestForeignService checks that nod takes no response of another service for
// an approval.
func TestForeignService(t *testing.T) {
	bodies := []string{
		"", "{}", "null", "true", "ok", "<html>approved</html>", `{"state":"approved"}`, `{"decision":"approved","approved":true}`,
		`{"interaction":{"id":"0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"},"id":"0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03","state":"approved","response":{"state":"approved"}}`,
		`{"interaction":{"id":"0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03","kind":"approval"},"state":"answered"}`, `[{"state":"approved"}]`,
	}
	t.Setenv("NOD_TOKEN", "token-of-nobody-at-all")
	for _, kind := range []string{"application/json", "text/html", ""} {
		for _, status := range []int{200, 201, 202, 204, 302, 307, 308} {
			for _, body := range bodies {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					w.Header().Set("Content-Type", kind)
					w.Header().Set("Location", "/elsewhere"+req.URL.Path)
					w.WriteHeader(status)
					if status != 204 {
						_, _ = w.Write([]byte(body))
					}
				}))
				t.Setenv("NOD_URL", server.URL)
				for _, args := range [][]string{{"approve", "Delete prod-db?"}, {"ask", "Ship it?"}, {"run", "--", "touch", filepath.Join(t.TempDir(), "ran")}} {
					var out, errs strings.Builder
					code := Run(args, strings.NewReader(""), &out, &errs)
					if code == 0 || out.Len() > 0 {
						t.Errorf("%d %q %s: nod %s: exit %d, %q, %s", status, body, kind, args[0], code, out.String(), errs.String())
					}
				}
				server.Close()
			}
		}
	}
}

// TestPromptIsInterrupted checks that a signal ends nod init at each prompt.
func TestPromptIsInterrupted(t *testing.T) {
	t.Parallel()
	for answers, prompt := range map[string]string{"": "Platforms to connect", "slack\nana\n": "(hidden)"} {
		path := filepath.Join(t.TempDir(), "nod.yaml")
		cmd := exec.Command(rig.Binary(t), "init", "--no-check", "--config", path)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		talk, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		p := &process{t: t, cmd: cmd}
		p.starts()
		_, _ = stdin.Write([]byte(answers))
		said, b := "", make([]byte, 4096)
		for !strings.Contains(said, prompt) {
			n, err := talk.Read(b)
			if err != nil {
				t.Fatalf("%v after %q", err, said)
			}
			said += string(b[:n])
		}
		p.signal(syscall.SIGINT)
		p.ends(130)
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("wrote %s: %v", path, err)
		}
	}
}

// TestInterruptedTwice checks that a second signal at the same time, such as
// timeout sends, does not keep a command from cancelling its request.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	p := program(r, t, r.Daemons[0].URL, "approve", "Stop it twice?")
	rec := pendingPrompt(r, "Stop it twice?")
	for range 3 {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // the process may have ended
	}
	p.ends(143)
	if after, err := r.Agent.Get(r.Ctx, rec.Interaction.ID); err != nil || after.State != bridge.StateCancelled {
		t.Errorf("%s, %v", after.State, err)
	}
}

// TestOutage checks that a command that gives up because the daemon is unreachable
// prints how to resume the wait, that this finds the same request, and that a
// command whose request is lost prints nothing of the kind.
func TestOutage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	to, err := url.Parse(r.Daemons[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	for prompt, c := range map[string]struct {
		code int
		fail http.HandlerFunc // answers calls once the request is open
	}{
		"Is it away?": {5, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }},
		"Is it lost?": {4, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(bridge.HeaderDaemon, "test")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"no such request"}}`)
		}},
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			var failing atomic.Bool
			proxy := httputil.NewSingleHostReverseProxy(to)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if failing.Load() {
					c.fail(w, q)
					return
				}
				proxy.ServeHTTP(w, q)
			}))
			t.Cleanup(front.Close)
			args := []string{"approve", "--patience", "1s", prompt}
			p := program(r, t, front.URL, args...)
			first := pendingPrompt(r, prompt).Interaction.ID
			failing.Store(true)
			front.CloseClientConnections()
			p.ends(c.code)
			_, key, found := strings.Cut(p.errs.String(), string(first)+" may still be open; to resume the wait, repeat the command with --key ")
			if c.code == 4 {
				if found {
					t.Errorf("it says %s", p.errs.String())
				}
				return
			}
			if !found {
				t.Fatalf("it says %s", p.errs.String())
			}
			p = program(r, t, to.String(), append(args, "--key", strings.Fields(key)[0])...)
			if _, err := r.Person.Respond(r.Ctx, first, rig.AnswerOnce); err != nil {
				t.Fatal(err)
			}
			p.ends(0)
		})
	}
}

// TestPrintedWords checks that words from outside are quoted in commands that nod
// prints.
func TestPrintedWords(t *testing.T) {
	t.Parallel()
	if said := resume("a; b"); !strings.HasSuffix(said, " --key 'a; b'") {
		t.Errorf("it says %s", said)
	}
	var out strings.Builder
	_ = outcome(&out, bridge.Record{State: bridge.StatePending, Interaction: bridge.Interaction{Ask: bridge.Ask{Session: "x; $(y)"}}})
	if !strings.HasSuffix(out.String(), "nod sessions messages 'x; $(y)'\n") {
		t.Errorf("it prints %s", out.String())
	}
}
