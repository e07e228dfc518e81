package rig

import (
	"bytes"
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

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// Killer ends the daemon with kill -9 at the step that a test has selected. A
// step is an external effect of the daemon: a write to Redis, or a call of a
// platform.
type Killer struct {
	Mu     sync.Mutex
	Steps  int    // number of steps so far
	At     int    // step to kill at; zero means none
	Name   string // kill at the next step of this name; empty means none
	Before bool
	Kill   func()
	Killed atomic.Bool
	Names  []string
}

// step counts a step and performs it, unless the daemon is dead or dies before
// the step. If the daemon is dead, it returns false, and the response must be
// dropped.
func (k *Killer) step(name string, do func()) bool {
	k.Mu.Lock()
	if k.Killed.Load() {
		k.Mu.Unlock()
		return false
	}
	k.Steps++
	k.Names = append(k.Names, name)
	if k.Steps != k.At && (k.Name == "" || name != k.Name) {
		k.Mu.Unlock()
		do()
		return true
	}
	defer k.Mu.Unlock()
	if !k.Before {
		do()
	}
	k.Kill()
	k.Killed.Store(true) // only now may the supervisor notice the end of the daemon
	return false
}

// redisProxy forwards to Redis and counts the scripts that write.
type redisProxy struct {
	listener net.Listener
	target   string
	k        *Killer
}

func newRedisProxy(t *testing.T, target string, k *Killer) *redisProxy {
	t.Helper()
	p := &redisProxy{listener: Listen(t), target: target, k: k}
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
		// Responses pass unchecked, because a dead daemon does not read them.
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

// transitions lists the changes of an interaction, each with a text that only
// its scripts contain: the types of entries in the journal, a part of a card,
// and the end of a job.
var transitions = []struct{ name, mark string }{
	{"open", "\r\ninteraction_request\r\n"}, {"settle", "\r\ninteraction_response\r\n"}, {"posted", "\r\nposted\r\n"},
	{"part", `"sending":{`}, {"finish", "\r\ndone\r\n"}, {"delivered", "\r\ndelivered\r\n"},
}

// transition returns the name of the first script in the data that changes an
// interaction. It returns "" if there is none.
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

// platformProxy counts the calls of the platforms with effects that people see.
func platformProxy(s http.Handler, k *Killer) http.Handler {
	seen := []string{"chat.postMessage", "chat.update", "/messages", "/callback", "sendMessage", "sendDocument", "editMessageText"}
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
			panic(http.ErrAbortHandler) // the response is lost
		}
		for key, v := range answer.Header() {
			w.Header()[key] = v
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the daemon may have ended
	})
}

// Crash is a daemon process between a Redis and a sandbox. It can be killed at
// any step.
type Crash struct {
	*Rig
	K      *Killer
	binary string
	URL    string
	args   []string
	cmd    *exec.Cmd
	Log    *bytes.Buffer
	mu     sync.Mutex
}

// NewCrash starts a daemon process whose cards go to the given platforms.
func NewCrash(t *testing.T, on ...string) *Crash {
	t.Helper()
	k := &Killer{}
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewUnstartedServer(platformProxy(s, k))
	server.Config.ErrorLog = nil
	server.Start()
	c := &Crash{Rig: &Rig{Hands: person.New(t, t.Context(), s, server.URL), Stored: &await.Bell{}}, K: k, binary: Binary(t), Log: &bytes.Buffer{}}
	c.Faulty = true
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	c.Redis = redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	proxy := newRedisProxy(t, c.Redis.Addr, k)
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
sandbox: %s
slack: {bot_token: %s, app_token: %s}
discord: {bot_token: %s}
telegram: {bot_token: "%s"}
people:
  ana: {slack: U0ANA00001, discord: "300000000000000001", telegram: "7001", token: %s}
  bo: {slack: U0BO000002, discord: "300000000000000002", telegram: "7002", token: %s}
routes:
  default: {to: ["%s"], responders: [ana, bo]}
agents:
  tester: {token: %s}
`, port, proxy.listener.Addr(), server.URL, sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.DiscordToken, sandbox.TelegramToken, AnaToken, BoToken, strings.Join(to, `", "`), TestAgentToken)
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c.args = []string{"serve", "--config", path}
	c.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	c.Agent, c.Person = client.New(c.URL, TestAgentToken, nil), client.New(c.URL, AnaToken, nil)
	k.Kill = c.Kill
	c.StartDaemon()
	t.Cleanup(c.Kill)
	c.Watched()
	return c
}

// StartDaemon starts the daemon process, and waits until it answers.
func (c *Crash) StartDaemon() {
	c.T.Helper()
	c.start()
	defer c.failed()
	await.Until(c.T, "the daemon answers", func() bool {
		resp, err := http.Get(c.URL + "/healthz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// start starts the daemon process.
func (c *Crash) start() {
	c.T.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cmd = exec.Command(c.binary, c.args...)
	c.cmd.Stderr = c.Log
	if err := c.cmd.Start(); err != nil {
		c.T.Fatal(err)
	}
}

// failed ends the daemon of a failed test, and prints the daemon's log.
func (c *Crash) failed() {
	if c.T.Failed() {
		c.Kill()
		c.T.Logf("log of the daemon:\n%s", c.Log)
	}
}

// Kill ends the daemon process with kill -9.
func (c *Crash) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != nil {
		_ = c.cmd.Process.Kill() // the process may have exited
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

// Restart ends the daemon with kill -9, unless it is dead, and starts it again.
// It ends the leases of the dead daemon, because Redis measures their time. The
// tests of the broker prove that they end on their own.
func (c *Crash) Restart() {
	c.T.Helper()
	c.Kill()
	c.K.Mu.Lock()
	c.K.At, c.K.Name = 0, ""
	c.K.Killed.Store(false)
	c.K.Mu.Unlock()
	if err := endLeases.Run(c.Ctx, c.Redis.Client(c.T), nil).Err(); err != nil {
		c.T.Fatal(err)
	}
	c.StartDaemon()
}

// endLeases makes leased jobs due, and removes all other leases and the front ends that
// daemons registered.
var endLeases = redis.NewScript(`
for _, key in ipairs(redis.call('KEYS', '*:states')) do
  local jobs = redis.call('HGETALL', key)
  for n = 1, #jobs, 2 do
    if not jobs[n + 1]:find('|0$') then redis.call('ZADD', (key:gsub(':states$', ':jobs')), 'XX', 1, jobs[n]) end
  end
end
for _, pattern in ipairs({'*:d:lease:*', '*:x:clients:*', '*:x:able:*'}) do
  for _, key in ipairs(redis.call('KEYS', pattern)) do redis.call('DEL', key) end
end
return 1`)

// Configure adds lines to the config, and restarts the daemon with it.
func (c *Crash) Configure(lines string) {
	c.T.Helper()
	path := c.args[len(c.args)-1]
	old, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(old, lines...), 0o600)
	}
	if err != nil {
		c.T.Fatal(err)
	}
	c.Restart()
}

// KillAt selects the step at which the daemon dies: a step by its number, or
// the next step with a name. The daemon dies before or after that step.
func (c *Crash) KillAt(step int, name string, before bool) {
	c.K.Mu.Lock()
	defer c.K.Mu.Unlock()
	c.K.At, c.K.Name, c.K.Before = step, name, before
}

// ConnectedOn waits until the bot is connected to the platform.
func (c *Crash) ConnectedOn(service string) {
	c.T.Helper()
	defer c.failed()
	c.Eventually("the daemon is connected", func() bool { return c.Sandbox.Connections(service) > 0 })
}

// Cards returns the messages on a platform that show controls or an outcome.
func (c *Crash) Cards(service string) []sandbox.Place {
	var out []sandbox.Place
	for _, ch := range c.Sandbox.Chats(service) {
		for _, m := range ch.Messages {
			out = append(out, sandbox.Place{Service: service, Channel: ch.ID, Message: MessageID(service, m)})
		}
	}
	return out
}
