package slack_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// TestHistory checks the lists of messages: without replies, in a range, in
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
	if err != nil || len(h.Messages) != 2 || h.Messages[1].ReplyCount != 3 || h.Messages[1].Metadata.EventType != "" {
		t.Errorf("history %+v %v", h, err)
	}
	q.IncludeAllMetadata, q.Latest = true, last.Message
	if h, err = d.api.GetConversationHistoryContext(ctx, &q); err != nil || len(h.Messages) != 1 ||
		h.Messages[0].Metadata.EventPayload["k"] != "v" {
		t.Errorf("history %+v %v", h, err)
	}
	q.Inclusive, q.Limit = true, 1
	if h, err = d.api.GetConversationHistoryContext(ctx, &q); err != nil || len(h.Messages) != 1 || !h.HasMore {
		t.Fatalf("history %+v %v", h, err)
	}
	q.Cursor = h.ResponseMetaData.NextCursor
	if h, err = d.api.GetConversationHistoryContext(ctx, &q); err != nil || h.HasMore || h.Messages[0].Text != "root" {
		t.Errorf("second page %+v %v", h, err)
	}
	r := slackgo.GetConversationRepliesParameters{ChannelID: slack.Channel, Timestamp: root.Message}
	messages, more, _, err := d.api.GetConversationRepliesContext(ctx, &r)
	if err != nil || more || len(messages) != 4 || messages[0].Text != "root" || messages[3].Text != "reply 2" {
		t.Errorf("replies %+v %v", messages, err)
	}
	r.Timestamp = "1.1"
	_, _, _, err = d.api.GetConversationRepliesContext(ctx, &r)
	d.refused("thread_not_found", err)
}

// TestContent checks the contents of a message that are not blocks.
func TestContent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	for args, word := range map[string]string{
		`"markdown_text":"**bold**"`:                                                            "",
		`"markdown_text":"x","text":"y"`:                                                        "markdown_text_conflict",
		`"markdown_text":"` + long(12_001) + `"`:                                                "msg_too_long",
		`"attachments":[{"text":"x","color":"#aaa"}]`:                                           "",
		`"attachments":[` + repeat(101, `{"text":"x"}`) + `]`:                                   "too_many_attachments",
		`"attachments":[{"blocks":[{"type":"video"}]}]`:                                         "/attachments/0/blocks/0/type",
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

// TestLookups checks the methods that list members, channels and groups.
func TestLookups(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	d.e.SetGroup(slack.UserGroup, "bo")
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
	if u, err := d.api.GetUserByEmailContext(ctx, "bo@example.com"); err != nil || u.ID != bo {
		t.Errorf("by email: %v %v", u, err)
	}
	_, err := d.api.GetUserByEmailContext(ctx, "no@example.com")
	d.refused("users_not_found", err)
	groups, err := d.api.GetUserGroupsContext(ctx, slackgo.GetUserGroupsOptionIncludeUsers(true))
	if err != nil || len(groups) != 1 || groups[0].Users[0] != bo {
		t.Errorf("groups %v %v", groups, err)
	}
	if _, err := d.api.GetBotInfoContext(ctx, slackgo.GetBotInfoParameters{Bot: "B0NONE"}); err == nil {
		t.Error("found an unknown bot")
	}
	if info, err := d.api.GetTeamInfoContext(ctx); err != nil || info.Domain != "sandbox" {
		t.Errorf("team %v %v", info, err)
	}
}

// TestMarks checks permanent links and reactions.
func TestMarks(t *testing.T) {
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
	item := slackgo.NewRefToMessage(slack.Channel, at.Message)
	if err := d.api.AddReactionContext(ctx, "eyes", item); err != nil {
		t.Error(err)
	}
	d.refused("already_reacted", d.api.AddReactionContext(ctx, "eyes", item))
	d.refused("invalid_name", d.api.AddReactionContext(ctx, "no such", item))
	d.Act(core.Action{As: "ana", Do: "react", Channel: slack.Channel, Message: at.Message, Text: "eyes"})
	if r, err := d.api.GetReactionsContext(ctx, item, slackgo.NewGetReactionsParameters()); err != nil ||
		len(r.Reactions) != 1 || r.Reactions[0].Count != 2 {
		t.Errorf("reactions %+v %v", r, err)
	}
	if err := d.api.RemoveReactionContext(ctx, "eyes", item); err != nil {
		t.Error(err)
	}
	d.refused("no_reaction", d.api.RemoveReactionContext(ctx, "eyes", item))
}

// TestFiles checks that a bot can upload, share and delete a file.
func TestFiles(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	f, err := d.api.UploadFileContext(ctx, slackgo.UploadFileParameters{
		Channel: slack.Channel, Filename: "plan.txt", Content: "first\nsecond", FileSize: 12, InitialComment: "The plan",
	})
	if err != nil {
		t.Fatal(err)
	}
	shared := d.channel(slack.Channel).Messages[0]
	if files, _ := shared["files"].([]any); len(files) != 1 || shared["text"] != "The plan" {
		t.Errorf("shared %v", shared)
	}
	info, _, _, err := d.api.GetFileInfoContext(ctx, f.ID, 0, 0)
	if err != nil || info.Name != "plan.txt" {
		t.Fatalf("info %+v %v", info, err)
	}
	resp, err := http.Get(info.URLPrivate)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, err := io.ReadAll(resp.Body); err != nil || string(data) != "first\nsecond" {
		t.Errorf("content %q %v", data, err)
	}
	if err := d.api.DeleteFileContext(ctx, f.ID); err != nil {
		t.Error(err)
	}
	d.refused("file_not_found", d.api.DeleteFileContext(ctx, f.ID))
}
