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
	Direct:    "U0ANA00001",
	Account:   func(m sandbox.Member) string { return m.Slack },
	New:       newPlatform,
	Callbacks: func(o *sandbox.Options, url string) { o.SlackURL = url },
	Post:      "chat.postMessage", Edit: "chat.update", Part: "chat.postMessage", Dialogs: true, Socket: true,
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
	Client: client{}, Forge: forge{},
}

func missing(scope string) sandbox.Fault {
	return sandbox.Fault{Service: "slack", Kind: "missing_scope", Method: scope}
}

func newPlatform(s platformtest.Setup) (platformtest.Platform, error) {
	o := slack.Options{
		Name: "slack", BotToken: sandbox.SlackBotToken, AppToken: sandbox.SlackAppToken,
		APIURL: s.URL + "/slack/api/", NoPacing: !s.Paced, Turns: s.Turns,
	}
	if s.Callback != "" {
		o.AppToken, o.SigningSecret = "", sandbox.SlackSigningSecret
	}
	if s.Token != "" {
		o.BotToken = s.Token
	}
	return slack.New(o)
}

// client is the Slack app of a person.
type client struct{}

// Type implements platformtest.Client: texts are typed into a modal.
func (client) Type(r *platformtest.Rig, who string, at sandbox.Place, label, text string) sandbox.Reaction {
	r.T.Helper()
	reaction, err := r.TryFill(who, at, label, []string{text})
	if err != nil { // the input itself does not take it
		reaction.Errors = map[string]string{"": err.Error()}
	}
	return r.Must(reaction, nil)
}

// Retype implements platformtest.Client: the modal is still open.
func (client) Retype(r *platformtest.Rig, who string, _ sandbox.Place,
	_, text string, refused sandbox.Reaction) sandbox.Reaction {
	r.T.Helper()
	return r.Refill(who, refused.Modal, []string{text})
}

// Choose implements platformtest.Client: the input is on the card.
func (client) Choose(r *platformtest.Rig, who string, at sandbox.Place,
	w bridge.Widget, labels ...string) sandbox.Reaction {
	r.T.Helper()
	submit := map[bridge.Widget]string{bridge.WidgetSelect: "Submit", bridge.WidgetActionSelection: "Continue"}[w]
	if submit == "" {
		submit = "Submit"
	}
	return r.Pick(who, at, labels, submit)
}

// ChooseFrom implements platformtest.Client: a modal has the long list.
func (client) ChooseFrom(r *platformtest.Rig, who string, at sandbox.Place,
	_ int, label string) sandbox.Reaction {
	r.T.Helper()
	return r.Fill(who, at, "Choose", []string{label})
}

// Fill implements platformtest.Client: one modal has all fields.
func (client) Fill(r *platformtest.Rig, who string, at sandbox.Place, fields []platformtest.Field) {
	r.T.Helper()
	var values [][]string
	for _, f := range fields {
		values = append(values, f.Values)
	}
	if reaction := r.Fill(who, at, "Answer", values...); len(reaction.Errors) > 0 {
		r.T.Errorf("the form is refused: %v", reaction.Errors)
	}
}

// Told implements platformtest.Client: at the field, or in an ephemeral reply.
func (client) Told(r *platformtest.Rig, who string, _ sandbox.Place, reaction sandbox.Reaction, words string) {
	r.T.Helper()
	if len(reaction.Errors) == 0 {
		r.Noted(who, words)
		return
	}
	if said := fmt.Sprint(reaction.Errors); !strings.Contains(said, words) {
		r.T.Errorf("the field says %s, want %q", said, words)
	}
}

// Shown implements platformtest.Client: a dialog has the rest of the text.
func (client) Shown(r *platformtest.Rig, at sandbox.Place) string {
	reads := func(c sandbox.Control) bool { return strings.HasPrefix(c.Label, "Read and ") }
	if !slices.ContainsFunc(r.Controls(at), reads) {
		return r.Text(at)
	}
	opened := r.Press("ana", at, "Read and ")
	for _, v := range r.Sandbox.State().Slack.Views {
		if v.ID == opened.Modal {
			return sandbox.Texts(v.View)
		}
	}
	return ""
}

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
