package telegram_test

import (
	"fmt"
	"net/http"
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
	Opens:   "getUpdates", Post: "sendMessage", Edit: "editMessageText", Part: "sendDocument", TooLong: 8_000_001, Redelivers: true,
	Refusals: []sandbox.Fault{{Kind: "absent"}, {Kind: "no_permission"}},
	Group:    group, SandboxGroup: group,
	Findings: []platformtest.Finding{
		{Fault: sandbox.Fault{Kind: "absent"}, Check: "chat." + group, Status: bridge.FindingFailed, Fix: "add @"},
		{Fault: sandbox.Fault{Kind: "error", Method: "getChatMember", Status: http.StatusBadRequest}, Check: "chat." + group,
			Status: bridge.FindingFailed, Fix: "add @"},
		{Fault: sandbox.Fault{Kind: "no_permission"}, Check: "chat." + group, Status: bridge.FindingFailed,
			Fix: "Permissions"},
	},
	Talk: "answerCallbackQuery", Deletions: false,
	Errors: telegram.Errors, Client: client{}, Forge: forge{}, Replies: true,
}

func newPlatform(s platformtest.Setup) (platformtest.Platform, error) {
	o := telegram.Options{
		Name: "telegram", Token: sandbox.TelegramToken, APIURL: s.URL + "/telegram", Notes: s.Notes, NoPacing: !s.Paced, Turns: s.Turns, Log: s.Log,
		WebhookURL: s.Callback,
	}
	if s.Token != "" {
		o.Token = s.Token
	}
	return telegram.New(o)
}

// client reads the messages of Telegram.
type client struct{}

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
