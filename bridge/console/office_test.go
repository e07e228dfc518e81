package console_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/console"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// chat is a platform that shows every card and receives no clicks.
type chat struct{}

func (chat) Name() string                                 { return "chat" }
func (chat) Check(bridge.Interaction) error               { return nil }
func (chat) Run(ctx context.Context, _ bridge.Sink) error { <-ctx.Done(); return nil }
func (chat) Post(context.Context, bridge.Destination, bridge.View, *bridge.Parts) (bridge.MessageRef, error) {
	return bridge.MessageRef{Channel: "C", Message: "1"}, nil
}
func (chat) Update(context.Context, bridge.MessageRef, bridge.View, *bridge.Parts) error { return nil }

// notes is a store that a test can make unreachable.
type notes struct {
	console.Store
	down bool
}

func (n *notes) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	if n.down {
		return "", errors.New("Redis is unreachable")
	}
	return n.Store.PutNote(ctx, key, value, ttl)
}

func (n *notes) Note(ctx context.Context, key string) (string, error) {
	if n.down {
		return "", errors.New("Redis is unreachable")
	}
	return n.Store.Note(ctx, key)
}

func (n *notes) DropNote(ctx context.Context, key string) error {
	if n.down {
		return errors.New("Redis is unreachable")
	}
	return n.Store.DropNote(ctx, key)
}

// office is a console with a real engine and an embedded Redis. The default
// route has the responders ana and bo, and cy's route has cy. Aud is an
// auditor. Each person's token is the person's name.
type office struct {
	*httptest.Server
	t       testing.TB
	engine  *rooms.House
	notes   *notes
	options console.Options
	console *console.Console
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func newOffice(t testing.TB) *office {
	t.Helper()
	return newOfficeWith(t, nil)
}

// newOfficeWith returns an office whose engine signs receipts, unless the signer
// is nil.
func newOfficeWith(t testing.TB, signer *proof.Signer) *office {
	t.Helper()
	b := stored.InMemory(t, nil, nil)
	key := bytes.Repeat([]byte("k"), bridge.MinKey)
	keys, err := bridge.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	route := func(people ...string) bridge.Route {
		r := bridge.Route{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}}
		for _, who := range people {
			r.Responders = append(r.Responders, bridge.Responder{Person: who, Platform: bridge.PlatformAPI, User: who},
				bridge.Responder{Person: who, Platform: "chat", User: "U-" + who})
		}
		return r
	}
	strict := route("cy")
	private := route("bo")
	private.Attention.Private = true
	strict.Quorum, strict.Must, strict.Groups = 2, []string{"cy"}, []string{"ops"}
	b.Sign(signer)
	e := rooms.New(rooms.Options{Options: engine.Options{Store: b, DB: b.DB, Signer: signer, Keys: keys, Platforms: []bridge.Platform{chat{}},
		Routes: map[string]bridge.Route{"default": route("ana", "bo"), "strict": strict, "private": private}, History: b}})
	tokens := map[string]api.Principal{hashOf("ci"): {Agent: &bridge.Agent{Name: "ci"}}, hashOf("aud"): {Person: "aud", Auditor: true}}
	for _, who := range []string{"ana", "bo", "cy"} {
		tokens[hashOf(who)] = api.Principal{Person: who}
	}
	o := &office{t: t, engine: e, notes: &notes{Store: b.Notes()}}
	o.options = console.Options{Engine: e, Tokens: tokens, Key: key, Store: o.notes, Log: slog.New(slog.DiscardHandler)}
	o.reload()
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.console.ServeHTTP(w, r) }))
	t.Cleanup(o.Close)
	return o
}

// reload applies changed options, as the daemon does.
func (o *office) reload() { o.console = console.New(o.options) }

// ask opens a request of the agent ci.
func (o *office) ask(change func(*bridge.Request)) bridge.ID {
	o.t.Helper()
	var r bridge.Request
	r.Prompt, r.Session = "May I?", "s"
	change(&r)
	rec, err := o.engine.Open(o.t.Context(), bridge.Agent{Name: "ci"}, r, "")
	if err != nil {
		o.t.Fatal(err)
	}
	return rec.Interaction.ID
}

func approval(r *bridge.Request) {
	r.Approval = &bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"command":"make <deploy>"}`)}
}

func (o *office) get(id bridge.ID) bridge.Record {
	o.t.Helper()
	rec, err := o.engine.Get(o.t.Context(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return rec
}

// browser is a browser with its own cookies.
type browser struct {
	t      testing.TB
	base   string
	client http.Client
	// header is sent with each request.
	header http.Header
}

func (o *office) browser() *browser {
	o.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		o.t.Fatal(err)
	}
	return &browser{t: o.t, base: o.URL, client: http.Client{Jar: jar}, header: http.Header{}}
}

// signedIn returns a browser in which a person is signed in.
func (o *office) signedIn(who string) *browser {
	o.t.Helper()
	b := o.browser()
	if status, body := b.call(http.MethodPost, "/console/login", map[string]string{"token": who}); status != http.StatusOK {
		o.t.Fatalf("%s cannot sign in: %d %s", who, status, body)
	}
	return b
}

// call sends a body: a string unchanged, and any other value as JSON.
func (b *browser) call(method, path string, body any) (int, string) {
	b.t.Helper()
	raw, ok := body.(string)
	if !ok && body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		raw = string(text)
	}
	resp := b.send(method, path, raw)
	defer resp.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(resp.Body); err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, out.String()
}

func (b *browser) send(method, path, body string) *http.Response {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header = b.header.Clone()
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

// cookies returns the cookies that the browser would send to the console.
func (b *browser) cookies() []*http.Cookie {
	u, err := url.Parse(b.base + "/console/")
	if err != nil {
		b.t.Fatal(err)
	}
	return b.client.Jar.Cookies(u)
}

// become copies the cookies of another browser.
func (b *browser) become(other *browser) {
	u, err := url.Parse(b.base)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(u, other.cookies())
}

// person returns the name that the page shows, or an empty string if it shows
// the sign-in form.
func (b *browser) person() string {
	b.t.Helper()
	var who struct{ Person string }
	_, body := b.call(http.MethodGet, "/console/session", nil)
	if err := json.Unmarshal([]byte(body), &who); err != nil {
		b.t.Fatal(err)
	}
	return who.Person
}
