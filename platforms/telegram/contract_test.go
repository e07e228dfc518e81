package telegram_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
)

// TestContract runs the contract of chat platforms.
func TestContract(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, harness)
}

var webhookSecret = telegram.WebhookSecret(sandbox.TelegramToken)

var group = strconv.FormatInt(sandbox.TelegramChat, 10)

var harness = platformtest.Harness{
	Name: "telegram", Channel: group, Elsewhere: "7001",
	Direct:  "7001",
	Account: func(m sandbox.Member) string { return strconv.FormatInt(m.Telegram, 10) },
	New:     newPlatform,
	Post:    "sendMessage", Edit: "editMessageText", Part: "sendDocument", TooLong: 8_000_001, Redelivers: true,
	Refusals: []sandbox.Fault{{Kind: "absent"}, {Kind: "no_permission"}},
	Group:    group, SandboxGroup: group,
	Findings: []platformtest.Finding{
		{Fault: sandbox.Fault{Kind: "absent"}, Check: "chat." + group, Status: bridge.FindingFailed, Fix: "add @"},
		{Fault: sandbox.Fault{Kind: "no_permission"}, Check: "chat." + group, Status: bridge.FindingFailed,
			Fix: "Permissions"},
	},
	Client: client{}, Forge: forge{}, Reply: reply,
}

// reply replies to a card.
func reply(r *platformtest.Rig, who string, at sandbox.Place, text string) {
	r.T.Helper()
	act := sandbox.Action{Service: "telegram", As: who, Do: "reply", Channel: at.Channel, Message: at.Message, Text: text}
	if _, err := r.Sandbox.Act(r.Ctx, act); err != nil {
		r.T.Fatal(err)
	}
}

func newPlatform(s platformtest.Setup) (platformtest.Platform, error) {
	o := telegram.Options{
		Name: "telegram", Token: sandbox.TelegramToken, APIURL: s.URL + "/telegram", Notes: s.Notes, NoPacing: !s.Paced, Turns: s.Turns,
		WebhookURL: s.Callback,
	}
	if s.Token != "" {
		o.Token = s.Token
	}
	return telegram.New(o)
}

// client is the Telegram app of a person.
type client struct{}

// Type implements platformtest.Client: texts are replies to a prompt.
func (c client) Type(r *platformtest.Rig, who string, at sandbox.Place, label, text string) sandbox.Reaction {
	r.T.Helper()
	r.Press(who, r.Open(who, at, label), label)
	return c.Retype(r, who, at, label, text, sandbox.Reaction{})
}

// Retype implements platformtest.Client: the prompt is still there.
func (client) Retype(r *platformtest.Rig, who string, at sandbox.Place,
	_, text string, _ sandbox.Reaction) sandbox.Reaction {
	r.T.Helper()
	var reaction sandbox.Reaction
	r.Eventually("the prompt is there", func() bool {
		var err error
		reaction, err = r.Sandbox.Person(who).Reply(r.Ctx, at.Channel, text)
		return err == nil
	})
	return r.Must(reaction, nil)
}

// Choose implements platformtest.Client: each option is a button.
func (client) Choose(r *platformtest.Rig, who string, at sandbox.Place,
	w bridge.Widget, labels ...string) sandbox.Reaction {
	r.T.Helper()
	for _, l := range labels {
		r.Press(who, at, l)
	}
	return r.Press(who, at, map[bridge.Widget]string{
		bridge.WidgetSelect: "Submit", bridge.WidgetRadio: "Submit",
		bridge.WidgetCheckbox: "Done", bridge.WidgetActionSelection: "Continue",
	}[w])
}

// ChooseFrom implements platformtest.Client: a reply with the name finds the
// page.
func (c client) ChooseFrom(r *platformtest.Rig, who string, at sandbox.Place,
	_ int, label string) sandbox.Reaction {
	r.T.Helper()
	reply(r, who, at, label)
	r.Has(at, label)
	return c.Choose(r, who, at, bridge.WidgetSelect, label)
}

// Fill implements platformtest.Client: the card asks for one field after the
// other.
func (c client) Fill(r *platformtest.Rig, who string, at sandbox.Place, fields []platformtest.Field) {
	r.T.Helper()
	for n, f := range fields {
		r.Says(at, fmt.Sprintf("%d/%d", n+1, len(fields)))
		switch {
		case len(f.Values) == 0:
			r.Press(who, at, "Skip")
		case f.Widget == bridge.WidgetConfirm:
			r.Press(who, at, f.Values[0])
		case f.Widget == bridge.WidgetRadio || f.Widget == bridge.WidgetCheckbox:
			for _, l := range f.Values {
				r.Press(who, at, l)
			}
			r.Press(who, at, "Next")
		default:
			c.Type(r, who, at, "Answer", f.Values[0])
		}
	}
	r.Says(at, "Check and submit")
	r.Press(who, at, "Submit")
}

// Told implements platformtest.Client: at the button, in an ephemeral message, or
// else in the chat.
func (client) Told(r *platformtest.Rig, who string, _ sandbox.Place, reaction sandbox.Reaction, words string) {
	r.T.Helper()
	if strings.Contains(strings.Join(r.Sandbox.Person(who).Notes("telegram"), "\n"), words) {
		return
	}
	if reaction.Toast == "" {
		r.Replied(words)
		return
	}
	if !strings.Contains(reaction.Toast, words) {
		r.T.Errorf("the button says %q, want %q", reaction.Toast, words)
	}
}

// fullText is the name of the file that carries the rest of a card's text.
var fullText = regexp.MustCompile(`request-[0-9a-f]+-[0-9a-f]+\.txt`)

// Shown implements platformtest.Client: the file is a message of its own.
func (client) Shown(r *platformtest.Rig, at sandbox.Place) string {
	own := r.Text(at)
	name := fullText.FindString(own)
	for _, m := range r.Messages() {
		doc, _ := m["document"].(map[string]any)
		if path, _ := doc["url"].(string); name != "" && doc["file_name"] == name {
			own += "\n" + download(r, path)
		}
	}
	return own
}

func download(r *platformtest.Rig, path string) string {
	resp, err := http.Get(r.URL + path)
	if err != nil {
		r.T.Error(err)
		return ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.T.Error(err)
	}
	return string(raw)
}

// Follows implements platformtest.Client.
func (client) Follows(r *platformtest.Rig, second, first sandbox.Place) bool {
	to, _ := r.Sandbox.Message(second)["reply_to_message"].(map[string]any)
	return to != nil && fmt.Sprint(to["message_id"]) == first.Message
}

// Mentions implements platformtest.Client.
func (client) Mentions(m map[string]any) string {
	var who []string
	if m["detected_mentions"] != nil {
		who = append(who, fmt.Sprint(m["detected_mentions"]))
	}
	entities, _ := m["entities"].([]any)
	for _, e := range entities {
		e, _ := e.(map[string]any)
		if e["type"] == "text_mention" || strings.Contains(fmt.Sprint(e["url"]), "tg://user") {
			who = append(who, fmt.Sprint(e))
		}
	}
	return strings.Join(who, " ")
}

// Token implements platformtest.Client.
func (client) Token(c sandbox.Control) string { return c.ID }

// Accepts implements platformtest.Client.
func (client) Accepts(bridge.Widget, string) bool { return true }

// forge makes the requests of Telegram's webhook.
type forge struct{}

// Click implements platformtest.Forge.
func (forge) Click(token string, at sandbox.Place, account string) string {
	return fmt.Sprintf(`{"update_id":1,"callback_query":{"id":"1","from":{"id":%s},"data":%q,`+
		`"message":{"message_id":%s,"chat":{"id":%s}}}}`, account, token, at.Message, at.Channel)
}

// Sign implements platformtest.Forge: Telegram sends a secret that was agreed
// on.
func (forge) Sign(*platformtest.Rig, string, time.Time) http.Header {
	return http.Header{secretHeader: {webhookSecret}, "Content-Type": {"application/json"}}
}

const secretHeader = "X-Telegram-Bot-Api-Secret-Token"

// Break implements platformtest.Forge.
func (forge) Break(*platformtest.Rig, string) map[string]http.Header {
	return map[string]http.Header{
		"wrong secret": {secretHeader: {webhookSecret[1:]}}, "empty secret": {secretHeader: {""}},
		"truncated secret": {secretHeader: {webhookSecret[:5]}},
	}
}
