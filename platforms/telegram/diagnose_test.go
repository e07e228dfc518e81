package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestForeignWebhook checks that a diagnosis reports a webhook that another
// program has set.
func TestForeignWebhook(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	p, err := newPlatform(platformtest.Setup{URL: server.URL, Notes: &platformtest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	diagnose := func() map[string]bridge.Finding {
		all := map[string]bridge.Finding{}
		for _, f := range p.Diagnose(t.Context(), bridge.Needs{}) {
			all[f.Check] = f
		}
		return all
	}
	if got := diagnose()["telegram.poller"]; got.Status != bridge.FindingOK {
		t.Errorf("without a webhook, the finding is %+v, want %s", got, bridge.FindingOK)
	}
	resp, err := http.PostForm(server.URL+"/telegram/bot"+sandbox.TelegramToken+"/setWebhook",
		url.Values{"url": {"https://elsewhere.example.com/hook"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := diagnose()["telegram.webhook"]; got.Status != bridge.FindingWarning || !strings.Contains(got.Fix, "separate bot") {
		t.Errorf("with a webhook, the finding is %+v, want %s", got, bridge.FindingWarning)
	}
}
