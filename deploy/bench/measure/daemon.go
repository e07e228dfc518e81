package measure

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

var daemonRows = []row{{"processor time of the daemon for a cycle over HTTP, 64 callers", "µs", "a null handler with the same three calls and sizes", 5.5, true}}

// daemonTime compares the processor time of a daemon for a cycle over HTTP with
// the time of a server that does nothing, at the same number of cycles per
// second. At a higher rate, a server with less work would save time by
// batching. Both are separate processes, so the time of their client, which is
// this process, does not count.
func daemonTime(ctx context.Context, b *harness) ([]figures, error) {
	if timeOf(os.Getpid()) == 0 {
		return nil, skip("this system does not report the processor time of another process")
	}
	d, err := b.startDaemon(ctx, "time")
	if err != nil {
		return nil, err
	}
	defer d.stop()
	r := &recorder{}
	if err := d.installation(&http.Client{Transport: r}).cycle(ctx); err != nil {
		return nil, err
	}
	value, rate, err := b.timeOfCycle(ctx, d.installation(nil).cycle, d.pid)
	if err != nil {
		return nil, err
	}
	b.costs.last.Operation = "cycle, without its callers"
	b.keepCost(0)
	null, err := b.startNull(ctx, r.replies)
	if err != nil {
		return nil, err
	}
	defer null.stop()
	apart, cycle := time.Duration(httpCallers/rate*float64(time.Second)), null.installation(nil).cycle
	other, _, err := b.timeOfCycle(ctx, func(ctx context.Context) error {
		next := time.Now().Add(apart)
		err := cycle(ctx)
		bridge.Pause(ctx, time.Until(next))
		return err
	}, null.pid)
	return []figures{{value, other}}, err
}

// timeOfCycle returns the processor time in µs that a server takes for a cycle,
// and the number of cycles per second.
func (b *harness) timeOfCycle(ctx context.Context, cycle func(context.Context) error, pid int) (micros, rate float64, err error) {
	of := *b
	of.pid = pid
	rate, err = of.repeat(ctx, httpCallers, cycle)
	return b.costs.last.Process, rate, err
}

// served is a server in a process of its own.
type served struct {
	url        string
	pid        int
	agent, ana string // tokens
	stop       func()
}

// installation returns the server for clients that use requests, or the usual
// client if requests is nil.
func (d *served) installation(requests *http.Client) *installation {
	return &installation{url: d.url, token: d.agent, agent: client.New(d.url, d.agent, requests), ana: client.New(d.url, d.ana, requests)}
}

// daemonConfig has the listener, the Redis server, the prefix of keys, two
// tokens, the sandbox, and Slack with one channel and one member.
const daemonConfig = `listen: %s
redis: {url: "redis://%s", prefix: %s}
agents: {bench: {token: %s, per_minute: 1000000, max_pending: 100000}}
sandbox: %s
slack: {bot_token: %s, app_token: %s}
people: {ana: {slack: %s, token: %s}}
routes: {default: {to: ["slack:%s"], responders: [ana]}}
`

// startDaemon starts the nod program and returns once it is ready. This process
// emulates its only platform.
func (b *harness) startDaemon(ctx context.Context, prefix string) (*served, error) {
	chats := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(chats)
	d := &served{agent: config.NewToken(), ana: config.NewToken()}
	endChats := func() { chats.Close(); server.CloseClientConnections(); server.Close() }
	d.stop = endChats
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.stop()
		return nil, err
	}
	listen := l.Addr().String()
	l.Close()
	dir, err := os.MkdirTemp("", "nod-bench-")
	if err != nil {
		d.stop()
		return nil, err
	}
	d.stop = func() { endChats(); _ = os.RemoveAll(dir) } // best effort: the directory is small
	path := filepath.Join(dir, "nod.yaml")
	text := fmt.Sprintf(daemonConfig, listen, b.addr, prefix, d.agent, server.URL, sandbox.SlackBotToken, sandbox.SlackAppToken,
		sandbox.SampleMembers()[0].Slack, d.ana, sandbox.SlackChannel)
	err = os.WriteFile(path, []byte(text), 0o600)
	if said, _ := exec.CommandContext(ctx, b.nod, "config", "check", "--config", path).CombinedOutput(); strings.Contains(string(said), `unknown key "sandbox"`) {
		// The build is from before this key.
		text = strings.NewReplacer("sandbox: "+server.URL+"\n", "", "slack: {", "slack: {api_url: "+server.URL+"/slack/api/, ").Replace(text)
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		d.stop()
		return nil, err
	}
	daemon := exec.CommandContext(ctx, b.nod, "serve", "--config", path)
	if err := daemon.Start(); err != nil {
		d.stop()
		return nil, fmt.Errorf("-nod: %w", err)
	}
	d.url, d.pid = "http://"+listen, daemon.Process.Pid
	d.stop = func() {
		_ = daemon.Process.Kill() // the daemon may have exited
		_ = daemon.Wait()
		endChats()
		_ = os.RemoveAll(dir)
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := awaitReady(wait, d.url); err != nil {
		d.stop()
		return nil, fmt.Errorf("%s serve: %w", b.nod, err)
	}
	return d, nil
}
