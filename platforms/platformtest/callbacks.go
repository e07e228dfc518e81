package platformtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// callbacks contains the checks of HTTP mode: the adapter accepts requests of
// the platform and refuses all others.
var callbacks = []flow{
	{"clicks, texts and commands work", callbacksWork},
	{"what the service did not sign is refused", refusesUnsigned},
	{"a forged token has no effect", refusesForged},
	{"a replay changes nothing", refusesReplay},
	{"what is not a callback is refused", refusesGarbage},
}

// runCallbacks runs the checks of HTTP mode.
func runCallbacks(t *testing.T, h Harness) {
	r := New(t, h, Options{HTTP: true}).Connected()
	for _, f := range callbacks {
		t.Run(f.name, func(t *testing.T) { f.run(r.with(t)) })
	}
	t.Run("without HTTP mode everything is refused", func(t *testing.T) {
		r := New(t, h, Options{Sink: &Recorder{}, Still: true})
		body := h.Forge.Click("x", sandbox.Place{Channel: h.Channel, Message: "1"}, r.account("ana"))
		if got := r.send(http.MethodPost, h.Forge.Sign(r, body, time.Now()), body); got != http.StatusNotFound {
			t.Errorf("HTTP %d", got)
		}
	})
}

// send sends a request to the callback address and returns the status.
func (r *Rig) send(method string, header http.Header, body string) int {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.Ctx, method, r.Base+callbackPath, strings.NewReader(body))
	if err != nil {
		r.T.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.T.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		r.T.Fatal(err)
	}
	return resp.StatusCode
}

func callbacksWork(r *Rig) {
	c := r.ask(samples.Approval()).read()
	r.Press("ana", c.at(), render.LabelRun)
	if got := c.end(); got.State != bridge.StateApproved || got.Response.Actor.Person != "ana" {
		r.T.Errorf("%s %+v", got.State, got.Response)
	}
	c.closed("ana")
	q := r.ask(samples.One(bridge.WidgetText))
	r.Typed("bo", q.at(), render.LabelAnswer, "words")
	q.wantAnswer(bridge.TextAnswer("words"))
	r.Command("ana", r.Harness.Name, r.Harness.Channel, "/nod who")
}

func refusesUnsigned(r *Rig) {
	c := r.ask(samples.Approval()).read()
	body := r.Harness.Forge.Click(r.tokenOf(c.at(), render.LabelRun), c.at(), r.account("ana"))
	broken := r.Harness.Forge.Break(r, body)
	broken["nothing at all"] = http.Header{}
	for name, header := range broken {
		if got := r.send(http.MethodPost, header, body); got != http.StatusUnauthorized {
			r.T.Errorf("%s: HTTP %d", name, got)
		}
	}
	c.pending()
	if got := r.send(http.MethodPost, r.Harness.Forge.Sign(r, body, time.Now()), body); got >= 300 {
		r.T.Errorf("correctly signed: HTTP %d", got)
	}
	if got := c.end(); got.Response.Actor.Person != "ana" {
		r.T.Errorf("decided by %+v", got.Response.Actor)
	}
}

func refusesForged(r *Rig) {
	c := r.ask(samples.Approval()).read()
	token := r.tokenOf(c.at(), render.LabelRun)
	flipped := []byte(token)
	flipped[20] ^= 1
	foreign, err := bridge.NewKeyring([]byte(strings.Repeat("x", bridge.MinKey)))
	if err != nil {
		r.T.Fatal(err)
	}
	control, err := r.Keys.Verify(token)
	if err != nil {
		r.T.Fatal(err)
	}
	for name, bad := range map[string]string{
		"altered": string(flipped), "truncated": token[:40], "empty": "", "of another key": foreign.Sign(control),
	} {
		r.forged(name, r.Harness.Forge.Click(bad, c.at(), r.account("ana")))
		c.pending()
	}
	elsewhere := c.at()
	elsewhere.Channel = r.Harness.Elsewhere
	r.forged("in another channel", r.Harness.Forge.Click(token, elsewhere, r.account("ana")))
	c.pending()
	r.forged("by a stranger", r.Harness.Forge.Click(token, c.at(), r.account("mal")))
	c.pending()
	r.Press("ana", c.at(), render.LabelDeny)
	c.end()
}

// forged sends a request with a valid signature of the platform and invalid
// content.
func (r *Rig) forged(name, body string) {
	r.T.Helper()
	if got := r.send(http.MethodPost, r.Harness.Forge.Sign(r, body, time.Now()), body); got >= 500 {
		r.T.Errorf("%s: HTTP %d", name, got)
	}
}

func refusesReplay(r *Rig) {
	c := r.ask(samples.Approval()).read()
	body := r.Harness.Forge.Click(r.tokenOf(c.at(), render.LabelRun), c.at(), r.account("ana"))
	header := r.Harness.Forge.Sign(r, body, time.Now())
	r.send(http.MethodPost, header, body)
	first := c.end()
	r.send(http.MethodPost, header, body)
	if again := c.end(); !again.Response.At.Equal(first.Response.At) || again.Revision < first.Revision {
		r.T.Errorf("the replay changed %+v to %+v", first.Response, again.Response)
	}
	c.closed("ana")
}

func refusesGarbage(r *Rig) {
	for _, body := range []string{"", "{", "null", `{"type":"x"}`, "payload=%7B", "payload=%zz", "a=b"} {
		r.forged(body, body)
	}
	if got := r.send(http.MethodGet, nil, ""); got != http.StatusNotFound {
		r.T.Errorf("GET: HTTP %d", got)
	}
	big := strings.Repeat("x", 2<<20)
	if got := r.send(http.MethodPost, r.Harness.Forge.Sign(r, big, time.Now()), big); got/100 != 4 {
		r.T.Errorf("2 MB: HTTP %d", got)
	}
}
