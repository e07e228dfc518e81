package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/passkey/passkeytest"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// silent is a platform that shows every card and receives no clicks.
type silent struct{}

func (silent) Name() string                   { return "chat" }
func (silent) Check(bridge.Interaction) error { return nil }
func (silent) Update(context.Context, bridge.MessageRef, bridge.View, *bridge.Parts) error {
	return nil
}
func (silent) Run(ctx context.Context, _ bridge.Sink) error { <-ctx.Done(); return nil }
func (silent) Post(context.Context, bridge.Destination, bridge.View, *bridge.Parts) (bridge.MessageRef, error) {
	return bridge.MessageRef{Channel: "C", Message: "1"}, nil
}

// server is a daemon's API on a store in this process.
type server struct {
	*httptest.Server
	engine *rooms.House
	stored await.Bell    // rings after changes of the store
	fails  atomic.Int32  // number of the next reads of the store that fail
	parked chan struct{} // receives for each connection that was taken over
	// waiting returns the number of callers that wait.
	waiting func() int64
}

// runs applies deadlines and posts cards until the test ends.
func (s *server) runs(t testing.TB) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.engine.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func newServer(t testing.TB) *server {
	t.Helper()
	return newServerReading(t, func(r api.Reader) api.Reader { return r })
}

// sends makes a request with a token, and returns the status and the body of the
// response.
func (s *server) sends(t testing.TB, token, method, path, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// flaky is a store in which the next reads fail.
type flaky struct {
	core.Port
	fails *atomic.Int32 // number of reads
}

// Load implements core.Interactions.
func (f flaky) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	if n := f.fails.Load(); n > 0 && f.fails.CompareAndSwap(n, n-1) {
		return bridge.Record{}, errors.New("the store is unreachable")
	}
	return f.Port.Load(ctx, id)
}

// newServerReading is like newServer, but wraps its Reader.
func newServerReading(t testing.TB, between func(api.Reader) api.Reader) *server {
	t.Helper()
	s := &server{parked: make(chan struct{}, 100)}
	b := stored.InMemory(t, &s.stored, nil)
	key, err := bridge.NewKeyring(bytes.Repeat([]byte("k"), bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	site, err := passkey.NewSite("https://nod.example.com")
	if err != nil {
		t.Fatal(err)
	}
	a := passkeytest.New(t, "https://nod.example.com")
	held := passkey.Credential{ID: []byte("held"), PublicKey: a.COSE(t), Person: "ana", Label: "Phone", Created: time.Now().UTC()}
	if err := passkeys.NewCredentials(b.Documents()).AddPasskey(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	signing := passkeys.Signing{Site: &site, People: []string{"ana"}, Administrators: []string{"ana"}}
	e := rooms.New(rooms.Options{Options: engine.Options{Store: flaky{b, &s.fails}, DB: b.DB, Keys: key, History: b, Agents: map[string]bridge.Agent{"ci": {Name: "ci"}}, Platforms: []bridge.Platform{silent{}}, Routes: map[string]bridge.Route{
		"default":     {Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "api", User: "ana"}}},
		"unreachable": {Destinations: []bridge.Destination{{Platform: "gone", Channel: "C"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "api", User: "ana"}}},
	}}, Signing: signing})
	s.engine = e
	s.waiting = func() int64 {
		stats, err := b.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return stats.Waiting
	}
	s.Server = httptest.NewUnstartedServer(api.New(api.Options{Engine: e, Reader: between(b), Ready: b.Ready, Origins: []string{"https://app.example.com", "https://*.apps.example.com"}, EntryPoints: map[string]api.EntryPoint{"/mcp": echo, "/tools/mcp": toolsOf(e)}, Tokens: map[string]api.Principal{
		hashOf("agent"): {Agent: &bridge.Agent{Name: "ci"}}, hashOf("other"): {Agent: &bridge.Agent{Name: "cd"}}, hashOf("ana"): {Person: "ana", Auditor: true},
		hashOf("bo"): {Person: "bo"},
	}}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			s.parked <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func description(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil // the servers of tests have other addresses
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// described is a server whose responses must match its description.
type described struct {
	*server
	t      *testing.T
	router routers.Router
	seen   map[string]bool // by operation
}

// call makes a call that must have the status want. It returns the body.
func (d described) call(token, method, path, body string, want int) string {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.URL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	route, params, err := d.router.FindRoute(req)
	if err != nil {
		d.t.Fatalf("openapi.yaml does not describe %s %s: %v", method, path, err)
	}
	d.seen[route.Operation.OperationID] = true
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true}}
	if want < 400 {
		if err := openapi3filter.ValidateRequest(d.t.Context(), in); err != nil {
			d.t.Errorf("%s %s: the request does not match openapi.yaml: %v", method, path, err)
		}
		req.Body = io.NopCloser(strings.NewReader(body))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if resp.StatusCode != want {
		d.t.Errorf("%s %s: %d, want %d: %s", method, path, resp.StatusCode, want, raw)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header}
	out.SetBodyBytes(raw)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := openapi3filter.ValidateResponse(d.t.Context(), out); err != nil {
			d.t.Errorf("%s %s: the response does not match openapi.yaml: %v\n%s", method, path, err, raw)
		}
	}
	return string(raw)
}

// id returns the ID in a record.
func (d described) id(raw string) string {
	d.t.Helper()
	var rec bridge.Record
	if err := json.Unmarshal([]byte(raw), &rec); err != nil {
		d.t.Fatal(err)
	}
	return string(rec.Interaction.ID)
}

// TestDescription calls every path with valid and invalid requests, and checks
// requests and responses against openapi.yaml.
func TestDescription(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	doc, router := description(t)
	d := described{s, t, router, map[string]bool{}}
	d.requests()
	lifeCalls(d.call, d.id)
	hookCalls(d.call)
	d.grants()
	d.sessions()
	d.others()
	for _, path := range doc.Paths.Map() {
		for method, op := range path.Operations() {
			if !d.seen[op.OperationID] {
				t.Errorf("%s %s was never called", method, op.OperationID)
			}
		}
	}
}

// requests makes the calls about requests and sessions.
func (d described) requests() {
	ask := d.id(d.call("agent", "POST", "/v1/interactions", `{"prompt":"?","session":"s","questions":[{"id":"q","widget":"checkbox","options":[{"value":"a"},{"value":"b"}]}]}`, 201))
	d.call("agent", "GET", "/v1/interactions/"+ask+"?wait=10ms", "", 200)
	d.call("ana", "POST", "/v1/interactions/"+ask+"/response", `{"answers":{"q":["b"]}}`, 200)
	d.call("ana", "POST", "/v1/interactions/"+ask+"/response", `{"answers":{"q":["a"]}}`, 409)
	d.call("agent", "GET", "/v1/interactions/"+ask, "", 200)
	approval := d.id(d.call("agent", "POST", "/v1/interactions", `{"prompt":"?","timeout":90,"approval":{"tool":"t","input":{"command":"x"}}}`, 201))
	d.call("ana", "POST", "/v1/interactions/"+approval+"/response", `{"decision":"nonsense"}`, 400)
	d.call("ana", "POST", "/v1/interactions/"+approval+"/response", `{"decision":"deny","reason":"no"}`, 200)
	gone := d.id(d.call("agent", "POST", "/v1/interactions", `{"prompt":"?","session":"s"}`, 201))
	d.call("agent", "POST", "/v1/interactions/"+gone+"/cancel", "", 200)
	d.call("agent", "POST", "/v1/interactions", `{"prompt":"?","session":"s"}`, 201)
	d.call("agent", "POST", "/v1/sessions/s/cancel", `{"reason":"over"}`, 200)
	d.call("agent", "GET", "/v1/interactions?state=cancelled&limit=1", "", 200)
}

// grants makes the calls about grants.
func (d described) grants() {
	standing := d.id(d.call("agent", "POST", "/v1/interactions", `{"prompt":"?","session":"s","approval":{"tool":"t","input":{"command":"y"},"scopes":["once","always"]}}`, 201))
	d.call("ana", "POST", "/v1/interactions/"+standing+"/response", `{"decision":"always"}`, 200)
	var grants struct{ Items []struct{ ID, Words string } }
	if err := json.Unmarshal([]byte(d.call("ana", "GET", "/v1/grants", "", 200)), &grants); err != nil || len(grants.Items) != 1 || !strings.Contains(grants.Items[0].Words, `may repeat exactly this request: tool "t"`) {
		d.t.Fatalf("grants: %+v, %v", grants, err)
	}
	d.call("agent", "GET", "/v1/grants?session=other", "", 200)
	d.call("agent", "DELETE", "/v1/grants/"+grants.Items[0].ID, "", 200)
	d.call("ana", "DELETE", "/v1/grants/"+grants.Items[0].ID, "", 404)
}

// others makes the remaining calls, and those that are refused.
func (d described) others() {
	d.call("ana", "GET", "/v1/links", "", 200)
	d.call("ana", "POST", "/v1/links", `{"code":"nonsense"}`, 404)
	d.call("ana", "DELETE", "/v1/links/chat/U1", "", 404)
	d.call("ana", "GET", "/v1/passkeys", "", 200)
	d.call("agent", "GET", "/v1/passkeys", "", 403)
	d.call("agent", "GET", "/v1/passkeys/keys", "", 200)
	d.call("nobody", "GET", "/v1/passkeys/keys", "", 401)
	d.call("ana", "POST", "/v1/passkeys/invitations", `{"person":"ana"}`, 201)
	d.call("ana", "POST", "/v1/passkeys/invitations", `{"person":"zoe"}`, 404)
	d.call("agent", "POST", "/v1/passkeys/invitations", `{"person":"ana"}`, 403)
	d.call("ana", "DELETE", "/v1/passkeys/ana/AAAA", "", 404)
	d.call("agent", "DELETE", "/v1/passkeys/ana/aGVsZA", "", 403)
	d.call("ana", "DELETE", "/v1/passkeys/ana/aGVsZA", "", 200)
	d.call("ana", "GET", "/v1/audit", "", 200)
	d.call("agent", "GET", "/v1/audit", "", 403)
	d.call("agent", "GET", "/v1/keys", "", 200)
	d.call("agent", "GET", "/v1/interactions?state=nonsense", "", 400)
	d.call("agent", "POST", "/v1/interactions", `{"prompt":""}`, 400)
	d.call("nobody", "GET", "/v1/interactions", "", 401)
	d.call("ana", "POST", "/v1/interactions", `{"prompt":"?"}`, 403)
	d.call("agent", "GET", "/v1/interactions/0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", "", 404)
	d.call("agent", "GET", "/v1/events?after=nonsense", "", 400)
	d.call("", "GET", "/healthz", "", 200)
	d.call("", "GET", "/readyz", "", 200)
	d.call("", "GET", "/openapi.yaml", "", 200)
}

// lifeCalls makes the calls that continue a request after its first answer.
func lifeCalls(call func(token, method, path, body string, want int) string, id func(string) string) {
	first := id(call("agent", "POST", "/v1/interactions", `{"prompt":"e-mail?","session":"t","questions":[{"id":"mail","widget":"text"}]}`, 201))
	call("agent", "POST", "/v1/interactions/"+first+"/complete", `{}`, 409)
	for _, what := range []string{"complete", "pending", "reprompt", "cancel"} { // another agent's request is not found
		call("other", "POST", "/v1/interactions/"+first+"/"+what, `{}`, 404)
	}
	call("ana", "POST", "/v1/interactions/"+first+"/response", `{"answers":{"mail":"nonsense"}}`, 200)
	second := id(call("agent", "POST", "/v1/interactions/"+first+"/reprompt", `{"error":"that is none","questions":[{"id":"mail","widget":"email"}]}`, 201))
	call("agent", "POST", "/v1/interactions/"+first+"/reprompt", `{}`, 409)
	call("agent", "POST", "/v1/interactions/"+second+"/pending", `{"hold":"1h","message":"later"}`, 200)
	call("ana", "POST", "/v1/interactions/"+second+"/response", `{"answers":{"mail":"a@example.com"}}`, 200)
	var box struct{ Items []bridge.Message }
	if err := json.Unmarshal([]byte(call("agent", "GET", "/v1/sessions/t/messages?wait=1s", "", 200)), &box); err != nil || len(box.Items) != 1 {
		panic(fmt.Sprint("messages: ", box, err))
	}
	call("agent", "POST", "/v1/sessions/t/messages/ack", `{"through":"nonsense"}`, 400)
	call("agent", "POST", "/v1/sessions/t/messages/ack", `{"through":"`+box.Items[0].ID+`"}`, 204)
	call("agent", "POST", "/v1/interactions/"+second+"/complete", `{"result":"stored"}`, 200)
	call("agent", "GET", "/v1/availability?session=t", "", 200)
	call("agent", "PUT", "/v1/approvals", `{"key":"k","scope":"once","session":"t"}`, 200)
	call("agent", "POST", "/v1/approvals/recall", `{"key":"k","session":"t"}`, 200)
	call("agent", "DELETE", "/v1/approvals?session=t", "", 204)
	call("agent", "POST", "/v1/dialects/agent_tool?session=t&route=unreachable", `{"resource":"message","action":"ask","prompt":"?"}`, 503)
	call("agent", "POST", "/v1/dialects/ask_user_question?wait=10ms", `{"tool_name":"AskUserQuestion","input":{"questions":[{"question":"?","options":[{"label":"a"}]}]}}`, 202)
	call("agent", "POST", "/v1/dialects/ask_user_question", `{"tool_name":"Bash","input":{"command":"ls"}}`, 200)
	call("agent", "POST", "/v1/dialects/ask_user_question?batch=1s", `{"tool_name":"Bash","input":{"command":"ls"}}`, 400) // a removed option
	call("agent", "POST", "/v1/tools/ui.ask_user", `{"widgetId":"w","type":"confirmation","message":"?"}`, 200)
	call("agent", "POST", "/v1/tools/ui.ask_user", `{"widgetId":"w","type":"slider","message":"?"}`, 400)
	call("agent", "GET", "/v1/ws", "", 426)
}

// TestEventStream checks that a stream that is resumed after a disconnect
// neither skips nor repeats an event.
func TestEventStream(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	post := func() {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/interactions", strings.NewReader(`{"prompt":"?","session":"s"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer agent")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	read := func(last string, n int) (ids, interactions []string) {
		ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/v1/events?session=s&after=0", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer agent")
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var buf bytes.Buffer
		chunk := make([]byte, 4096)
		for strings.Count(buf.String(), "}\n\n") < n {
			k, err := resp.Body.Read(chunk)
			if err != nil {
				t.Fatalf("after %d events: %v", strings.Count(buf.String(), "\ndata: "), err)
			}
			buf.Write(chunk[:k])
		}
		for line := range strings.Lines(buf.String()) {
			if v, ok := strings.CutPrefix(line, "id: "); ok {
				ids = append(ids, strings.TrimSpace(v))
			}
			if v, ok := strings.CutPrefix(line, "data: "); ok {
				var e bridge.Event
				if err := json.Unmarshal([]byte(v), &e); err != nil {
					t.Fatal(err)
				}
				interactions = append(interactions, string(e.InteractionID))
			}
		}
		return ids[1:], interactions // the first is where the stream begins
	}
	for range 5 {
		post()
	}
	ids, all := read("", 5)
	_, rest := read(ids[1], 3)
	if strings.Join(all[2:], ",") != strings.Join(rest, ",") {
		t.Errorf("resumed with %v, want %v", rest, all[2:])
	}
}

func hookCalls(call func(token, method, path, body string, want int) string) {
	hook := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`
	call("agent", "POST", "/v1/hooks/claude?wait=10ms&timeout=5m&grace=1s&join=true&unanswered=deny", hook, 202)
	call("agent", "POST", "/v1/hooks/claude?wait=10ms&batch=2s", strings.Replace(hook, `"t1"`, `"t2"`, 1), 202) // of a hook of an older version
	call("agent", "POST", "/v1/hooks/claude", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, 200)
	call("agent", "POST", "/v1/hooks/codex", `{"session_id":"s","hook_event_name":"SessionStart"}`, 200)
	for _, query := range []string{"unanswered=maybe", "wait=long", "join=2", "grace=soon"} {
		call("agent", "POST", "/v1/hooks/claude?"+query+"&wait=0", hook, 400)
	}
	call("agent", "POST", "/v1/hooks/claude", `{"hook_event_name":1}`, 400)
	call("agent", "POST", "/mcp?session=s", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200)
	call("ana", "POST", "/mcp", `{}`, 403)
	call("nobody", "POST", "/mcp", `{}`, 401)
	call("agent", "POST", "/v1/hooks/gemini", hook, 404)
	call("ana", "POST", "/v1/hooks/claude", hook, 403)
}

// echo is an entry point that returns the body of each request.
func echo(bridge.Agent) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.Copy(w, r.Body)
	})
}
