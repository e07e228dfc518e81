package client_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// table is the behavior of all clients: what a server answers, and the outcome
// of a call.
type table struct {
	Request bridge.Request             `json:"request"`
	Records map[string]json.RawMessage `json:"records"`
	Cases   []tableCase                `json:"cases"`
}

type tableCase struct {
	Name     string        `json:"name"`
	Do       string        `json:"do"`    // approve if empty
	URL      string        `json:"url"`   // of the daemon, from {url} and {host} of the server; {url} if empty
	Host     string        `json:"host"`  // where the server listens; 127.0.0.1 if empty
	Under    string        `json:"under"` // the path before those of the API
	Answers  []tableAnswer `json:"answers"`
	Want     string        `json:"want"`
	Deadline float64       `json:"deadline"` // seconds
	Window   float64       `json:"window"`   // seconds; that of the client by default
	Opens    *int          `json:"opens"`    // distinct callers that open a request, 1 by default
	Posts    int           `json:"posts"`
	Cancels  int           `json:"cancels"`
}

type tableAnswer struct {
	Record  string            `json:"record"`
	Set     map[string]any    `json:"set"`
	Replace []string          `json:"replace"`
	Keep    *int              `json:"keep"`
	Text    string            `json:"text"`
	Bytes   *string           `json:"bytes"`
	Status  int               `json:"status"`
	Type    string            `json:"type"`
	Headers map[string]string `json:"headers"`
	Before  string            `json:"before"`
	Drop    bool              `json:"drop"`
	Hang    bool              `json:"hang"` // after what is sent
	Pace    float64           `json:"pace"` // seconds between pieces of 100 bytes
	Pad     int               `json:"pad"`  // blanks after the body
	Proxy   bool              `json:"proxy"`
	Chunked bool              `json:"chunked"`
	Cut     *int              `json:"cut"`
}

func readTable(t *testing.T) table {
	t.Helper()
	raw, err := os.ReadFile("../../deploy/clients/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all table
	if err := json.Unmarshal(raw, &all); err != nil || len(all.Cases) < 100 {
		t.Fatal(len(all.Cases), err)
	}
	return all
}

// body returns the body of an answer.
func (a tableAnswer) body(t *testing.T, records map[string]json.RawMessage) []byte {
	if a.Record == "" {
		return []byte(a.Text)
	}
	var rec map[string]any
	if err := json.Unmarshal(records[a.Record], &rec); err != nil {
		t.Error(err)
	}
	for path, value := range a.Set {
		names, at := strings.Split(path, "."), rec
		for _, n := range names[:len(names)-1] {
			at, _ = at[n].(map[string]any)
		}
		at[names[len(names)-1]] = value
	}
	raw, err := bridge.EncodeJSON(rec)
	if err != nil {
		t.Error(err)
	}
	if len(a.Replace) == 2 {
		if a.Replace[0] == "$" {
			return append(raw, a.Replace[1]...)
		}
		raw = bytes.ReplaceAll(raw, []byte(a.Replace[0]), []byte(a.Replace[1]))
		return bytes.ReplaceAll(raw, []byte(`\xff`), []byte{0xff})
	}
	if a.Keep != nil {
		raw = raw[:*a.Keep]
	}
	return raw
}

// bytes returns everything that the server sends for an answer.
func (a tableAnswer) bytes(t *testing.T, records map[string]json.RawMessage, other string) []byte {
	if a.Bytes != nil || a.Drop || a.Hang && a.Cut == nil {
		if a.Bytes == nil {
			return nil
		}
		return []byte(*a.Bytes)
	}
	content := append(a.body(t, records), bytes.Repeat([]byte(" "), a.Pad)...)
	header := map[string]string{"Content-Type": "application/json", "Content-Length": fmt.Sprint(len(content))}
	if a.Type != "" {
		header["Content-Type"] = a.Type
	}
	if !a.Proxy {
		header[bridge.HeaderDaemon] = "test"
	}
	for name, v := range a.Headers {
		header[name] = strings.ReplaceAll(v, "{other}", other)
	}
	if a.Chunked {
		delete(header, "Content-Length")
		header["Transfer-Encoding"] = "chunked"
		content = fmt.Appendf(nil, "64\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", content[:100], len(content)-100, content[100:])
	}
	out := fmt.Appendf(nil, "%sHTTP/1.1 %d x\r\nConnection: close\r\n", a.Before, max(a.Status, 200*(1-min(a.Status, 1))))
	for name, v := range header {
		out = fmt.Appendf(out, "%s: %s\r\n", name, v)
	}
	if a.Cut != nil {
		content = content[:*a.Cut]
	}
	return append(append(out, "\r\n"...), content...)
}

// stub answers calls in the order of a case. The last answer repeats.
type stub struct {
	url, host, under     string
	called               func() // at the first call
	mu                   sync.Mutex
	hits, posts, cancels int
	callers              map[string]bool
}

func newStub(t *testing.T, records map[string]json.RawMessage, x tableCase, other string) *stub {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(x.Host, "127.0.0.1"), "0"))
	if err != nil {
		t.Skip(err)
	}
	s := &stub{host: l.Addr().String(), url: "http://" + l.Addr().String(), under: x.Under, called: func() {}, callers: map[string]bool{}}
	quit := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the client may be gone
		a := s.next(r, x.Answers)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		all := a.bytes(t, records, other)
		for len(all) > 0 && a.Pace > 0 { // until the client is gone
			n := min(100, len(all))
			if _, err := conn.Write(all[:n]); err != nil {
				return
			}
			time.Sleep(time.Duration(a.Pace * float64(time.Second))) // not a wait of the test: the pace of the server
			all = all[n:]
		}
		_, _ = conn.Write(all)
		if a.Hang {
			<-quit
		}
	}), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until the test ends
	t.Cleanup(func() { close(quit); _ = server.Close() })
	return s
}

func (s *stub) next(r *http.Request, answers []tableAnswer) tableAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.EscapedPath() == s.under+"/v1/interactions" {
		s.posts++
		s.callers[r.Header.Get("Nod-Caller")] = true
	}
	if strings.HasSuffix(r.URL.Path, "/cancel") {
		s.cancels++
		return tableAnswer{Record: "cancelled"}
	}
	if s.hits++; s.hits == 1 {
		s.called()
	}
	return answers[min(s.hits, len(answers))-1]
}

// outcome makes the call of a case, and returns its outcome as a text.
func (x tableCase) outcome(ctx context.Context, c *client.Client, all table) string {
	got, err := x.call(ctx, c, all)
	if _, repeated := errors.AsType[*bridge.RepeatedError](err); repeated {
		return "error conflict"
	}
	switch {
	case err == nil:
		return got
	case errors.Is(err, client.ErrUnexpected):
		return "error unexpected"
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return "error deadline"
	}
	return "error " + string(bridge.ErrorCode(err))
}

func (x tableCase) call(ctx context.Context, c *client.Client, all table) (string, error) {
	switch x.Do {
	case "show":
		rec, err := c.Get(ctx, id)
		return string(rec.State), err
	case "wait":
		rec, err := c.Wait(ctx, id)
		return string(rec.State), err
	case "list":
		page, err := c.List(ctx, bridge.ListFilter{})
		if err != nil {
			return "", err
		}
		return string(page.Items[0].State), nil
	case "messages":
		all, err := c.Messages(ctx, "ship")
		if err != nil {
			return "", err
		}
		return all[0].Text, nil
	case "exchange":
		got, err := c.Exchange(ctx, client.Exchange{Path: "/v1/dialects/x", Body: []byte("{}")})
		if err == nil && !json.Valid(got) { // a text
			got, err = json.Marshal(string(got))
		}
		return string(bytes.ReplaceAll(got, []byte(": "), []byte(":"))), err
	case "ask":
		r := bridge.Request{Ask: bridge.Ask{Prompt: "Which region?", Questions: []bridge.Question{{
			ID: "q", Widget: bridge.WidgetButtons, Options: []bridge.Option{{Value: "eu"}, {Value: "us"}},
		}}}}
		rec, err := c.Request(ctx, r, client.RequestOptions{})
		if err != nil {
			return "", err
		}
		if rec.State != bridge.StateAnswered {
			return "none", nil
		}
		return rec.Response.Answers["q"].Text, nil
	}
	r := all.Request
	if x.Do == "decide" {
		a := *r.Approval
		a.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce, bridge.DecideEdit}
		r.Approval = &a
	}
	rec, err := c.Request(ctx, r, client.RequestOptions{})
	if err != nil {
		return "", err
	}
	out := fmt.Sprint(rec.State == bridge.StateApproved)
	if x.Do == "decide" && rec.State == bridge.StateApproved {
		out += " " + string(rec.Response.Input)
	}
	return out, nil
}

// TestCases plays the table that the clients for Python and TypeScript play as
// well.
func TestCases(t *testing.T) {
	t.Parallel()
	all := readTable(t)
	// Sixteen cases are played at a time: most of them wait.
	var playing sync.WaitGroup
	turns := make(chan bool, 16)
	for _, x := range all.Cases {
		turns <- true
		playing.Go(func() {
			t.Run(x.Name, func(t *testing.T) { x.play(t, all) })
			<-turns
		})
	}
	playing.Wait()
}

func (x tableCase) play(t *testing.T, all table) {
	other := newStub(t, all.Records, tableCase{Answers: []tableAnswer{{Record: "approved"}}}, "")
	s := newStub(t, all.Records, x, other.url)
	address := strings.NewReplacer("{url}", s.url, "{host}", s.host).Replace(cmp.Or(x.URL, "{url}"))
	c := client.New(address, token, nil)
	c.Patience, c.Window = await.Limit, time.Duration(x.Window*float64(time.Second))
	if strings.Contains(x.Want, string(bridge.CodeUnavailable)) { // the client has to give up
		c.Patience = 800 * time.Millisecond
	}
	ctx := t.Context()
	if x.Deadline > 0 {
		var pass func()
		ctx, pass = await.Deadline(ctx)
		s.mu.Lock()
		s.called = func() { time.AfterFunc(time.Duration(x.Deadline*float64(time.Second)), pass) }
		s.mu.Unlock()
	}
	if got := x.outcome(ctx, c, all); got != x.Want {
		t.Errorf("got %q, want %q", got, x.Want)
	}
	opens := 1
	if x.Opens != nil {
		opens = *x.Opens
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.callers) != opens || other.hits != 0 || s.cancels != x.Cancels || x.Posts > 0 && s.posts != x.Posts {
		t.Errorf("%d callers in %d posts, %d cancellations, %d calls of another host", len(s.callers), s.posts, s.cancels, other.hits)
	}
}
