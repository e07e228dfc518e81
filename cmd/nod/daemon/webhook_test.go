package daemon_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
)

// receiver is another system's end of a webhook.
type receiver struct {
	mu   sync.Mutex
	got  map[string][]http.Header // by type of event
	fail func(n int) int          // status of the n-th call, 0: 204
	n    int
}

func (w *receiver) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m := hmac.New(sha256.New, []byte(strings.Repeat("k", 32)))
	m.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "."))
	m.Write(body)
	var e struct {
		Type string        `json:"type"`
		Data bridge.Record `json:"data"`
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	if status := w.fail(w.n); status != 0 {
		rw.WriteHeader(status)
		return
	}
	if json.Unmarshal(body, &e) == nil && r.Header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil)) && "msg_"+string(e.Data.Interaction.ID) == r.Header.Get("Webhook-Id") {
		w.got[e.Type] = append(w.got[e.Type], r.Header)
	}
	rw.WriteHeader(http.StatusNoContent)
}

func (w *receiver) count(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.got[kind])
}

// Every outcome is told once, signed; a receiver that fails is tried again; one
// that hangs holds nobody up.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	w := &receiver{got: map[string][]http.Header{}, fail: func(n int) int {
		if n == 1 {
			return http.StatusServiceUnavailable
		}
		return 0
	}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	t.Cleanup(func() { close(hang); slow.Close() })
	secret := config.NewSecret("whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Webhooks = map[string]config.Webhook{
			"audit": {URL: config.NewSecret(server.URL), Secret: secret}, "slow": {URL: config.NewSecret(slow.URL), Secret: secret},
			"others": {URL: config.NewSecret(server.URL), Secret: secret, Agents: []string{"other"}},
		}
	}})
	began := time.Now()
	for range 6 { // more than there are places for hanging ones
		a := r.Ask(rig.Approval(bridge.ScopeOnce))
		r.Press("ana", a.On("telegram"), "Run command")
		a.End()
		a.Closed("Approved by")
	}
	if d := time.Since(began); d > 14*time.Second { // less than one call to it may take
		t.Errorf("a hanging receiver holds people up: %s", d)
	}
	denied := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Press("ana", denied.On("telegram"), "Deny")
	answered := r.Ask(rig.One(bridge.WidgetButtons, rig.Choices("eu", "us")...))
	r.Press("ana", answered.On("telegram"), "Eu")
	gone := r.Ask(rig.Approval(bridge.ScopeOnce))
	if _, err := r.Agent.Cancel(r.Ctx, gone.Interaction.ID, "over"); err != nil {
		t.Fatal(err)
	}
	short := rig.Approval(bridge.ScopeOnce)
	short.Timeout = bridge.Duration(time.Second)
	r.Ask(short).End()
	for kind, n := range map[string]int{"approved": 6, "denied": 1, "answered": 1, "cancelled": 1, "expired": 1} {
		r.Eventually(kind+" is told", func() bool { return w.count("interaction."+kind) == n })
	}
}
