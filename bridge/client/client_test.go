package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

// calls contains a call of each method, the request that it sends, the response,
// and the result that the method returns.
var calls = map[string]struct {
	do     func(context.Context, *client.Client) (any, error)
	sends  string
	answer string
	gives  any
}{
	"Get": {func(ctx context.Context, c *client.Client) (any, error) {
		r, err := c.Get(ctx, id)
		return r.State, err
	}, "GET /v1/interactions/" + id + " ", approved, bridge.StateApproved},
	"List": {func(ctx context.Context, c *client.Client) (any, error) {
		l, err := c.List(ctx, bridge.ListFilter{State: bridge.StatePending, Session: "a b", Cursor: "c", Limit: 7})
		return len(l.Items), err
	}, "GET /v1/interactions?cursor=c&limit=7&session=a+b&state=pending ", `{"items":[` + approved + `]}`, 1},
	"List of all": {func(ctx context.Context, c *client.Client) (any, error) {
		l, err := c.List(ctx, bridge.ListFilter{})
		return len(l.Items), err
	}, "GET /v1/interactions ", `{"items":[]}`, 0},
	"Respond": {func(ctx context.Context, c *client.Client) (any, error) {
		r, err := c.Respond(ctx, id, bridge.Reply{Decision: bridge.DecideDeny, Reason: "no"})
		return r.State, err
	}, "POST /v1/interactions/" + id + `/response {"decision":"deny","reason":"no"}`, `{"id":"` + id + `","state":"denied","revision":2}`, bridge.StateDenied},
	"Cancel": {func(ctx context.Context, c *client.Client) (any, error) {
		r, err := c.Cancel(ctx, id, "over")
		return r.State, err
	}, "POST /v1/interactions/" + id + `/cancel {"reason":"over"}`, approved, bridge.StateApproved},
	"CancelSession": {func(ctx context.Context, c *client.Client) (any, error) {
		l, err := c.CancelSession(ctx, "a/b", "over")
		return len(l.Items), err
	}, `POST /v1/sessions/a%2Fb/cancel {"reason":"over"}`, `{"items":[` + approved + `]}`, 1},
	"Queue": {func(ctx context.Context, c *client.Client) (any, error) {
		r, err := c.Queue(ctx, id, bridge.Duration(time.Hour), "later")
		return r.State, err
	}, "POST /v1/interactions/" + id + `/pending {"hold":"1h0m0s","message":"later"}`, pending, bridge.StatePending},
	"Complete": {func(ctx context.Context, c *client.Client) (any, error) {
		r, err := c.Complete(ctx, id, bridge.Completion{})
		return r.State, err
	}, "POST /v1/interactions/" + id + `/complete {}`, approved, bridge.StateApproved},
	"Grants": {func(ctx context.Context, c *client.Client) (any, error) {
		g, err := c.Grants(ctx, "s")
		return g.Items[0].ID + " " + g.Items[0].Words + " " + g.Items[0].Agent, err
	}, "GET /v1/grants?session=s ", `{"items":[{"id":"g1","words":"w","agent":"ci"}]}`, "g1 w ci"},
	"Revoke": {func(ctx context.Context, c *client.Client) (any, error) {
		g, err := c.Revoke(ctx, "g/1")
		return g.ID, err
	}, "DELETE /v1/grants/g%2F1 ", `{"id":"g/1"}`, "g/1"},
	"Messages": {func(ctx context.Context, c *client.Client) (any, error) {
		m, err := c.Messages(ctx, "s")
		return len(m), err
	}, "GET /v1/sessions/s/messages ", `{"items":[]}`, 0},
	"Acknowledge": {func(ctx context.Context, c *client.Client) (any, error) {
		return nil, c.Acknowledge(ctx, "s", "m1")
	}, `POST /v1/sessions/s/messages/ack {"through":"m1"}`, "", nil},
	"Availability": {func(ctx context.Context, c *client.Client) (any, error) {
		_, err := c.Availability(ctx, "r", "s")
		return nil, err
	}, "GET /v1/availability?route=r&session=s ", `{}`, nil},
	"Recall": {func(ctx context.Context, c *client.Client) (any, error) {
		return c.Approvals().Get(ctx, "k", "s")
	}, `POST /v1/approvals/recall {"key":"k","session":"s"}`, `{"key":"k","scope":"session"}`, bridge.ScopeSession},
	"Remember": {func(ctx context.Context, c *client.Client) (any, error) {
		return nil, c.Approvals().Set(ctx, "k", bridge.ScopeAlways, "s")
	}, `PUT /v1/approvals {"key":"k","session":"s","scope":"always"}`, "", nil},
	"ClearSession": {func(ctx context.Context, c *client.Client) (any, error) {
		return nil, c.Approvals().ClearSession(ctx, "s")
	}, "DELETE /v1/approvals?session=s ", "", nil},
	"Keys": {func(ctx context.Context, c *client.Client) (any, error) {
		k, err := c.Keys(ctx)
		return len(k.Keys), err
	}, "GET /v1/keys ", `{"keys":[]}`, 0},
	"Link": {func(ctx context.Context, c *client.Client) (any, error) {
		return c.Link(ctx, "CODE", true)
	}, `POST /v1/links {"code":"CODE","confirm":true}`, `{"said":"linked"}`, "linked"},
	"Links": {func(ctx context.Context, c *client.Client) (any, error) {
		l, err := c.Links(ctx)
		return l.Items[0].User, err
	}, "GET /v1/links ", `{"items":[{"user":"U1"}]}`, "U1"},
	"Unlink": {func(ctx context.Context, c *client.Client) (any, error) {
		return nil, c.Unlink(ctx, "chat", "U/1")
	}, "DELETE /v1/links/chat/U%2F1 ", "", nil},
}

// TestCalls checks the call that each method makes, and the result that it
// returns.
func TestCalls(t *testing.T) {
	t.Parallel()
	for name, x := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, d := newClient(says(http.StatusOK, x.answer))
			c.Trace = "00-trace"
			got, err := x.do(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			sent := d.calls[0]
			if diff := cmp.Diff(x.sends, sent.method+" "+sent.uri+" "+sent.body); diff != "" || len(d.calls) > 1 {
				t.Errorf("%d calls, (-want +got):\n%s", len(d.calls), diff)
			}
			if diff := cmp.Diff(x.gives, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if h := sent.header; h.Get("Authorization") != "Bearer "+token || h.Get("Traceparent") != "00-trace" ||
				(h.Get("Content-Type") == "application/json") != (sent.body != "") {
				t.Errorf("headers %v", h)
			}
		})
	}
}

// TestForeign checks that a response that no daemon sends is an error that is
// not retried, whatever its status.
func TestForeign(t *testing.T) {
	t.Parallel()
	page := func(*http.Request) (*http.Response, error) { return respond(http.StatusOK, "text/html", "<html>"), nil }
	for name, f := range map[string]answer{
		"a page":           page,
		"no JSON":          says(http.StatusOK, `{`),
		"another ID":       says(http.StatusOK, strings.Replace(approved, id, other, 1)),
		"no ID":            says(http.StatusOK, `{"state":"approved"}`),
		"an unknown state": says(http.StatusOK, strings.Replace(approved, `"state":"approved"`, `"state":"maybe"`, 1)),
		"two meanings":     says(http.StatusOK, strings.Replace(approved, `,"state"`, `,"state":"denied","state"`, 1)),
		"a redirect":       says(http.StatusFound, ""),
	} {
		c, d := newClient(f)
		_, err := c.Wait(t.Context(), id)
		codeIs(t, name, err, bridge.CodeInternal)
		if len(d.calls) != 1 {
			t.Errorf("%s: %d calls", name, len(d.calls))
		}
		for method, do := range map[string]func() error{
			"get":     func() error { _, err := c.Get(t.Context(), id); return err },
			"respond": func() error { _, err := c.Respond(t.Context(), id, bridge.Reply{}); return err },
			"cancel":  func() error { _, err := c.Cancel(t.Context(), id, ""); return err },
		} {
			codeIs(t, name+" to "+method, do(), bridge.CodeInternal)
		}
	}
	c, _ := newClient(says(http.StatusOK, `{"interaction":{"id":"x"},"state":"pending"}`))
	_, err := c.Open(t.Context(), request(), "")
	codeIs(t, "an opened request without an ID", err, bridge.CodeInternal)
}

// TestRedirect checks that the token is sent to the configured URL only.
func TestRedirect(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(elsewhere.Close)
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	if _, err := client.New(s.URL, token, nil).Get(t.Context(), id); err == nil {
		t.Error("a redirect is accepted as a response")
	}
	if leaked.Load() > 0 {
		t.Error("the redirect was followed")
	}
}

// TestErrors checks that an error of the API is returned as the daemon sent it,
// with the time to wait.
func TestErrors(t *testing.T) {
	t.Parallel()
	c, _ := newClient(func(r *http.Request) (*http.Response, error) {
		resp, err := refuses(bridge.CodeForbidden)(r)
		resp.Header.Set("Retry-After", "3")
		return resp, err
	})
	_, err := c.Get(t.Context(), id)
	e := bridge.PublicError(err)
	if e.Code != bridge.CodeForbidden || e.Message != "no" || e.Hint != "try" || e.RetryAfter != 3*time.Second {
		t.Errorf("the error is %+v, want that of the response", e)
	}
	bad := client.New("http://[", token, nil)
	_, err = bad.Get(t.Context(), id)
	codeIs(t, "an address that is not a URL", err, bridge.CodeInvalid)
	if bridge.PublicError(err).Hint == "" {
		t.Error("the error has no hint how to fix the URL")
	}
	codeIs(t, "the audit log there", bad.Audit(t.Context(), nil), bridge.CodeInvalid)
	_, err = bad.Exchange(t.Context(), client.Exchange{})
	codeIs(t, "a message there", err, bridge.CodeInvalid)
}

// TestTooLong checks that a daemon which does not read the whole request is heard
// nevertheless.
func TestTooLong(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(bridge.HeaderDaemon, "test")
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, `{"error":{"code":"invalid","message":"too long"}}`)
	}))
	t.Cleanup(s.Close)
	c := client.New(s.URL, token, nil)
	c.Patience = time.Second
	for _, size := range []int{2 << 20, 50 << 20} {
		_, err := c.Exchange(t.Context(), client.Exchange{Path: "/v1/dialects/x", Body: make([]byte, size)})
		codeIs(t, fmt.Sprint(size, " bytes"), err, bridge.CodeInvalid)
	}
}
