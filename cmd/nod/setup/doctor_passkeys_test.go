package setup

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestDoctorPasskeys checks that doctor examines the address of the page, and
// finds routes on which the required people cannot sign.
func TestDoctorPasskeys(t *testing.T) {
	t.Parallel()
	client := redistest.Shared(t).Client(t)
	db := stored.InRedis(t, client)
	for id, person := range map[string]string{"1": "ana", "2": "ana", "3": "bo"} {
		c := passkey.Credential{ID: []byte(id), Person: person, Created: time.Now()}
		if err := passkeys.NewCredentials(db.Documents()).AddPasskey(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	behind := 0 * time.Second
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-behind).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	}))
	t.Cleanup(server.Close)
	url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)

	base := config.Config{People: map[string]config.Person{"ana": {Administrator: true}, "bo": {}, "cy": {}, "di": {}}}
	base.Redis.Prefix = store.DefaultPrefix
	base.Console.Enabled, base.Console.URL = true, url
	const key = "passkey"
	examine := func(change func(*config.Config)) map[string]bridge.Finding {
		c := base
		change(&c)
		d := Doctor{}
		d.examinePasskeys(t.Context(), c, client)
		out := map[string]bridge.Finding{}
		for _, f := range d.Findings {
			out[f.Check] = f
		}
		return out
	}
	routes := func(s string, quorum int, people ...string) func(*config.Config) {
		return func(c *config.Config) {
			c.Routes = map[string]config.Route{"prod": {Responders: people, Quorum: quorum, StepUp: s}}
		}
	}
	for name, test := range map[string]struct {
		change func(*config.Config)
		check  string
		want   bridge.FindingStatus
		says   string
	}{
		"site":          {routes(key, 0, "ana"), "passkeys.site", bridge.FindingOK, "RP ID localhost"},
		"url":           {routes(key, 0, "ana"), "passkeys.url", bridge.FindingOK, "nod answers"},
		"all can":       {routes(key, 0, "ana", "bo"), "passkeys.prod", bridge.FindingOK, ""},
		"one cannot":    {routes(key, 0, "ana", "di"), "passkeys.prod", bridge.FindingWarning, "di"},
		"no one can":    {routes(key, 0, "di"), "passkeys.prod", bridge.FindingFailed, "only 0 can sign"},
		"quorum":        {routes(key, 2, "ana", "di"), "passkeys.prod", bridge.FindingFailed, "2 people"},
		"one passkey":   {routes(key, 0, "ana"), "passkeys.people", bridge.FindingWarning, "bo"},
		"http":          {func(c *config.Config) { c.Console.URL = "http://nod.example.com" }, "passkeys.site", bridge.FindingFailed, "https is required"},
		"unreachable":   {func(c *config.Config) { c.Console.URL = "http://localhost:1" }, "passkeys.url", bridge.FindingWarning, "not reachable"},
		"administrator": {func(c *config.Config) { c.People = map[string]config.Person{"ana": {}} }, "passkeys.invite", bridge.FindingWarning, "administrator"},
		"risk": {func(c *config.Config) {
			routes("", 0, "di")(c)
			c.Risks = []policy.Risk{{Name: "critical", StepUp: key}}
		}, "passkeys.prod", bridge.FindingFailed, "di"},
		"quorum of a risk": {func(c *config.Config) {
			routes("", 0, "ana", "di")(c)
			c.Risks = []policy.Risk{{Name: "critical", Quorum: 2, StepUp: key}}
		}, "passkeys.prod", bridge.FindingFailed, "2 people"},
	} {
		if got := examine(test.change)[test.check]; got.Status != test.want || !strings.Contains(got.Detail, test.says) {
			t.Errorf("%s: %+v, want %s with %q", name, got, test.want, test.says)
		}
	}
	behind = time.Minute
	if got := examine(routes(key, 0, "ana"))["passkeys.clock"]; got.Status != bridge.FindingWarning {
		t.Errorf("another clock: %+v", got)
	}
	if got := examine(func(c *config.Config) { c.Console.URL = "" }); len(got) != 0 {
		t.Errorf("without passkeys: %+v", got)
	}
}
