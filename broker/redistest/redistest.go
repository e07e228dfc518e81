// Package redistest starts real redis-server processes for tests.
package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
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
// node's second port, 10000 higher, does too.
const (
	firstPort = 10000
	lastPort  = 19999
)

// lastUsed is the port handed out last; a process begins anywhere.
var lastUsed atomic.Int32

// FreePort returns a port that nobody listens on, and that this process hands
// out to nobody else for a while.
func FreePort(t testing.TB) int {
	t.Helper()
	lastUsed.CompareAndSwap(0, firstPort+rand.Int32N(lastPort-firstPort))
	for range lastPort - firstPort {
		port := firstPort + int(lastUsed.Add(1))%(lastPort-firstPort)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		l.Close()
		return port
	}
	t.Fatal("no free port")
	return 0
}
