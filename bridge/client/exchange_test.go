package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

// TestExchange checks that a message is sent until there is an answer, always
// with the same key, and that pending requests are reported once.
func TestExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open := says(http.StatusAccepted, `{"items":[`+pending+`]}`)
		c, d := newClient(open, drops, open, open, func(r *http.Request) (*http.Response, error) {
			resp, err := says(http.StatusOK, " {\"ok\":true}\n")(r)
			resp.Header["Nod-Receipt"], resp.Header["Nod-Answer"] = []string{"r1", ""}, []string{"a"}
			return resp, err
		})
		var told int
		var proof client.Answered
		began := time.Now()
		got, err := c.Exchange(t.Context(), client.Exchange{Path: "/v1/dialects/x", Query: url.Values{"session": {"s"}}, Body: []byte("{}"),
			Pending: func(r []bridge.Record) {
				told++
				if len(r) != 1 || r[0].Interaction.ID != id {
					t.Errorf("pending: %+v", r)
				}
			}, Check: func(a client.Answered) error { proof = a; return nil }})
		if err != nil || string(got) != `{"ok":true}` || told != 1 {
			t.Errorf("%s, %v, told %d times", got, err, told)
		}
		if string(proof.Body) != " {\"ok\":true}\n" || !slices.Equal(proof.Receipts, []string{"r1", ""}) || proof.Statement != "a" {
			t.Errorf("the proof is %+v", proof)
		}
		if took := time.Since(began); took < 500*time.Millisecond {
			t.Errorf("a daemon that does not wait was asked again after %s", took)
		}
		for n, x := range d.calls {
			want := "/v1/dialects/x?session=s&wait=25s"
			if n == 0 || n == 2 { // to report early, and after a failure
				want = "/v1/dialects/x?session=s&wait=1ms"
			}
			if x.uri != want || x.body != "{}" || x.header.Get("Nod-Caller") == "" ||
				x.header.Get("Nod-Caller") != d.calls[0].header.Get("Nod-Caller") {
				t.Errorf("call %d: %+v", n, x)
			}
		}
	})
}

// TestExchangeRefused checks that an answer that fails the check or cannot be
// read is not returned.
func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	forged := errors.New("forged")
	check := func(client.Answered) error { return forged }
	c, d := newClient(says(http.StatusOK, "{}"))
	if got, err := c.Exchange(t.Context(), client.Exchange{Check: check}); !errors.Is(err, forged) || got != nil || len(d.calls) != 1 {
		t.Errorf("%s, %v after %d calls", got, err, len(d.calls))
	}
	c, _ = newClient(refuses(bridge.CodeInvalid))
	_, err := c.Exchange(t.Context(), client.Exchange{Caller: "k"})
	codeIs(t, "a refused message", err, bridge.CodeInvalid)
	c, _ = newClient(says(http.StatusAccepted, "<html>"))
	_, err = c.Exchange(t.Context(), client.Exchange{})
	codeIs(t, "a foreign answer", err, bridge.CodeInternal)
	synctest.Test(t, func(t *testing.T) {
		c, _ := newClient(func(*http.Request) (*http.Response, error) {
			resp := respond(http.StatusOK, "application/json", "{}")
			resp.ContentLength = 1 << 30
			return resp, nil
		})
		c.Patience = time.Second
		_, err := c.Exchange(t.Context(), client.Exchange{})
		codeIs(t, "an answer that is too long", err, bridge.CodeUnavailable)
	})
}

// stream returns an event stream that ends or breaks after the events with the
// given cursors.
func stream(tail io.Reader, cursors ...string) answer {
	return func(*http.Request) (*http.Response, error) {
		text := ": hello\n\n"
		for _, c := range cursors {
			text += fmt.Sprintf("id: %s\ndata: {\"cursor\":%q}\n\n", c, c)
		}
		r := respond(http.StatusOK, "text/event-stream", "")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader(text), tail))
		return r, nil
	}
}

// TestEvents checks that Events reconnects after the last event that it
// received, and that an error of its function ends the stream.
func TestEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, d := newClient(stream(broken{}, "1", "2"), drops, stream(strings.NewReader("")), stream(broken{}, "3"))
		var got []string
		enough := errors.New("enough")
		err := c.Events(t.Context(), "0", "s", func(e bridge.Event) error {
			if got = append(got, e.Cursor); len(got) == 3 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("%v, %v", got, err)
		}
		var after []string
		for _, x := range d.calls {
			after = append(after, strings.TrimPrefix(x.uri, "/v1/events?after="))
		}
		want := []string{"0&follow=true&session=s", "2&follow=true&session=s", "2&follow=true&session=s", "2&follow=true&session=s"}
		if !slices.Equal(after, want) {
			t.Errorf("it asks for %q, want %q", after, want)
		}
	})
}

// TestHistory checks that a history ends, and that an interrupted one continues
// at the same position.
func TestHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, d := newClient(stream(broken{}, "1"), stream(strings.NewReader(""), "2"))
		var got []string
		err := c.History(t.Context(), "0", "", func(e bridge.Event) error { got = append(got, e.Cursor); return nil })
		if err != nil || !slices.Equal(got, []string{"1", "2"}) || d.calls[1].uri != "/v1/events?after=1&follow=false&session=" {
			t.Errorf("%v, %v, %+v", got, err, d.calls)
		}
		c, _ = newClient(stream(strings.NewReader("data: nonsense\n\n")))
		codeIs(t, "an event that is not JSON", c.History(t.Context(), "0", "", func(bridge.Event) error { return nil }), bridge.CodeInternal)
		c, _ = newClient(refuses(bridge.CodeForbidden))
		codeIs(t, "a refused history", c.History(t.Context(), "0", "", nil), bridge.CodeForbidden)
	})
}
