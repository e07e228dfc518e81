// Package redistest starts real redis-server processes for tests.
package redistest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// Server is a redis-server process for tests, or one database of the process
// that the tests of a package share.
type Server struct {
	Addr string
	t    testing.TB
	args []string
	cmd  *exec.Cmd
	db   int // 0 on a separate server
}

// Start starts a server for one test, with the given extra arguments, such as
// "--appendonly", "yes". It ends with the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := newServer(t, append([]string{"--dir", t.TempDir()}, args...)...)
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// newServer returns a server on a free port without starting it.
func newServer(t testing.TB, args ...string) *Server {
	port := FreePort(t)
	standard := []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--loglevel", "warning",
		"--repl-diskless-sync-delay", "0", // otherwise the first replica waits 5 s for others
	}
	return &Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), t: t, args: append(standard, args...)}
}

// shared is the process that the tests of a package share.
var shared struct {
	mu     sync.Mutex
	server *Server
	dir    string
	next   int // database
}

// databases is the number of databases of the shared process.
const databases = 4096

// Shared returns an empty database of a server that the tests of a package
// share. The server stores nothing on disk, and no test may end it. TestMain
// must call Close.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil {
		dir, err := os.MkdirTemp("", "nod-redis-")
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, "--dir", dir, "--databases", strconv.Itoa(databases))
		s.Restart()
		shared.server, shared.dir = s, dir
	}
	if shared.next++; shared.next >= databases {
		t.Fatal("no database left")
	}
	return &Server{Addr: shared.server.Addr, t: t, db: shared.next}
}

// Close ends the server that the tests of a package share.
func Close() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server != nil {
		shared.server.Kill()
		_ = os.RemoveAll(shared.dir) // the directory is empty
		shared.server = nil
	}
}

// Restart starts the server again after Kill and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.own()
	s.cmd = exec.Command(Binary(s.t), s.args...)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("redis-server: %v", err)
	}
	await.Until(s.t, "redis-server answers on "+s.Addr, func() bool { return answers(s.Addr) })
}

// answers reports whether a server is ready. It does not use a client of
// package redis, which waits longer after each attempt.
func answers(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	answer := make([]byte, len("+PONG"))
	_, err = io.WriteString(c, "PING\r\n")
	if err == nil {
		_, err = io.ReadFull(c, answer)
	}
	return err == nil && string(answer) == "+PONG"
}

// Kill ends the server immediately, like kill -9.
func (s *Server) Kill() {
	s.own()
	if s.cmd == nil {
		return
	}
	// The process may have ended already; Wait reports that it was killed.
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// own fails the test if other tests use the process.
func (s *Server) own() {
	if s.db > 0 {
		s.t.Helper()
		s.t.Fatal("the server is shared; start one for this test")
	}
}

// Client returns a client that ends with the test.
func (s *Server) Client(t testing.TB) *redis.Client { return s.Via(t, s.Addr) }

// Via is Client through a proxy on another address.
func (s *Server) Via(t testing.TB, addr string) *redis.Client {
	return s.client(t, &redis.Options{Addr: addr})
}

// Over is Client over the connections that dial opens.
func (s *Server) Over(t testing.TB, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *redis.Client {
	return s.client(t, &redis.Options{Addr: s.Addr, Dialer: dial})
}

func (s *Server) client(t testing.TB, o *redis.Options) *redis.Client {
	o.DB, o.ContextTimeoutEnabled = s.db, true
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

// URL returns the address for a configuration.
func (s *Server) URL() string { return fmt.Sprintf("redis://%s/%d", s.Addr, s.db) }

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

// Ports for servers that tests start and restart. They are below the range of
// ports that systems use for outgoing connections. The second port of a Cluster
// node, which is 10000 higher, is also below that range. Concurrent processes
// share the ports in blocks: the process that listens on the first port of a
// block owns the block.
const (
	firstPort = 10000
	lastPort  = 19999
	blockSize = 50
)

// ports holds the blocks of this process. It never releases them, so that no
// other process starts a server on a port that a test is about to use again.
var ports struct {
	mu     sync.Mutex
	claims []net.Listener
	next   int // next port of the last claimed block
}

// FreePort returns a port on which no process listens, and which no test
// process returns again.
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
		syscall.ForkLock.RLock() // a process that starts now would keep the port open for a moment
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
		}
		syscall.ForkLock.RUnlock()
		if err == nil {
			return port
		}
	}
}

// claimBlock claims a free block. It starts with a random block, because other
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

// Content returns the value of each key in a form that changes with the value.
func Content(t testing.TB, c redis.UniversalClient) map[string]string {
	t.Helper()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, key := range keys {
		if out[key], err = c.Dump(t.Context(), key).Result(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
