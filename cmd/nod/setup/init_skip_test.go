package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestInitKeeps checks that a verified platform stays in the config if the user
// skips another one, comes back to it, and stops there.
func TestInitKeeps(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	path := proxied(t, r.Base)
	known := Init{
		Path: path, Platforms: []string{"slack", "telegram"}, Person: "ana",
		Channels: map[string]string{"telegram": fmt.Sprint(sandbox.TelegramChat)},
		Users:    map[string]string{"telegram": "7001"},
	}
	said, failed := initialize(t, "skip\n"+sandbox.TelegramToken+"\n\n\ny\nxoxb-mistyped\n", known)
	if failed == nil || !strings.Contains(said, "end of input") || !strings.Contains(said, "saved telegram in ") || strings.Count(said,
		"Install to Workspace") != 2 {
		t.Fatalf("%v: %s", failed, said)
	}
	c, err := config.Read(path, nil)
	if err != nil || sandboxed.Telegram(&c).BotToken.Value() != sandbox.TelegramToken || c.People["ana"].Account("telegram") != "7001" ||
		fmt.Sprint(c.Routes["default"].Responders, c.Platforms()) != "[ana] [telegram]" {
		t.Fatalf("%+v, %v", c, err)
	}
	known.Redis = p.redis
	said, failed = initialize(t, "skip\n\n\nn\n\n", known)
	if failed != nil || !strings.Contains(said, "later with: nod init --platforms slack") {
		t.Fatalf("%v: %s", failed, said)
	}
	if _, err := config.Load(path, nil); err != nil {
		t.Error(err)
	}
	said, failed = initialize(t, "skip\nn\n", Init{Path: proxied(t, r.Base), Platforms: []string{"slack"}, Person: "ana"})
	if failed == nil || !strings.Contains(said, "no platform is connected") {
		t.Errorf("%v: %s", failed, said)
	}
}

// TestInitChecksAccounts checks that nod init asks again for an account that
// the platform does not know.
func TestInitChecksAccounts(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	for platform, x := range map[string]struct{ tokens, channel, wrong, user string }{
		"slack":    {sandbox.SlackBotToken + "\n" + sandbox.SlackAppToken, sandbox.SlackChannel, "U0NONE0001", "U0ANA00001"},
		"discord":  {sandbox.DiscordToken, sandbox.DiscordChannel, "300000000000000999", "300000000000000001"},
		"telegram": {sandbox.TelegramToken, fmt.Sprint(sandbox.TelegramChat), "99", "7001"},
	} {
		path := proxied(t, r.Base)
		said, failed := initialize(t, x.tokens+"\n\n\n"+x.user+"\n\n", Init{
			Path: path, Platforms: []string{platform}, Person: "ana", Redis: p.redis, Channels: map[string]string{platform: x.channel},
			Users: map[string]string{platform: x.wrong},
		})
		if failed != nil || !strings.Contains(said, "FAILED   "+platform+".account."+x.wrong) || !strings.Contains(said,
			"ok       "+platform+".account."+x.user) {
			t.Errorf("%s: %v: %s", platform, failed, said)
		}
		if c, err := config.Load(path, nil); err != nil || c.People["ana"].Account(platform) != x.user {
			t.Errorf("%s: %+v, %v", platform, c.People, err)
		}
	}
}

// TestDoctorNamesPeople checks that the doctor finds a responder without an
// account on a platform of the route, and an account that does not exist.
func TestDoctorNamesPeople(t *testing.T) {
	t.Parallel()
	p, _ := newPatient(t)
	delete(p.config.People["ana"].Accounts, "discord")
	p.config.People["bo"].Accounts["slack"] = "U0NONE0001"
	found, well := p.examine(noAsk)
	if f := found["people.ana"]; f.Status != "warning" || !strings.Contains(f.Detail,
		"no account on discord, where the route default posts") || !strings.Contains(f.Fix, "people.ana.discord") {
		t.Errorf("%+v", f)
	}
	if f := found["slack.account.U0NONE0001"]; well || f.Status != "failed" {
		t.Errorf("%+v", f)
	}
	if f := found["telegram.account.7001"]; f.Status != "ok" {
		t.Errorf("%+v", f)
	}
}

// TestDoctorNamesPrivateRoutes checks that the doctor finds a private route that
// posts where no responder can open a request.
func TestDoctorNamesPrivateRoutes(t *testing.T) {
	t.Parallel()
	p, _ := newPatient(t)
	route := p.config.Routes["default"]
	route.Payload, route.Responders = "private", []string{"ana"}
	p.config.Routes["default"] = route
	const check = "routes.default.payload"
	found, well := p.examine(noAsk)
	if f := found[check]; f.Status != "skipped" || !strings.Contains(f.Fix, "click Start") {
		t.Errorf("%v: %+v", well, f)
	}
	route.To = []string{"discord:" + sandbox.DiscordChannel}
	p.config.Routes["default"] = route
	delete(p.config.People["ana"].Accounts, "discord")
	found, _ = p.examine(noAsk)
	if f := found[check]; f.Status != "warning" || !strings.Contains(f.Detail, "no responder has an account on discord") {
		t.Errorf("%+v", f)
	}
	route.Payload = ""
	p.config.Routes["default"] = route
	found, _ = p.examine(noAsk)
	if f, ok := found[check]; ok {
		t.Errorf("%+v", f)
	}
}
