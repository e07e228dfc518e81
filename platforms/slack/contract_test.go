package slack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
)

// TestContract runs the contract of chat platforms.
func TestContract(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, harness)
}

var harness = platformtest.Harness{
	Name: "slack", Channel: sandbox.SlackChannel, Elsewhere: "C0ONCALL02",
	Direct:  "U0ANA00001",
	Account: func(m sandbox.Member) string { return m.Slack },
	New:     newPlatform,
	Post:    "chat.postMessage", Edit: "chat.update", Part: "chat.postMessage", Opens: "apps.connections.open", Dialogs: true, Socket: true,
	Refusals: []sandbox.Fault{{Kind: "absent"}},
	Group:    sandbox.SlackUserGroup, SandboxGroup: sandbox.SlackUserGroup,
	Findings: []platformtest.Finding{
		{Fault: missing("chat:write"), Check: "scopes", Status: bridge.FindingFailed, Fix: "Reinstall"},
		{Fault: missing("users:read.email"), Check: "scopes", Status: bridge.FindingFailed, Fix: "Reinstall"},
		{Fault: missing("usergroups:read"), Check: "scopes", Status: bridge.FindingFailed, Fix: "Reinstall"},
		{Fault: missing("commands"), Check: "scopes", Status: bridge.FindingWarning, Fix: "Reinstall"},
		{Fault: sandbox.Fault{Service: "slack", Kind: "absent"}, Check: "channel." + sandbox.SlackChannel,
			Status: bridge.FindingFailed, Fix: "/invite @nod"},
	},
	Talk: "chat.postEphemeral", Deletions: true,
	Threads: true,
	Errors:  slack.Errors, Client: client{}, Forge: forge{},
}

func missing(scope string) sandbox.Fault {
	return sandbox.Fault{Service: "slack", Kind: "missing_scope", Method: scope}
}

func newPlatform(s platformtest.Setup) (platformtest.Platform, error) {
	o := slack.Options{
		Name: "slack", BotToken: sandbox.SlackBotToken, AppToken: sandbox.SlackAppToken,
		APIURL: s.URL + "/slack/api/", NoPacing: !s.Paced, Turns: s.Turns, Log: s.Log,
	}
	if s.Callback != "" {
		o.AppToken, o.SigningSecret = "", sandbox.SlackSigningSecret
	}
	if s.Token != "" {
		o.BotToken = s.Token
	}
	return slack.New(o)
}

// client reads the messages of Slack.
type client struct{}

// Follows implements platformtest.Client.
func (client) Follows(r *platformtest.Rig, second, first sandbox.Place) bool {
	return r.Sandbox.Message(second)["thread_ts"] == first.Message
}

// A mention in the text of a message. A date has the same brackets.
var mention = regexp.MustCompile(`<[@#][^>]*>|<!(subteam|here|channel|everyone)[^>]*>`)

// elements returns the elements of a block.
func elements(block any) []map[string]any {
	b, _ := block.(map[string]any)
	all, _ := b["elements"].([]any)
	var out []map[string]any
	for _, e := range all {
		if e, ok := e.(map[string]any); ok {
			out = append(out, e)
		}
	}
	return out
}

// Mentions implements platformtest.Client.
func (client) Mentions(m map[string]any) string {
	said := fmt.Sprint(m["text"])
	blocks, _ := m["blocks"].([]any)
	for _, b := range blocks {
		for _, e := range elements(b) {
			if e["type"] == "mrkdwn" {
				said += fmt.Sprint(e["text"])
			}
		}
	}
	found := mention.FindAllString(said, -1)
	raw := fmt.Sprint(m)
	for _, sign := range []string{"type:user ", "type:broadcast", "type:usergroup", "type:channel ", "verbatim:false"} {
		if strings.Contains(raw, sign) {
			found = append(found, sign)
		}
	}
	return strings.Join(found, " ")
}

// Token implements platformtest.Client.
func (client) Token(c sandbox.Control) string { return c.Value }

// Accepts implements platformtest.Client: some inputs check what is typed.
func (client) Accepts(w bridge.Widget, text string) bool {
	native := []bridge.Widget{bridge.WidgetNumber, bridge.WidgetDate, bridge.WidgetTime, bridge.WidgetDateTime}
	return text == "" || !slices.Contains(native, w)
}

// forge makes Slack's HTTP requests.
type forge struct{}

// Click implements platformtest.Forge.
func (forge) Click(token string, at sandbox.Place, account string) string {
	payload := fmt.Sprintf(`{"type":"block_actions","user":{"id":%q},"container":{"channel_id":%q,"message_ts":%q},`+
		`"actions":[{"type":"button","value":%q}]}`, account, at.Channel, at.Message, token)
	return url.Values{"payload": {payload}}.Encode()
}

// Sign implements platformtest.Forge.
func (forge) Sign(_ *platformtest.Rig, body string, at time.Time) http.Header {
	return signed(sandbox.SlackSigningSecret, at, body)
}

func signed(secret string, at time.Time, body string) http.Header {
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	sandbox.SignSlack(h, secret, at, []byte(body))
	return h
}

// Break implements platformtest.Forge.
func (forge) Break(_ *platformtest.Rig, body string) map[string]http.Header {
	now := time.Now()
	truncated := signed(sandbox.SlackSigningSecret, now, body)
	truncated.Set("X-Slack-Signature", truncated.Get("X-Slack-Signature")[:20])
	return map[string]http.Header{
		"wrong secret":        signed("another secret", now, body),
		"stale":               signed(sandbox.SlackSigningSecret, now.Add(-6*time.Minute), body),
		"from the future":     signed(sandbox.SlackSigningSecret, now.Add(6*time.Minute), body),
		"another body":        signed(sandbox.SlackSigningSecret, now, body+"&a=b"),
		"truncated signature": truncated,
	}
}
