package setup

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// patient is an installation to examine: the config of a rig with a problem.
type patient struct {
	t      *testing.T
	config config.Config
	redis  string
}

// yaml returns the config as YAML.
func (p patient) yaml() string {
	p.t.Helper()
	c := p.config
	var b strings.Builder
	fmt.Fprintf(&b, "listen: 127.0.0.1:1\nredis: {url: %s, wait_replicas: %d}\nsandbox: %s\n", p.redis, c.Redis.WaitReplicas, c.Sandbox)
	for _, line := range []string{
		section("slack", "bot_token", sandboxed.Slack(&c).BotToken.Value(), "app_token", sandboxed.Slack(&c).AppToken.Value()),
		section("discord", "bot_token", sandboxed.Discord(&c).BotToken.Value(), "public_key", sandboxed.Discord(&c).PublicKey),
		section("telegram", "bot_token", sandboxed.Telegram(&c).BotToken.Value()), section("token_key", "", c.TokenKey.Value()), section("receipts", "key", c.Receipts.Key.Value()),
	} {
		b.WriteString(line)
	}
	b.WriteString("people:\n")
	for name, who := range c.People {
		b.WriteString("  " + name + ":\n")
		for _, line := range []string{section("slack", "", who.Account("slack")), section("discord", "", who.Account("discord")), section("telegram", "", who.Account("telegram"))} {
			if line != "" {
				b.WriteString("    " + line)
			}
		}
	}
	route := c.Routes[bridge.DefaultRoute]
	b.WriteString("routes:\n  default:\n")
	fmt.Fprintf(&b, "    to: [\"%s\"]\n    responders: [%s]\n", strings.Join(route.To, `", "`), strings.Join(route.Responders, ", "))
	if line := section("payload", "", route.Payload); line != "" {
		b.WriteString("    " + line)
	}
	fmt.Fprintf(&b, "agents:\n  ci: {token: a-token-of-some-length}\nidentity: {email: %t}\n", c.Identity.Email)
	path := filepath.Join(p.t.TempDir(), "nod.yaml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// section returns a line with the settings that have a value, or "". With an empty
// key, the value is that of the section.
func section(name string, settings ...string) string {
	var set []string
	for n := 0; n < len(settings); n += 2 {
		switch key, value := settings[n], settings[n+1]; {
		case value == "":
		case key == "":
			return fmt.Sprintf("%s: %q\n", name, value)
		default:
			set = append(set, fmt.Sprintf("%s: %q", key, value))
		}
	}
	if set == nil {
		return ""
	}
	return name + ": {" + strings.Join(set, ", ") + "}\n"
}

// examine runs the doctor and returns its findings and whether no check failed.
func (p patient) examine(change func(*Doctor)) (map[string]bridge.Finding, bool) {
	p.t.Helper()
	return p.examineUntil(p.t.Context(), change)
}

func (p patient) examineUntil(ctx context.Context, change func(*Doctor)) (map[string]bridge.Finding, bool) {
	p.t.Helper()
	var table strings.Builder
	d := Doctor{Path: p.yaml(), Route: bridge.DefaultRoute, Timeout: 2 * time.Minute, Talk: io.Discard, Out: &table}
	change(&d)
	d.Examine(ctx)
	if n := strings.Count(table.String(), "\n"); n < len(d.Findings) {
		p.t.Errorf("%d lines for %d findings", n, len(d.Findings))
	}
	m := map[string]bridge.Finding{}
	for _, f := range d.Findings {
		if was, twice := m[f.Check]; !twice || was.Status != bridge.FindingFailed {
			m[f.Check] = f
		}
		for _, secret := range p.config.Secrets() {
			if secret != "" && (strings.Contains(f.Detail+f.Fix, secret) || strings.Contains(table.String(), secret)) {
				p.t.Errorf("%s prints a secret", f.Check)
			}
		}
	}
	return m, !d.Failed()
}

func noAsk(d *Doctor)   { d.NoAsk = true }
func offline(d *Doctor) { d.Offline = true }

// newPatient returns a healthy installation: the sandbox and a Redis server
// with persistence, but no daemon.
func newPatient(t *testing.T, args ...string) (patient, *rig.Rig) {
	t.Helper()
	r := rig.Outside(t, args...)
	return patient{t, sandboxed.Config(r.Base), "redis://" + r.Redis.Addr}, r
}

// TestDoctorRecognizes checks that each known problem of Redis and the keys is
// found, with a fix, and one problem of each platform. The packages of the
// platforms check the others.
func TestDoctorRecognizes(t *testing.T) {
	t.Parallel()
	fault := func(service, kind, method string) func(*patient, *rig.Rig) {
		return func(_ *patient, r *rig.Rig) {
			r.Sandbox.AddFault(sandbox.Fault{Service: service, Kind: kind, Method: method, Delay: time.Hour})
		}
	}
	for name, x := range map[string]struct {
		wrong  func(*patient, *rig.Rig)
		check  string
		status bridge.FindingStatus
		fix    string
	}{
		"slack: addresses": {func(p *patient, r *rig.Rig) {
			p.config.Identity.Email = true
			fault("slack", "missing_scope", "users:read.email")(p, r)
		}, "slack.scopes", "failed", "Reinstall"},
		"discord: public key":   {func(p *patient, _ *rig.Rig) { sandboxed.Discord(&p.config).PublicKey = strings.Repeat("ab", 32) }, "discord.public_key", "failed", "General Information"},
		"telegram: not there":   {fault("telegram", "absent", ""), fmt.Sprintf("telegram.chat.%d", sandbox.TelegramChat), "failed", "add @"},
		"redis: away":           {func(_ *patient, r *rig.Rig) { r.Redis.Kill() }, "redis.reach", "failed", "redis.url"},
		"redis: eviction":       {func(_ *patient, r *rig.Rig) { configSet(r, "maxmemory-policy", "allkeys-lru") }, "redis.eviction", "failed", "noeviction"},
		"redis: full":           {func(_ *patient, r *rig.Rig) { configSet(r, "maxmemory", "1200000") }, "redis.works", "failed", "maxmemory"},
		"redis: no persistence": {func(_ *patient, r *rig.Rig) { configSet(r, "appendonly", "no") }, "redis.persistence", "warning", "appendonly"},
		"redis: no password":    {func(*patient, *rig.Rig) {}, "redis.password", "warning", "requirepass"},
		"keys: none yet": {func(p *patient, _ *rig.Rig) {
			p.config.TokenKey, p.config.Receipts.Key = config.Secret{}, config.Secret{}
		}, "keys", "warning", "receipts.key"},
		"keys: different": {func(_ *patient, r *rig.Rig) {
			for _, node := range []string{"a", "b"} {
				if err := r.Redis.Client(t).HSet(r.Ctx, "nod:{nod}:daemons", node, node+fmt.Sprintf(" %d", time.Now().UnixMilli())).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}, "keys.daemons", "failed", "restart them"},
		"keys: others": {func(_ *patient, r *rig.Rig) {
			if err := r.Redis.Client(t).HSet(r.Ctx, "nod:{nod}:daemons", "a", fmt.Sprintf("a %d", time.Now().UnixMilli())).Err(); err != nil {
				t.Fatal(err)
			}
		}, "keys.daemons", "failed", "variables of the running daemons"},
		"redis: replicas": {func(p *patient, _ *rig.Rig) { p.config.Redis.WaitReplicas = 1 }, "redis.replicas", "failed", "wait_replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newPatient(t)
			x.wrong(&p, r)
			found, well := p.examine(noAsk)
			f := found[x.check]
			if f.Status != x.status || !strings.Contains(f.Fix, x.fix) {
				t.Errorf("%s: %+v; all: %+v", x.check, f, found)
			}
			if well == (x.status == bridge.FindingFailed) {
				t.Errorf("well: %v; %+v", well, found)
			}
			for check, other := range found {
				if other.Status == bridge.FindingFailed && check != x.check && !strings.HasPrefix(check, strings.Split(x.check, ".")[0]+".") {
					t.Errorf("unexpected findings: %+v", other)
				}
			}
		})
	}
}

func configSet(r *rig.Rig, key, value string) {
	r.T.Helper()
	if err := r.Redis.Client(r.T).ConfigSet(r.Ctx, key, value).Err(); err != nil {
		r.T.Fatal(err)
	}
}

// serve starts a daemon, and waits until it is running and connected.
func (p patient) serve(r *rig.Rig) *rig.Running {
	p.t.Helper()
	c := p.config
	c.Redis = config.Redis{URL: config.NewSecret(p.redis), Prefix: redis.DefaultPrefix}
	client, err := daemon.NewRedis(c.Redis)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = client.Close() }) // the test is over
	r.Config, r.Client = c, client
	run := r.Start(rig.Listen(p.t))
	r.Eventually("the daemon is running", func() bool {
		all, err := redis.Announced(r.Ctx, client, c.Redis.Prefix)
		return err == nil && len(all) > 0
	})
	r.Connected()
	return run
}

// TestDoctorAsks checks that the test question succeeds on a healthy setup, and
// that all clicks still reach the daemon in the meantime.
func TestDoctorAsks(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	configSet(r, "requirepass", "secret")
	p.redis = strings.Replace(p.redis, "//", "//:secret@", 1)
	run := p.serve(r)
	var clicks sync.WaitGroup
	defer clicks.Wait()
	clicks.Go(func() {
		at := sandbox.Place{Service: "slack", Channel: sandbox.SlackChannel}
		r.Eventually("the test question is posted", func() bool {
			for _, c := range r.Sandbox.State().Slack.Channels {
				if c.ID == sandbox.SlackChannel && len(c.Messages) > 0 {
					at.Message, _ = c.Messages[0]["ts"].(string)
				}
			}
			return at.Message != ""
		})
		if n := r.Sandbox.Connections("slack"); n != 1 {
			t.Errorf("Slack sends clicks to %d connections", n)
		}
		_, _ = r.Sandbox.Person("ana").Press(r.Ctx, at, "It reaches me") // the findings show the result
	})
	found, well := p.examine(func(d *Doctor) { d.URL, d.Timeout = run.URL, await.Limit })
	for check, f := range found {
		early := f.Status == bridge.FindingSkipped && strings.HasPrefix(check, "test.post.") // ana clicked before this card was posted
		if f.Status != bridge.FindingOK && !early && check != "redis.latency" {              // a busy machine is slow
			t.Errorf("the finding is %+v, want %s", f, bridge.FindingOK)
		}
	}
	if f := found["test.press"]; !well || !strings.Contains(f.Detail, "ana clicked on slack") {
		t.Errorf("well: %v, %+v", well, f)
	}
}

// TestDoctorLeavesRequests checks that nod doctor neither posts a test question
// nor changes anything if no daemon is running: it must not take part in
// requests that are pending.
func TestDoctorLeavesRequests(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Config){
		"pending": func(*config.Config) {},
		"no keys": func(c *config.Config) { c.TokenKey, c.Receipts.Key = config.Secret{}, config.Secret{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newPatient(t)
			run := p.serve(r)
			if _, err := run.Engine().Open(r.Ctx, bridge.Agent{Name: "ci"}, bridge.Request{Ask: bridge.Ask{
				Kind: bridge.KindApproval, Prompt: "Deploy?", Approval: &bridge.Approval{Tool: "deploy"},
			}}, ""); err != nil {
				t.Fatal(err)
			}
			run.Stop()
			change(&p.config)
			client, dir := r.Redis.Client(t), ""
			before := redistest.Content(t, client)
			found, _ := p.examine(func(d *Doctor) { d.Timeout, dir = await.Limit, filepath.Dir(d.Path) })
			if f := found["test"]; f.Status != bridge.FindingSkipped || !strings.Contains(f.Fix, "nod serve") {
				t.Errorf("%+v", f)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || !maps.Equal(redistest.Content(t, client), before) {
				t.Errorf("Redis or the files %v have changed, %v", files, err)
			}
		})
	}
}

// TestDoctorIsInterrupted checks that an interrupted test cancels its question
// and closes its cards.
func TestDoctorIsInterrupted(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	p.serve(r)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	card := func() string {
		for _, c := range r.Sandbox.State().Slack.Channels {
			if c.ID == sandbox.SlackChannel && len(c.Messages) > 0 {
				return fmt.Sprint(c.Messages[0])
			}
		}
		return ""
	}
	var watch sync.WaitGroup
	defer watch.Wait()
	watch.Go(func() {
		r.Eventually("the test question is posted", func() bool { return card() != "" })
		interrupt()
	})
	found, _ := p.examineUntil(ctx, func(d *Doctor) { d.Timeout = await.Limit })
	if f := found["test.press"]; f.Status != bridge.FindingSkipped || !strings.Contains(f.Detail, "interrupted") {
		t.Errorf("%+v", f)
	}
	r.Eventually("the card shows it", func() bool { return strings.Contains(card(), "the test ended early") })
}

// TestDoctorNamesTheHop checks that the finding names the step that failed.
func TestDoctorNamesTheHop(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		fault  sandbox.Fault
		who    string
		check  string
		detail string
	}{
		"no one clicks":      {check: "test.press", detail: "no click arrived"},
		"a click gets lost":  {fault: sandbox.Fault{Service: "slack", Kind: "event_drop"}, who: "ana", check: "test.press", detail: "no click arrived"},
		"an outsider clicks": {who: "mal", check: "test.press", detail: "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newPatient(t)
			delete(p.config.Connections, "discord")
			delete(p.config.Connections, "telegram")
			rig.Only("slack")(&p.config)
			p.serve(r)
			if x.fault.Kind != "" {
				r.Sandbox.AddFault(x.fault)
			}
			if x.who != "" {
				go func() {
					_ = r.Sandbox.Wait(t.Context(), func() bool {
						for _, c := range r.Sandbox.Chats("slack") {
							if c.ID == sandbox.SlackChannel && len(c.Messages) > 0 {
								ts, _ := c.Messages[0]["ts"].(string)
								go r.Sandbox.Person(x.who).Press(r.Ctx, sandbox.Place{Service: "slack", Channel: c.ID, Message: ts}, "It reaches me") // lost or rejected
								return true
							}
						}
						return false
					})
				}()
			}
			found, well := p.examine(func(d *Doctor) { d.Timeout = 10 * time.Second }) // enough for the card and the click on a busy machine
			if f := found[x.check]; well || f.Status != bridge.FindingFailed || !strings.Contains(f.Detail, x.detail) || f.Fix == "" {
				t.Errorf("well: %v, %+v of %+v", well, f, found)
			}
		})
	}
}

// TestDoctorOffline checks that nod doctor --offline contacts nothing and
// reports every problem of the config.
func TestDoctorOffline(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			t.Errorf("%s was contacted", c.LocalAddr())
		}
	}()
	base := "http://" + l.Addr().String()
	p := patient{t, sandboxed.Config(base), "redis://" + l.Addr().String()}
	if found, well := p.examine(offline); !well || len(found) != 1 {
		t.Errorf("well: %v, %+v", well, found)
	}
	route := p.config.Routes[bridge.DefaultRoute]
	route.Responders = []string{"nobody-known"}
	p.config.Routes[bridge.DefaultRoute] = route
	if found, well := p.examine(offline); well || !strings.Contains(found["config"].Detail, "nobody-known") {
		t.Errorf("well: %v, %+v", well, found)
	}
}
