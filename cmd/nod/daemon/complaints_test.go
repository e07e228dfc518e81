package daemon_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// collected is a test that collects the failures of a check.
type collected struct {
	testing.TB
	failures []string
}

func (c *collected) Errorf(format string, args ...any) {
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

// TestComplaintsAreNoticed checks that the rig notices each service that refuses
// the content of a call, and that it does not mind the limits of services.
func TestComplaintsAreNoticed(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	send := func(path, token, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(r.Ctx, http.MethodPost, r.Base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	all := func() {
		long := strings.Repeat("x", 5000)
		send("/slack/api/chat.postMessage", "Bearer "+sandbox.SlackBotToken,
			`{"channel":"`+sandbox.SlackChannel+`","text":"a","blocks":[{"type":"section"}]}`)
		send("/discord/api/v10/channels/"+sandbox.DiscordChannel+"/messages", "Bot "+sandbox.DiscordToken, `{"content":"`+long+`"}`)
		send("/telegram/bot"+sandbox.TelegramToken+"/sendMessage", "", fmt.Sprintf(`{"chat_id":%d,"text":"%s"}`, sandbox.TelegramChat, long))
	}
	for _, s := range rig.Services {
		r.Sandbox.AddFault(sandbox.Fault{Service: s, Kind: "rate_limit"})
	}
	all()
	r.NoComplaints()
	r.Sandbox.ClearFaults()
	all()
	checked := *r
	got := &collected{TB: t}
	checked.T = got
	checked.NoComplaints()
	if len(got.failures) != 3 {
		t.Errorf("the complaints are %q", got.failures)
	}
}
