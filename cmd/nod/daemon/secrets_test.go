package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// secrets are credentials that an agent could send by mistake. None of them was
// ever valid.
var secrets = map[string]string{
	"aws": "AKIA" + "IOSFODNN7EXAMPLE", "github": "ghp_" + strings.Repeat("a1B2", 9), "anthropic": "sk-ant-" + strings.Repeat("Qw1-", 20),
	"jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N", "pattern": "ACME-12345678",
}

// stored returns everything in Redis as text.
func stored(r *rig.Rig) string {
	r.T.Helper()
	var b strings.Builder
	keys, err := r.Client.Keys(r.Ctx, "*").Result()
	if err != nil {
		r.T.Fatal(err)
	}
	for _, k := range keys {
		kind, err := r.Client.Type(r.Ctx, k).Result()
		if err != nil {
			r.T.Fatal(err)
		}
		var v any
		switch kind {
		case "string":
			v, err = r.Client.Get(r.Ctx, k).Result()
		case "hash":
			v, err = r.Client.HGetAll(r.Ctx, k).Result()
		case "zset":
			v, err = r.Client.ZRange(r.Ctx, k, 0, -1).Result()
		case "list":
			v, err = r.Client.LRange(r.Ctx, k, 0, -1).Result()
		case "stream":
			v, err = r.Client.XRange(r.Ctx, k, "-", "+").Result()
		}
		if err != nil {
			r.T.Logf("%s: %v", k, err) // the key may be gone
		}
		fmt.Fprintln(&b, k, v)
	}
	return b.String()
}

// TestNoSecretLeaves checks that a credential reaches neither a card nor Redis
// with its events, wherever an agent puts it, and that the digest is that of
// the request as it was sent.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		c.Redact.Patterns = []string{`ACME-\d{8}`}
		c.Policy = []policy.Rule{{Name: "hide", Tools: []string{"hide"}, Then: "ask", Redact: []string{"user.phone"}}}
	}})
	for name, secret := range secrets {
		for where, req := range requestsWith(name, secret) {
			hides(r, name+" in "+where, where != "key" && where != "options", secret, req)
		}
		refuses(r, name, secret)
	}
	hidden := r.Ask(bridge.Request{Ask: bridge.Ask{
		Prompt: "x", Approval: &bridge.Approval{Tool: "hide", Input: []byte(`{"user":{"phone":"555-0100","name":"Zoe"}}`)},
	}})
	if text := hidden.Text("slack"); strings.Contains(text, "555-0100") || !strings.Contains(text, "Zoe") {
		t.Errorf("the rule's field is not hidden: %s", text)
	}
	chats, err := json.Marshal(r.Sandbox.State())
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the chats show": string(chats), "redis holds": stored(r)} {
		for name, secret := range secrets {
			if n := strings.Index(text, secret); n >= 0 {
				t.Errorf("%s %s: …%s", what, name, text[max(0, n-200):n+len(secret)])
			}
		}
		if strings.Contains(text, "555-0100") {
			t.Errorf("%s the field that is to be hidden", what)
		}
	}
}

// requestsWith returns requests with a secret, by the part that contains it.
func requestsWith(name, secret string) map[string]bridge.Request {
	return map[string]bridge.Request{
		"prompt":  {Ask: bridge.Ask{Prompt: "Use " + secret + "?"}},
		"command": command("export KEY="+secret+" && make", "s-"+name, bridge.ScopeOnce, bridge.ScopeSession),
		"key": {Ask: bridge.Ask{
			Prompt: "May I?", Session: "k-" + name, Approval: &bridge.Approval{Tool: "t", Key: "run " + secret, Input: []byte(`{"a":1}`), Scopes: []bridge.Scope{bridge.ScopeSession}},
		}},
		"field": {Ask: bridge.Ask{
			Prompt: "May I?", Approval: &bridge.Approval{Tool: "t", Input: []byte(fmt.Sprintf(`{"deep":[{"x %s":"y","z":%q}]}`, secret, secret))},
		}},
		"options": {Ask: bridge.Ask{
			Prompt: "Which?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetRadio, Options: []bridge.Option{{Value: "a", Label: secret, Description: "is " + secret, Preview: secret}, {Value: "b"}}}},
		}},
		"plan": {Ask: bridge.Ask{
			Prompt: "Plan", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetPlanReview, Plan: "1. export " + secret}},
		}},
	}
}

// hides takes a request with a secret through its life. If it is marked, each
// card says that something is hidden.
func hides(r *rig.Rig, what string, marked bool, secret string, req bridge.Request) {
	r.T.Helper()
	a := r.Ask(req)
	digest, err := proof.DigestAsSent(req.Ask)
	if err != nil || a.Interaction.Digest != digest {
		r.T.Errorf("%s: the digest is %s, %v; want %s", what, a.Interaction.Digest, err, digest)
	}
	if a.Interaction.Redacted == 0 {
		r.T.Errorf("%s is not noticed", what)
	}
	for _, service := range rig.Services {
		if !strings.Contains(a.Text(service), "redacted") && marked {
			r.T.Errorf("%s: the card on %s does not say that something is hidden: %s", what, service, a.Text(service))
		}
	}
	if req.Approval != nil {
		if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Decision: a.Interaction.Decisions()[0], Reason: ""}); err != nil {
			r.T.Error(err)
		}
	}
	if _, err := r.Agent.Complete(r.Ctx, a.Interaction.ID, bridge.Completion{Result: "it was " + secret}); err != nil && req.Approval != nil {
		r.T.Error(err)
	}
	if _, err := r.Agent.Cancel(r.Ctx, a.Interaction.ID, "because of "+secret); err != nil {
		r.T.Error(err)
	}
}

// refuses checks that a secret is refused in a field whose text must come back
// unchanged, and that the error does not repeat it.
func refuses(r *rig.Rig, name, secret string) {
	r.T.Helper()
	for field, req := range map[string]bridge.Request{
		"session": {Ask: bridge.Ask{
			Prompt: "x", Session: secret,
		}}, "options[0].value": {Ask: bridge.Ask{
			Prompt: "x", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetButtons, Options: samples.Choices(secret)}},
		}},
		"initial": {Ask: bridge.Ask{
			Prompt: "x", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText}}, Initial: map[string]bridge.Answer{"q": bridge.TextAnswer(secret)},
		}},
	} {
		if _, err := r.Agent.Open(r.Ctx, req, ""); bridge.ErrorCode(err) != bridge.CodeInvalid || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), field) {
			r.T.Errorf("%s in %s: %v", name, field, err)
		}
	}
	if _, err := r.Agent.Open(r.Ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "x", Route: secret,
	}}, ""); err == nil || strings.Contains(err.Error(), secret) {
		r.T.Errorf("an error repeats %s: %v", name, err)
	}
}

// TestLogHidesSecrets checks that neither the credentials in the config nor
// those in requests reach the log.
func TestLogHidesSecrets(t *testing.T) {
	t.Parallel()
	c := config.Config{}
	sandboxed.Slack(&c).BotToken, c.TokenKey = config.NewSecret("a-very-own-token"), config.NewSecret("0a0b0c0d,1a1b1c1d")
	c.Agents = map[string]config.Agent{"ci": {Token: config.NewSecret("the-token-of-the-agent")}}
	hide, err := daemon.Redactor(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		log := daemon.NewLog(&b, "debug", asJSON, hide)
		values := append(c.Secrets(), "AKIA"+"IOSFODNN7EXAMPLE")
		for _, s := range values {
			log.Info("found "+s, "text", s, "error", errors.New("refused: "+s), "list", []string{"x", s}, "map", map[string]string{"k": s})
			log.With("always", s).WithGroup("g").Warn("x", "y", s)
		}
		for _, s := range values {
			if strings.Contains(b.String(), s) {
				t.Errorf("%q is in the log: %s", s, b.String())
			}
		}
		if len(values) < 6 || !strings.Contains(b.String(), "level") {
			t.Errorf("%d values; %s", len(values), b.String())
		}
	}
}
