package discord_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestContract runs the contract of chat platforms.
func TestContract(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, harness)
}

var harness = platformtest.Harness{
	Name: "discord", Channel: sandbox.DiscordChannel, Elsewhere: "100000000000000003",
	Direct:  "@300000000000000001",
	Account: func(m sandbox.Member) string { return m.Discord },
	New:     newPlatform,
	Post:    "POST /channels/{channel}/messages", Edit: editCall, Part: editCall, Opens: "GET /gateway/bot", Socket: true, TooLong: 8_000_001,
	Refusals: []sandbox.Fault{
		{Kind: "absent"}, {Kind: "no_permission"}, {Kind: "missing_permission", Method: "SEND_MESSAGES"},
	},
	Group: sandbox.DiscordGuild + "/" + sandbox.DiscordRole, SandboxGroup: sandbox.DiscordRole,
	Findings: []platformtest.Finding{
		{Fault: sandbox.Fault{Kind: "sessions"}, Check: "gateway", Status: bridge.FindingWarning,
			Fix: "keeps restarting"},
		{Fault: sandbox.Fault{Kind: "endpoint"}, Check: "endpoint", Status: bridge.FindingFailed,
			Fix: "Interactions Endpoint URL"},
		{Fault: sandbox.Fault{Kind: "absent"}, Check: "channel." + sandbox.DiscordChannel,
			Status: bridge.FindingFailed, Fix: "oauth2/authorize"},
		{Fault: sandbox.Fault{Kind: "no_permission"}, Check: "channel." + sandbox.DiscordChannel,
			Status: bridge.FindingFailed, Fix: "Permissions"},
	},
	Talk: callback, Deletions: true,
	Threads: true,
	Errors:  discord.Errors, Client: client{}, Forge: forge{},
}

// editCall changes a message; files come with it.
const editCall = "PATCH /channels/{channel}/messages/{message}"

func newPlatform(s platformtest.Setup) (platformtest.Platform, error) {
	o := discord.Options{Name: "discord", BotToken: sandbox.DiscordToken, APIURL: s.URL + "/discord", NoPacing: !s.Paced, Turns: s.Turns, Log: s.Log}
	if s.Callback != "" {
		o.PublicKey = fmt.Sprintf("%x", s.Sandbox.DiscordPublicKey())
	}
	if s.Token != "" {
		o.BotToken = s.Token
	}
	return discord.New(o)
}

// client reads the messages of Discord.
type client struct{}

// Follows implements platformtest.Client: a session has a thread.
func (client) Follows(_ *platformtest.Rig, second, first sandbox.Place) bool {
	return second.Channel == first.Message
}

// A mention in the text of a message that is not escaped.
var mention = regexp.MustCompile(`(?:^|[^\\])(<[@#][^>]*>|@everyone|@here)`)

// Mentions implements platformtest.Client: those that the text shows, and those
// who are notified.
func (client) Mentions(m map[string]any) string {
	found := fmt.Sprint(m["mentions"])
	if m["mention_everyone"] == true {
		found += "@everyone"
	}
	for _, hit := range mention.FindAllStringSubmatch(fmt.Sprint(m["content"]), -1) {
		found += hit[1]
	}
	return strings.TrimPrefix(found, "[]")
}

// Token implements platformtest.Client.
func (client) Token(c sandbox.Control) string { return c.ID }

// Accepts implements platformtest.Client.
func (client) Accepts(bridge.Widget, string) bool { return true }

// forge makes Discord's HTTP requests.
type forge struct{}

// Click implements platformtest.Forge.
func (forge) Click(token string, at sandbox.Place, account string) string {
	return fmt.Sprintf(`{"id":"%d","type":3,"token":"x","channel_id":%q,"member":{"user":{"id":%q}},"message":{"id":%q},`+
		`"data":{"custom_id":%q}}`, time.Now().UnixNano(), at.Channel, account, at.Message, token)
}

// Sign implements platformtest.Forge.
func (forge) Sign(r *platformtest.Rig, body string, at time.Time) http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	sandbox.SignDiscord(h, r.Sandbox.DiscordKey(), at, []byte(body))
	return h
}

// Break implements platformtest.Forge.
func (f forge) Break(r *platformtest.Rig, body string) map[string]http.Header {
	now := time.Now()
	cut := f.Sign(r, body, now)
	cut.Set("X-Signature-Ed25519", cut.Get("X-Signature-Ed25519")[:64])
	return map[string]http.Header{
		"another body": f.Sign(r, body+" ", now), "stale": f.Sign(r, body, now.Add(-6*time.Minute)),
		"from the future": f.Sign(r, body, now.Add(6*time.Minute)), "truncated signature": cut,
	}
}
