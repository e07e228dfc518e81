package slack_test

import (
	"fmt"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// TestHistory checks the list of messages: without replies, after a time, in
// pages, and with metadata only if the call asks for it.
func TestHistory(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	meta := slackgo.SlackMetadata{EventType: "e", EventPayload: map[string]any{"k": "v"}}
	root := d.post(slackgo.MsgOptionText("root", false), slackgo.MsgOptionMetadata(meta))
	for n := range 3 {
		d.post(slackgo.MsgOptionText(fmt.Sprint("reply ", n), false), slackgo.MsgOptionTS(root.Message))
	}
	last := d.post(slackgo.MsgOptionText("last", false))
	q := slackgo.GetConversationHistoryParameters{ChannelID: slack.Channel}
	h, err := d.api.GetConversationHistoryContext(ctx, &q)
	if err != nil || len(h.Messages) != 2 || h.Messages[1].Metadata.EventType != "" {
		t.Errorf("history %+v %v", h, err)
	}
	q.Oldest = root.Message
	if h, err = d.api.GetConversationHistoryContext(ctx, &q); err != nil || len(h.Messages) != 1 || h.Messages[0].Timestamp != last.Message {
		t.Errorf("history %+v %v", h, err)
	}
	q.IncludeAllMetadata, q.Oldest, q.Limit = true, "", 1
	if h, err = d.api.GetConversationHistoryContext(ctx, &q); err != nil || len(h.Messages) != 1 || !h.HasMore {
		t.Fatalf("history %+v %v", h, err)
	}
	q.Cursor = h.ResponseMetaData.NextCursor
	if h, err = d.api.GetConversationHistoryContext(ctx, &q); err != nil || h.HasMore || h.Messages[0].Text != "root" ||
		h.Messages[0].Metadata.EventPayload["k"] != "v" {
		t.Errorf("second page %+v %v", h, err)
	}
}

// TestContent checks the contents of a message that are not blocks.
func TestContent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	for args, word := range map[string]string{
		`"attachments":[{"text":"x","color":"#aaa"}]`:                                           "",
		`"attachments":[` + repeat(101, `{"text":"x"}`) + `]`:                                   "too_many_attachments",
		`"attachments":[{"blocks":[]}]`:                                                         "invalid_attachments",
		`"attachments":7`:                                                                       "invalid_attachments",
		`"text":"x","metadata":{"event_type":"e"}`:                                              "invalid_metadata_format",
		`"text":"x","metadata":{"event_type":"e","event_payload":{}}`:                           "",
		`"text":"x","metadata":{"event_type":"e","event_payload":{"k":"` + long(16_000) + `"}}`: "metadata_too_large",
	} {
		answer := d.call("chat.postMessage", `{"channel":"`+slack.Channel+`",`+args+`}`)
		if got := fmt.Sprint(answer); (word == "") != (answer["ok"] == true) || !strings.Contains(got, word) {
			t.Errorf("%.100s: %.300s, want %q", args, got, word)
		}
	}
}

// TestLookups checks the methods that list members and channels.
func TestLookups(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	members := slackgo.GetUsersInConversationParameters{ChannelID: slack.Channel}
	if ids, _, err := d.api.GetUsersInConversationContext(ctx, &members); err != nil || len(ids) != 3 || ids[0] != ana {
		t.Errorf("members %v %v", ids, err)
	}
	d.Fault(core.Fault{Kind: "not_member", Method: ana})
	if ids, _, err := d.api.GetUsersInConversationContext(ctx, &members); err != nil || len(ids) != 2 {
		t.Errorf("members %v %v", ids, err)
	}
	if c, _, err := d.api.GetConversationsContext(ctx, &slackgo.GetConversationsParameters{}); err != nil || len(c) != 2 {
		t.Errorf("channels %v %v", c, err)
	}
	if users, err := d.api.GetUsersContext(ctx); err != nil || len(users) != 3 || !users[2].IsBot {
		t.Errorf("users %v %v", users, err)
	}
	if _, err := d.api.GetBotInfoContext(ctx, slackgo.GetBotInfoParameters{Bot: "B0NONE"}); err == nil {
		t.Error("found an unknown bot")
	}
}

// TestLinks checks permanent links.
func TestLinks(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	at := d.post(slackgo.MsgOptionText("x", false))
	reply := d.post(slackgo.MsgOptionText("y", false), slackgo.MsgOptionTS(at.Message))
	link := func(ts string) (string, error) {
		return d.api.GetPermalinkContext(ctx, &slackgo.PermalinkParameters{Channel: slack.Channel, Ts: ts})
	}
	if l, err := link(reply.Message); err != nil || !strings.HasSuffix(l, "?thread_ts="+at.Message+"&cid="+slack.Channel) {
		t.Errorf("link %q %v", l, err)
	}
	_, err := link("1.1")
	d.refused("message_not_found", err)
}
