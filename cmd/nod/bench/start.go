package bench

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

var startRows = []row{
	{"start of the daemon until ready", "s", limited, 1, true},
	{"memory of an idle daemon", "MiB", limited, 1, true},
	{"size of the binary", "MiB", limited, 1, true},
	{"nod demo --autoplay", "s", limited, 1, true},
}

const (
	mostReady  = 1   // s
	mostIdle   = 64  // MiB
	mostBinary = 64  // MiB
	mostDemo   = 120 // s
)

// starting measures nod as a daemon and as the demo.
func starting(ctx context.Context, b *harness) ([]figures, error) {
	file, err := os.Stat(b.nod)
	if err != nil {
		return nil, err
	}
	ready, memory, err := b.startNod(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	demo := exec.CommandContext(ctx, b.nod, "demo", "--autoplay", "--listen", "127.0.0.1:0")
	if out, err := demo.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("demo: %w: %s", err, out)
	}
	return []figures{{ready, mostReady}, {memory, mostIdle}, {float64(file.Size()) / (1 << 20), mostBinary}, {time.Since(began).Seconds(), mostDemo}}, nil
}

// startNod returns the time in seconds until a daemon is ready, and its memory
// in MiB shortly after.
func (b *harness) startNod(ctx context.Context) (ready, memory float64, err error) {
	chats := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(chats)
	defer func() { chats.Close(); server.CloseClientConnections(); server.Close() }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	listen := l.Addr().String()
	l.Close()
	dir, err := os.MkdirTemp("", "nod-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // best effort: the directory is small
	path := filepath.Join(dir, "nod.yaml")
	text := fmt.Sprintf("listen: %s\nredis: {url: \"redis://%s\", prefix: start}\nslack: {bot_token: %s, app_token: %s, api_url: %s/slack/api/}\npeople: {ana: {slack: %s}}\nroutes: {default: {to: [\"slack:%s\"], responders: [ana]}}\n",
		listen, b.addr, sandbox.SlackBotToken, sandbox.SlackAppToken, server.URL, sandbox.SampleMembers()[0].Slack, sandbox.SlackChannel)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	daemon := exec.CommandContext(ctx, b.nod, "serve", "--config", path)
	if err := daemon.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = daemon.Process.Kill() // it may have exited
		_ = daemon.Wait()
	}()
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := awaitReady(wait, "http://"+listen); err != nil {
		return 0, 0, err
	}
	ready = time.Since(began).Seconds()
	bridge.Pause(ctx, b.span/2)
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(daemon.Process.Pid)).Output()
	if err != nil {
		return ready, 0, nil // a system without ps
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return ready, kib / 1024, err
}
