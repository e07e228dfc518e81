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
	s := sandbox.New(sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()})
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

// TestServerVersions checks that a diagnosis names what an old server lacks,
// and that no one sees how it finds out.
func TestServerVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"6.9": "disabled buttons (Bot API 10.3), times in each person's time zone (Bot API 9.5), " +
			"buttons that copy a command (Bot API 7.11), collapsed texts",
		"7.4":  "copy a command (Bot API 7.11)",
		"9.4":  "disabled buttons (Bot API 10.3), times",
		"10.3": "it has every feature that nod uses",
	} {
		w := newWorld(t)
		w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Kind: "old_server", Method: version})
		status := bridge.FindingWarning
		if version == "10.3" {
			status = bridge.FindingOK
		}
		for _, f := range w.p.Diagnose(t.Context(), bridge.Needs{}) {
			if f.Check == "telegram.server" && (f.Status != status || !strings.Contains(f.Detail, want)) {
				t.Errorf("%s: found %+v, want %q", version, f, want)
			}
		}
		for _, c := range w.Sandbox.Chats("telegram") {
			if len(c.Messages) > 0 {
				t.Errorf("%s: a diagnosis sent %v", version, c.Messages)
			}
		}
	}
}
