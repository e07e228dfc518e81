// Package redistest starts real redis-server processes for tests.
package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server of this test's own. It ends with the test.
type Server struct {
	Addr string
	t    testing.TB
	args []string
	cmd  *exec.Cmd
}

// Start starts a server with the given extra arguments, such as
// "--appendonly", "yes".
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	port := FreePort(t)
	s := &Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), t: t}
	s.args = append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(), "--loglevel", "warning"}, args...)
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// Restart starts the server again after Kill and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.cmd = exec.Command(Binary(s.t), s.args...)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("redis-server: %v", err)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for c.Ping(ctx).Err() != nil {
		if ctx.Err() != nil {
			s.t.Fatalf("redis-server on %s does not answer", s.Addr)
		}
	}
}

// Kill ends the server at once, as kill -9 does.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	// The process may be gone already; Wait reports how it ended, which is as asked.
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Client returns a client that ends with the test.
func (s *Server) Client(t testing.TB) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	return c
}

// Binary is the path of redis-server. The test fails without one: `make test`
// installs it.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is not installed; run the tests with `make test`, which installs it")
	}
	return path
}

// Ports for servers that tests start and start again. They lie below the range
// from which systems take the ports of outgoing connections, and a Cluster
// node's second port, 10000 higher, does too. Processes that run at the same
// time share them in blocks: who listens on a block's first port has the block.
const (
	firstPort = 10000
	lastPort  = 19999
	blockSize = 50
)

// ports are this process's blocks. They are never given back, so that no
// other process starts a server where a test is about to restart one.
var ports struct {
	mu     sync.Mutex
	claims []net.Listener
	next   int // of the last claimed block
}

// FreePort returns a port that nobody listens on, and that neither this
// process nor another one that runs tests hands out again.
func FreePort(t testing.TB) int {
	t.Helper()
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for {
		if ports.next%blockSize == 0 && !claimBlock() {
			t.Fatal("no free port")
		}
		port := ports.next
		ports.next++
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
}

// claimBlock takes a block that no process has. It begins anywhere, as other
// programs may have many of them.
func claimBlock() bool {
	const blocks = (lastPort - firstPort + 1) / blockSize
	start := rand.IntN(blocks)
	for n := range blocks {
		first := firstPort + (start+n)%blocks*blockSize
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first)); err == nil {
			ports.claims = append(ports.claims, l)
			ports.next = first + 1
			return true
		}
	}
	return false
}
