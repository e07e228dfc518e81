package daemon_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// receiver is another system's end of a webhook.
type receiver struct {
	mu   sync.Mutex
	got  map[string][]http.Header // by type of event
	meta map[string]string        // metadata of the last approved request
	fail func(n int) int          // returns the status of the n-th call; zero means 204
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
		rw.Header().Set("Retry-After", "3600") // due when the clock jumps, not in the meantime
		rw.WriteHeader(status)
		return
	}
	if json.Unmarshal(body, &e) == nil && r.Header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil)) && "msg_"+string(e.Data.Interaction.ID) == r.Header.Get("Webhook-Id") {
		w.got[e.Type] = append(w.got[e.Type], r.Header)
		if e.Data.State == bridge.StateApproved {
			w.meta = e.Data.Interaction.Metadata
		}
	}
	rw.WriteHeader(http.StatusNoContent)
}

func (w *receiver) count(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.got[kind])
}

// retried reports whether one call of a webhook is left, which has failed and is
// not being made. A jump of the clock would repeat a call that is being made.
func retried(r *rig.Rig) bool {
	jobs := slices.DeleteFunc(r.Bare.ZRange(r.Ctx, "nod:{nod}:jobs", 0, -1).Val(), func(name string) bool {
		return !strings.HasPrefix(name, string(life.JobHook)+":")
	})
	return len(jobs) == 1 && strings.HasSuffix(r.Bare.HGet(r.Ctx, "nod:{nod}:states", jobs[0]).Val(), "|0")
}

// TestWebhooks checks that a receiver is told each kind of outcome once, even
// after a failed attempt. Packages webhook and engine check signatures, agents,
// retries and receivers that hang.
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
	secret := config.NewSecret("whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	hook := config.Webhook{URL: config.NewSecret(server.URL), Secret: secret}
	others := hook
	others.Agents = []string{"other"}
	r, now := clocked(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Webhooks = map[string]config.Webhook{"audit": hook, "others": others}
	}})
	respond := func(req bridge.Request, reply bridge.Reply) {
		t.Helper()
		if _, err := r.Person.Respond(r.Ctx, r.Ask(req).Interaction.ID, reply); err != nil {
			t.Fatal(err)
		}
	}
	resumable := samples.Approval()
	resumable.Metadata = map[string]string{"resume": "https://n8n.example.com/wait/7?signature=abcdef0123456789"}
	respond(resumable, rig.AnswerOnce)
	respond(samples.Approval(), bridge.Reply{Decision: bridge.DecideDeny})
	eu := bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("eu")}}
	respond(samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...), eu)
	gone := r.Ask(samples.Approval())
	if _, err := r.Agent.Cancel(r.Ctx, gone.Interaction.ID, "over"); err != nil {
		t.Fatal(err)
	}
	short := r.Ask(samples.Approval())
	r.Eventually("all calls but the refused one have succeeded", func() bool { return retried(r) })
	now.jump(24 * time.Hour)
	short.End()
	r.Eventually("the address comes back", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return maps.Equal(w.meta, resumable.Metadata)
	})
	for _, kind := range []string{"approved", "denied", "answered", "cancelled", "expired"} {
		r.Eventually(kind+" is told", func() bool { return w.count("interaction."+kind) > 0 })
		if n := w.count("interaction." + kind); n != 1 {
			t.Errorf("%s was told %d times, want once", kind, n)
		}
	}
}
