package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/broker/redistest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// buildNod builds the real binary once for all tests.
var buildNod = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "nod-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "nod")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func nodBinary(t testing.TB) string {
	t.Helper()
	path, err := buildNod()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// killer ends the daemon with kill -9 when the step it is armed for comes by.
// Steps are what the daemon does to the outside: writes to Redis, and calls of
// the platforms.
type killer struct {
	mu     sync.Mutex
	steps  int // seen so far
	at     int // step to kill at; 0: none
	before bool
	kill   func()
	killed atomic.Bool
	names  []string
}

// step counts a step and does it, unless the daemon dies before it. It returns
// false if the daemon is dead now, and nobody is there to take the answer.
func (k *killer) step(name string, do func()) bool {
	k.mu.Lock()
	if k.killed.Load() {
		k.mu.Unlock()
		return false
	}
	k.steps++
	k.names = append(k.names, name)
	if k.steps != k.at {
		k.mu.Unlock()
		do()
		return true
	}
	defer k.mu.Unlock()
	if !k.before {
		do()
	}
	k.kill()
	k.killed.Store(true) // who supervises the daemon sees it only now
	return false
}

// redisProxy forwards to Redis and counts the scripts that change something.
type redisProxy struct {
	listener net.Listener
	target   string
	k        *killer
}

func newRedisProxy(t *testing.T, target string, k *killer) *redisProxy {
	t.Helper()
	p := &redisProxy{listener: listen(t), target: target, k: k}
	go func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.forward(c)
		}
	}()
	t.Cleanup(func() { p.listener.Close() })
	return p
}

func (p *redisProxy) forward(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer out.Close()
	go func() {
		// Answers pass freely: a daemon that is dead reads none.
		_, _ = io.Copy(in, out)
		in.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if err != nil {
			return
		}
		var werr error
		do := func() { _, werr = out.Write(buf[:n]) }
		if name := transition(buf[:n]); name == "" {
			do()
		} else if !p.k.step(name, do) {
			return
		}
		if werr != nil {
			return
		}
	}
}

// transitions are the scripts that change an interaction, by what only their
// arguments hold.
var transitions = []struct{ name, mark string }{
	{"open", `{"id":"`}, {"settle", "\r\napproved\r\n"}, {"posted", "\r\nposted\r\n"}, {"part", "\r\npart\r\n"}, {"finish", "\r\nfinish\r\n"}, {"delivered", "\r\ndelivered\r\n"},
}

// transition names the first script that changes an interaction in what is
// sent at once; empty if there is none.
func transition(sent []byte) string {
	if !bytes.Contains(bytes.ToLower(sent), []byte("\r\nevalsha\r\n")) {
		return ""
	}
	for _, t := range transitions {
		if bytes.Contains(sent, []byte(t.mark)) {
			return t.name
		}
	}
	return ""
}

// platformProxy counts the calls of the platforms that people see.
func platformProxy(s http.Handler, k *killer) http.Handler {
	seen := []string{"chat.postMessage", "chat.update", "/messages", "/callback", "sendMessage", "editMessageText"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		for _, part := range seen {
			if strings.Contains(r.URL.Path, part) && r.Method != http.MethodGet {
				name = part
			}
		}
		if name == "" {
			s.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		if !k.step(name, func() { s.ServeHTTP(answer, r) }) {
			panic(http.ErrAbortHandler) // the answer is lost
		}
		for key, v := range answer.Header() {
			w.Header()[key] = v
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the daemon may be gone
	})
}

// crashRig is a real daemon process between a Redis and a sandbox that can
// kill it.
type crashRig struct {
	*rig
	k      *killer
	binary string
	url    string
	args   []string
	cmd    *exec.Cmd
	log    *bytes.Buffer
	mu     sync.Mutex
}

func newCrashRig(t *testing.T, on ...string) *crashRig {
	t.Helper()
	k := &killer{}
	c := &crashRig{rig: &rig{t: t, ctx: t.Context()}, k: k, binary: nodBinary(t), log: &bytes.Buffer{}}
	c.sandbox = sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewUnstartedServer(platformProxy(c.sandbox, k))
	server.Config.ErrorLog = nil
	server.Start()
	t.Cleanup(func() { c.sandbox.Close(); server.CloseClientConnections(); server.Close() })
	c.redis = redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	proxy := newRedisProxy(t, c.redis.Addr, k)
	port := redistest.FreePort(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "nod.yaml")
	var to []string
	for _, service := range on {
		to = append(to, map[string]string{"slack": "slack:" + sandbox.SlackChannel, "discord": "discord:" + sandbox.DiscordChannel, "telegram": fmt.Sprintf("telegram:%d", sandbox.TelegramChat)}[service])
	}
	yaml := fmt.Sprintf(`
listen: 127.0.0.1:%d
redis: {url: "redis://%s"}
slack: {bot_token: %s, app_token: %s, api_url: %s/slack/api/, pacing: false}
discord: {bot_token: %s, api_url: %s/discord, pacing: false}
telegram: {bot_token: "%s", api_url: %s/telegram, pacing: false}
people:
  ana: {slack: U0ANA00001, discord: "300000000000000001", telegram: "7001", token: %s}
  bo: {slack: U0BO000002, discord: "300000000000000002", telegram: "7002", token: %s}
routes:
  default: {to: ["%s"], responders: [ana, bo]}
agents:
  tester: {token: %s}
`, port, proxy.listener.Addr(), sandbox.SlackBotToken, sandbox.SlackAppToken, server.URL, sandbox.DiscordToken, server.URL, sandbox.TelegramToken, server.URL, anaToken, boToken, strings.Join(to, `", "`), testAgentToken)
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c.args = []string{"serve", "--config", path}
	c.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	c.agent, c.person = client.New(c.url, testAgentToken, nil), client.New(c.url, anaToken, nil)
	k.kill = c.kill
	c.startDaemon()
	t.Cleanup(c.kill)
	return c
}

func (c *crashRig) startDaemon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cmd = exec.Command(c.binary, c.args...)
	c.cmd.Stderr = c.log
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// kill is kill -9.
func (c *crashRig) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != nil {
		_ = c.cmd.Process.Kill() // it may be gone
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

// connectedOn waits until the service has the bot connected.
func (c *crashRig) connectedOn(service string) {
	defer func() {
		if c.t.Failed() {
			c.kill()
			c.t.Logf("the daemon says:\n%s", c.log)
		}
	}()
	c.eventually("the daemon is connected", func() bool {
		st := c.sandbox.State()
		return map[string]bool{"slack": st.Slack.Connections > 0, "discord": st.Discord.Connections > 0, "telegram": st.Telegram.Polling}[service]
	})
}

// cards are the messages on a service that show controls or an outcome.
func (c *crashRig) cards(service string) []sandbox.Place {
	var out []sandbox.Place
	st := c.sandbox.State()
	chats, id := st.Slack.Channels, "ts"
	switch service {
	case "discord":
		chats, id = st.Discord.Channels, "id"
	case "telegram":
		chats, id = st.Telegram.Chats, "message_id"
	}
	for _, ch := range chats {
		for _, m := range ch.Messages {
			out = append(out, sandbox.Place{Service: service, Channel: ch.ID, Message: strings.TrimSuffix(fmt.Sprint(m[id]), ".0")})
		}
	}
	return out
}

// TestKilledBetweenAnySteps runs one request from opening to its last edit,
// killing the daemon with kill -9 before and after each step that it takes,
// and starts it again: nothing is lost, nothing is doubled, every card ends
// truthful.
func TestKilledBetweenAnySteps(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, 12) // each is two processes that mostly wait
	type run struct {
		service string
		rounds  int // 2: the agent asks again after the first answer
	}
	for _, v := range []run{{"slack", 1}, {"discord", 1}, {"telegram", 1}, {"slack", 2}} {
		t.Run(fmt.Sprintf("%s %d", v.service, v.rounds), func(t *testing.T) {
			t.Parallel()
			total := crashOnce(t, v.service, v.rounds, 0, false)
			t.Logf("%d steps", total)
			for at := 1; at <= total; at++ {
				for _, before := range []bool{true, false} {
					t.Run(fmt.Sprintf("step %d before %v", at, before), func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						crashOnce(t, v.service, v.rounds, at, before)
					})
				}
			}
		})
	}
}

// crashOnce returns how many steps the request took.
func crashOnce(t *testing.T, s string, rounds, at int, before bool) int {
	c := newCrashRig(t, s)
	c.connectedOn(s)
	c.k.mu.Lock()
	c.k.at, c.k.before = at, before
	c.k.mu.Unlock()
	// Who supervises the daemon starts it again.
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		revived := false
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if c.k.killed.Load() && !revived {
				revived = true
				c.kill()
				c.k.mu.Lock()
				c.k.killed.Store(false)
				c.k.at = 0
				c.k.mu.Unlock()
				c.startDaemon()
			}
		}
	})
	ctx, cancel := context.WithTimeout(c.ctx, 40*time.Second)
	defer cancel()
	rec, err := c.agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Crash?", Approval: &bridge.Approval{Tool: "t"},
	}}, "the-key")
	if err != nil {
		t.Fatalf("open: %v\n%s", err, c.log)
	}
	done := make(chan bridge.Record, 1)
	wg.Go(func() {
		final, err := c.agent.Wait(ctx, rec.Interaction.ID)
		for round := 1; round < rounds && err == nil; round++ {
			var next bridge.Record
			if next, err = c.agent.Reprompt(ctx, final.Interaction.ID, bridge.Request{Ask: bridge.Ask{
				Error: "once more",
			}}, "the-next-key"); err == nil {
				final, err = c.agent.Wait(ctx, next.Interaction.ID)
			}
		}
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		done <- final
	})
	// Ana presses what she sees until the card is closed.
	var final bridge.Record
	press := time.NewTicker(50 * time.Millisecond)
	defer press.Stop()
	for final.State == "" {
		select {
		case final = <-done:
		case <-press.C:
			for _, p := range c.cards(s) {
				pressCtx, cancelPress := context.WithTimeout(ctx, time.Second)
				_, _ = c.sandbox.Person("ana").Press(pressCtx, p, "Allow once") // there may be nothing to press, or nobody to hear it
				cancelPress()
			}
		}
	}
	if final.State != bridge.StateApproved || final.Response.Actor.Person != "ana" {
		t.Fatalf("ended as %s %+v\n%s", final.State, final.Response, c.log)
	}
	// Every card that anybody can see is closed; one that the daemon lost track
	// of in the crash closes when it is touched.
	c.eventually("every card is truthful", func() bool {
		for _, p := range c.cards(s) {
			m := c.sandbox.Message(p)
			if len(sandbox.Controls(s, m)) > 0 {
				pressCtx, cancelPress := context.WithTimeout(ctx, time.Second)
				_, _ = c.sandbox.Person("ana").Press(pressCtx, p, "Deny") // counts for nothing any more
				cancelPress()
				return false
			}
			if !strings.Contains(sandbox.Texts(m), "Approved once by") && !strings.Contains(sandbox.Texts(m), "ana") {
				return false
			}
		}
		return true
	})
	if s == "discord" && len(c.cards(s)) != 1 {
		t.Errorf("%d cards on discord, whose posts are idempotent", len(c.cards(s)))
	}
	if n := len(c.cards(s)); n < 1 || n > 2 {
		t.Errorf("%d cards", n)
	}
	again, err := c.agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Crash?", Approval: &bridge.Approval{Tool: "t"},
	}}, "the-key")
	if err != nil || again.Interaction.ID != rec.Interaction.ID {
		t.Errorf("the key names %s, not %s: %v", again.Interaction.ID, rec.Interaction.ID, err)
	}
	// An agent that reads again has it, also where the note of that was lost.
	if _, err := c.agent.Wait(ctx, final.Interaction.ID); err != nil {
		t.Error(err)
	}
	events := map[bridge.EventType]int{}
	evCtx, stopEvents := context.WithCancel(ctx)
	err = c.agent.Events(evCtx, "0", "", func(e bridge.Event) error {
		events[e.Type]++
		if e.Type == bridge.EventDelivered && events[e.Type] == rounds {
			stopEvents()
		}
		return nil
	})
	stopEvents()
	if events[bridge.EventRequest] != rounds || events[bridge.EventResponse] != rounds || events[bridge.EventDelivered] != rounds {
		t.Errorf("events %v, %v", events, err)
	}
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	if at == 0 {
		t.Logf("steps: %v", c.k.names)
	}
	return c.k.steps
}
