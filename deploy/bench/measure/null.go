package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// reply holds the response of a daemon to one kind of call.
type reply struct {
	Kind   string // from kindOf
	Status int
	Header http.Header
	Body   []byte
}

// kindOf returns the kind of a call: its method and the depth of its path.
func kindOf(r *http.Request) string {
	return fmt.Sprint(r.Method, " ", strings.Count(r.URL.Path, "/"))
}

// recorder records the reply to each kind of call.
type recorder struct {
	mu      sync.Mutex
	replies []reply
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, reply{kindOf(req), resp.StatusCode, resp.Header.Clone(), body})
	return resp, nil
}

// startNull starts this program as a server that only returns the recorded
// replies.
func (b *harness) startNull(ctx context.Context, replies []reply) (*served, error) {
	raw, err := json.Marshal(replies)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.self, "null")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill() // the server may have exited
		_ = cmd.Wait()
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("bench null: %w", err)
	}
	return &served{url: "http://" + strings.TrimSpace(addr), pid: cmd.Process.Pid, stop: stop}, nil
}

// ServeNull reads replies from r, writes its address to w, and returns the
// replies to calls until ctx ends. As in a daemon, a GET waits until a request
// is answered. But here, the answer to any request ends the wait.
func ServeNull(ctx context.Context, r io.Reader, w io.Writer) error {
	var replies []reply
	if err := json.NewDecoder(r).Decode(&replies); err != nil {
		return err
	}
	kinds := map[string]reply{}
	for _, one := range replies {
		kinds[one.Kind] = one
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answered := make(chan struct{}, httpCallers)
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a client may have disconnected
		switch kind := kindOf(r); {
		case r.Method == http.MethodGet:
			select {
			case <-answered:
			case <-r.Context().Done():
			}
			kinds[kind].write(w)
		case strings.HasSuffix(r.URL.Path, "/response"):
			answered <- struct{}{}
			fallthrough
		default:
			kinds[kind].write(w)
		}
	})}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	fmt.Fprintln(w, l.Addr())
	if err := s.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

func (r reply) write(w http.ResponseWriter) {
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // as above
}
