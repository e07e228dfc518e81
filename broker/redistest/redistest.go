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

// Server is a redis-server process for one test. It ends with the test.
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

// Kill ends the server immediately, like kill -9.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	// The process may have ended already; Wait reports that it was killed.
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

// Binary returns the path of redis-server. The test fails if it is not
// installed; `make test` installs it.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is not installed; run the tests with `make test`, which installs it")
	}
	return path
}

// Ports for servers that tests start and restart. They are below the range from
// which systems take the ports of outgoing connections, and so is the second
// port of a Cluster node, which is 10000 higher. Concurrent processes share
// them in blocks: the process that listens on the first port of a block owns
// the block.
const (
	firstPort = 10000
	lastPort  = 19999
	blockSize = 50
)

// ports holds the blocks of this process. They are never released, so that no
// other process starts a server where a test is about to restart one.
var ports struct {
	mu     sync.Mutex
	claims []net.Listener
	next   int // of the last claimed block
}

// FreePort returns a port on which no process listens, and which no process
// that runs tests hands out again.
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

// claimBlock claims a free block. It starts at a random one, because other
// programs may use many ports of a block.
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
