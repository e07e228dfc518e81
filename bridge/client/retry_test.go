package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestOpenRepeats checks that a request that is sent again after an outage has
// the same key, so that people are asked once.
func TestOpenRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, key := range []string{"", "mine"} {
			c, d := newClient(drops, refuses(bridge.CodeUnavailable), refuses(bridge.CodeRateLimited), says(http.StatusCreated, pending))
			rec, err := c.Open(t.Context(), request(), key)
			if err != nil || rec.Interaction.ID != id || len(d.calls) != 4 {
				t.Fatalf("%+v, %v after %d calls", rec, err, len(d.calls))
			}
			for _, x := range d.calls {
				got := x.header.Get("Nod-Caller")
				if got == "" || got != d.calls[0].header.Get("Nod-Caller") || x.header.Get("Idempotency-Key") != key || x.body != d.calls[0].body {
					t.Errorf("caller %q, body %s", got, x.body)
				}
			}
		}
		c, d := newClient(drops, says(http.StatusOK, pending))
		if _, err := c.Reprompt(t.Context(), id, request(), ""); err != nil || d.calls[0].header.Get("Nod-Caller") == "" ||
			d.calls[0].header.Get("Nod-Caller") != d.calls[1].header.Get("Nod-Caller") {
			t.Errorf("a follow-up: %v, %+v", err, d.calls)
		}
	})
}

// TestRefusalIsFinal checks that only calls that fail because of an outage are
// retried.
func TestRefusalIsFinal(t *testing.T) {
	t.Parallel()
	for _, code := range []bridge.Code{bridge.CodeInvalid, bridge.CodeConflict, bridge.CodeForbidden, bridge.CodeNotFound} {
		c, d := newClient(refuses(code))
		_, err := c.Open(t.Context(), request(), "")
		codeIs(t, "a refusal", err, code)
		if len(d.calls) != 1 {
			t.Errorf("%s: %d calls", code, len(d.calls))
		}
	}
	c, d := newClient(drops)
	if _, err := c.Approvals().Get(t.Context(), "k", "s"); err == nil || len(d.calls) != 1 {
		t.Errorf("an approval that is handed out once was asked for %d times: %v", len(d.calls), err)
	}
}

// TestGivesUp checks how long a daemon may be unreachable, and that the time
// starts over when an outage ends.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		answers  []answer
		patience time.Duration
		from, to time.Duration
	}{
		"by default":       {[]answer{drops}, 0, 2 * time.Minute, 2*time.Minute + 5*time.Second},
		"with patience":    {[]answer{drops}, 10 * time.Second, 10 * time.Second, 15 * time.Second},
		"of a server":      {[]answer{says(http.StatusBadGateway, "")}, 10 * time.Second, 10 * time.Second, 15 * time.Second},
		"that hangs":       {[]answer{hangs}, 10 * time.Second, 35 * time.Second, 75 * time.Second},
		"that was reached": {[]answer{drops, drops, says(http.StatusOK, pending), slow, drops}, 10 * time.Second, 30 * time.Second, 40 * time.Second},
		"that fails late":  {[]answer{slow}, 10 * time.Second, 20 * time.Second, 45 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, d := newClient(x.answers...)
				c.Patience = x.patience
				began := time.Now()
				_, err := c.Wait(t.Context(), id)
				codeIs(t, "an outage", err, bridge.CodeUnavailable)
				if took := time.Since(began); took < x.from || took > x.to {
					t.Errorf("gave up after %s and %d calls, want %s to %s", took, len(d.calls), x.from, x.to)
				}
			})
		})
	}
}

// slow is an answer whose connection breaks while the daemon waits for people.
func slow(*http.Request) (*http.Response, error) {
	bridge.Pause(context.Background(), 20*time.Second)
	return nil, io.ErrUnexpectedEOF
}

// TestWaitPauses checks that a server that answers at once is not asked all the
// time.
func TestWaitPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, d := newClient(says(http.StatusOK, pending))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) || len(d.calls) > 21 {
			t.Errorf("%d calls in 10 s: %v", len(d.calls), err)
		}
	})
}

// TestSentAsWritten checks that the encoding of a request escapes only what JSON
// requires.
func TestSentAsWritten(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("<&>é\u2028", 100)
	r := request()
	r.Prompt = text
	c, d := newClient(says(http.StatusCreated, pending))
	_, _ = c.Open(t.Context(), r, "") // the answer is for another request
	if len(d.calls) != 1 || !strings.Contains(d.calls[0].body, text) {
		t.Errorf("sent: %+v", d.calls)
	}
}

// TestWait checks that Wait continues while a request is pending, and ends with
// its context.
func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, d := newClient(says(http.StatusOK, pending), drops, says(http.StatusOK, pending), says(http.StatusOK, approved))
		rec, err := c.Wait(t.Context(), id)
		if err != nil || rec.State != bridge.StateApproved || len(d.calls) != 4 {
			t.Errorf("%s, %v after %d calls", rec.State, err, len(d.calls))
		}
		if want := "/v1/interactions/" + id + "?wait=25s"; d.calls[0].uri != want {
			t.Errorf("it calls %s, want %s", d.calls[0].uri, want)
		}
		for _, f := range []answer{drops, hangs} {
			c, _ := newClient(f)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := c.Wait(ctx, id)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a caller that has cancelled: %v", err)
			}
		}
		if want := "/v1/interactions/" + id + "?wait=1ms"; d.calls[2].uri != want {
			t.Errorf("after a failure, it calls %s, want %s", d.calls[2].uri, want)
		}
		c, d = newClient(says(http.StatusOK, pending), says(http.StatusOK, `{"items":[{"id":"m1","session":"s"}]}`))
		if m, err := c.WaitMessages(t.Context(), "s"); err != nil || len(m) != 1 || len(d.calls) != 2 {
			t.Errorf("%+v, %v after %d calls", m, err, len(d.calls))
		}
	})
}

// TestAudit checks that an incomplete audit log is an error.
func TestAudit(t *testing.T) {
	t.Parallel()
	log := func(complete string, tail io.Reader) answer {
		return func(*http.Request) (*http.Response, error) {
			r := respond(http.StatusOK, "application/jsonl", "")
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader("1\n2\n"), tail))
			r.Trailer = http.Header{"Nod-Complete": {complete}}
			return r, nil
		}
	}
	end := strings.NewReader("")
	for name, x := range map[string]struct {
		answer answer
		code   bridge.Code
	}{
		"whole": {log("true", end), ""}, "without an end": {log("", end), bridge.CodeUnavailable},
		"broken":  {log("true", broken{}), bridge.CodeUnavailable},
		"refused": {refuses(bridge.CodeForbidden), bridge.CodeForbidden}, "unreachable": {drops, bridge.CodeUnavailable},
	} {
		c, _ := newClient(x.answer)
		var out bytes.Buffer
		err := c.Audit(t.Context(), &out)
		if x.code == "" && (err != nil || out.String() != "1\n2\n") || x.code != "" && bridge.ErrorCode(err) != x.code {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}

// broken is a body whose connection breaks.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestNoDaemon checks that a daemon that refuses the very first connection is
// given up early, that one that was reached before is not, and that the user is
// told once.
func TestNoDaemon(t *testing.T) {
	t.Parallel()
	refused := func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	for name, c := range map[string]struct {
		answers  []answer
		at, most time.Duration
	}{
		"never reached":  {nil, 3 * time.Second, 6 * time.Second},
		"reached before": {[]answer{says(http.StatusOK, pending)}, 2 * time.Minute, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				told := 0
				cl, d := newClient(append(c.answers, refused)...)
				cl.FirstPatience, cl.Retrying = 3*time.Second, func(error) { told++ }
				if len(c.answers) > 0 {
					if _, err := cl.Get(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				began := time.Now()
				_, err := cl.Open(t.Context(), bridge.Request{}, "k")
				codeIs(t, name, err, bridge.CodeUnavailable)
				if took := time.Since(began); took < c.at || took > c.most || told != 1 {
					t.Errorf("given up after %s and %d calls, told %d times", took, len(d.calls), told)
				}
			})
		})
	}
}

// TestKeyInHeader checks that a key that no header can hold is refused at once, and
// not reported as an outage.
func TestKeyInHeader(t *testing.T) {
	t.Parallel()
	cl, d := newClient(says(http.StatusOK, pending))
	_, err := cl.Open(t.Context(), bridge.Request{}, "a\nb")
	codeIs(t, "a line break", err, bridge.CodeInvalid)
	if err == nil || !strings.Contains(err.Error(), "Idempotency-Key") || len(d.calls) > 0 {
		t.Errorf("after %d calls: %v", len(d.calls), err)
	}
}
