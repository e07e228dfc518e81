package slack_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// TestMessages checks the life of a message: posted, updated, answered in a
// thread, deleted.
func TestMessages(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	at := d.post(
		slackgo.MsgOptionText("first", false),
		slackgo.MsgOptionMetadata(slackgo.SlackMetadata{EventType: "e", EventPayload: map[string]any{"k": "v"}}),
	)
	if m := d.e.Message(at.Channel, at.Message); m["text"] != "first" || m["metadata"] == nil {
		t.Errorf("posted %v", m)
	}
	second := slackgo.MsgOptionText("second", false)
	if _, _, _, err := d.api.UpdateMessageContext(ctx, at.Channel, at.Message, second); err != nil {
		t.Error(err)
	}
	reply := d.post(slackgo.MsgOptionText("reply", false), slackgo.MsgOptionTS(at.Message), slackgo.MsgOptionBroadcast())
	if m := d.e.Message(reply.Channel, reply.Message); m["thread_ts"] != at.Message || m["subtype"] != "thread_broadcast" {
		t.Errorf("replied %v", m)
	}
	h, err := d.api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{ChannelID: slack.Channel})
	if err != nil || len(h.Messages) != 2 || h.Messages[0].Text != "reply" || h.Messages[1].Text != "second" {
		t.Errorf("history %v %v", h, err)
	}
	if _, _, err := d.api.DeleteMessageContext(ctx, reply.Channel, reply.Message); err != nil {
		t.Error(err)
	}
	if m := d.e.Message(reply.Channel, reply.Message); m != nil {
		t.Errorf("still there: %v", m)
	}
}

// TestMessageErrors checks each documented error of chat.*.
func TestMessageErrors(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	at := d.post(
		slackgo.MsgOptionBlocks(
			slackgo.NewRichTextBlock("r", slackgo.NewRichTextSection(slackgo.NewRichTextSectionTextElement("x", nil))),
		),
	)
	text := slackgo.MsgOptionText("x", false)
	long := slackgo.MsgOptionText(strings.Repeat("x", 40_001), false)
	divider := slackgo.MsgOptionBlocks(slackgo.NewDividerBlock())
	var big []slackgo.Block
	for range 5 {
		big = append(big, slackgo.NewSectionBlock(plain(strings.Repeat("x", 2900)), nil, nil))
	}
	post := func(channel string, o ...slackgo.MsgOption) error {
		_, _, err := d.api.PostMessageContext(ctx, channel, o...)
		return err
	}
	update := func(channel, ts string, o ...slackgo.MsgOption) error {
		_, _, _, err := d.api.UpdateMessageContext(ctx, channel, ts, o...)
		return err
	}
	remove := func(channel, ts string) error { _, _, err := d.api.DeleteMessageContext(ctx, channel, ts); return err }
	private := func(channel, user string, o ...slackgo.MsgOption) error {
		_, err := d.api.PostEphemeralContext(ctx, channel, user, o...)
		return err
	}
	d.refused("channel_not_found", post("C0NONE", text))
	d.refused("no_text", post(slack.Channel))
	d.refused("msg_too_long", post(slack.Channel, long))
	d.refused("msg_blocks_too_long", post(slack.Channel, slackgo.MsgOptionBlocks(big...)))
	d.refused("cannot_reply_to_message", post(slack.Channel, text, slackgo.MsgOptionTS("1.1")))
	d.refused(
		"invalid_metadata_format",
		post(slack.Channel, text, slackgo.MsgOptionMetadata(slackgo.SlackMetadata{EventPayload: map[string]any{"k": "v"}})),
	)
	d.refused("channel_not_found", update("C0NONE", at.Message, text))
	d.refused("message_not_found", update(slack.Channel, "1.1", text))
	d.refused("msg_too_long", update(slack.Channel, at.Message, slackgo.MsgOptionText(strings.Repeat("x", 4001), false)))
	d.refused("block_mismatch", update(slack.Channel, at.Message, divider))
	d.refused("channel_not_found", remove("C0NONE", at.Message))
	d.refused("message_not_found", remove(slack.Channel, "1.1"))
	d.refused("channel_not_found", private("C0NONE", ana, text))
	d.refused("user_not_in_channel", private(slack.Channel, "U0NONE", text))
	d.refused("no_text", private(slack.Channel, ana))
	d.Fault(core.Fault{Kind: "not_member", Method: bo})
	d.refused("user_not_in_channel", private(slack.Channel, bo, text))
	if err := private(slack.Channel, ana, slackgo.MsgOptionText("for Ana", false)); err != nil ||
		len(d.e.Notes("ana")) != 1 || d.e.Notes("bo") != nil {
		t.Errorf("ephemeral: %v, notes %q and %q", err, d.e.Notes("ana"), d.e.Notes("bo"))
	}
	_, err := d.api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{ChannelID: "C0NONE"})
	d.refused("channel_not_found", err)
}

// TestThreads checks the outcome of replies when the root of their thread was
// deleted, or the thread is locked.
func TestThreads(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	text := slackgo.MsgOptionText("x", false)
	reply := func(to core.Place) string {
		t.Helper()
		_, _, m, err := d.api.PostMessageWithResponseContext(t.Context(), to.Channel, text, slackgo.MsgOptionTS(to.Message))
		if err != nil {
			t.Fatal(err)
		}
		return m.ThreadTimestamp
	}
	remove := func(at core.Place) {
		t.Helper()
		d.Act(core.Action{Service: slack.Name, As: "ana", Do: "delete", Channel: at.Channel, Message: at.Message})
	}
	lone, root := d.post(text), d.post(text)
	remove(lone)
	if got := reply(lone); got != "" || d.e.Message(lone.Channel, lone.Message) != nil {
		t.Errorf("a reply to a deleted message is in the thread %q", got)
	}
	reply(root)
	remove(root)
	if got := reply(root); got != root.Message {
		t.Errorf("a reply to a deleted root with replies is in the thread %q", got)
	}
	if m := d.e.Message(root.Channel, root.Message); m["subtype"] != "tombstone" {
		t.Errorf("the deleted root is %v", m)
	}
	_, _, _, err := d.api.UpdateMessageContext(t.Context(), root.Channel, root.Message, text)
	d.refused("cant_update_message", err)
	d.Fault(core.Fault{Kind: "thread_locked", Method: slack.Channel})
	_, _, err = d.api.PostMessageContext(t.Context(), root.Channel, text, slackgo.MsgOptionTS(root.Message))
	d.refused("restricted_action_thread_locked", err)
	d.post(text)
}

// TestPeople checks the methods that look people and channels up.
func TestPeople(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	if me, err := d.api.AuthTestContext(ctx); err != nil || me.UserID != slack.BotUser {
		t.Errorf("auth.test: %v %v", me, err)
	}
	if u, err := d.api.GetUserInfoContext(ctx, ana); err != nil || u.RealName != "Ana Lima" ||
		u.Profile.Email != "ana@example.com" {
		t.Errorf("users.info: %v %v", u, err)
	}
	_, err := d.api.GetUserInfoContext(ctx, "U0NONE")
	d.refused("user_not_found", err)
	if users, err := d.api.GetUserGroupMembersContext(ctx, slack.UserGroup); err != nil || len(users) != 0 {
		t.Errorf("group at first: %v %v", users, err)
	}
	d.e.SetGroup("S0OTHER", "bo")
	if users, err := d.api.GetUserGroupMembersContext(ctx, "S0OTHER"); err != nil || len(users) != 1 || users[0] != bo {
		t.Errorf("group: %v %v", users, err)
	}
	_, err = d.api.GetUserGroupMembersContext(ctx, "S0NONE")
	d.refused("no_such_subteam", err)
	dm, _, _, err := d.api.OpenConversationContext(ctx, &slackgo.OpenConversationParameters{Users: []string{ana}})
	if err != nil {
		t.Fatal(err)
	}
	channel, _, err := d.api.PostMessageContext(ctx, ana, slackgo.MsgOptionText("hello", false))
	if err != nil || channel != dm.ID {
		t.Errorf("a direct message went to %s, not to %s: %v", channel, dm.ID, err)
	}
	for id, direct := range map[string]bool{dm.ID: true, slack.Channel: false} {
		c, err := d.api.GetConversationInfoContext(ctx, &slackgo.GetConversationInfoInput{ChannelID: id})
		if err != nil || c.IsIM != direct || !c.IsMember {
			t.Errorf("conversations.info: %+v %v", c, err)
		}
	}
	_, _, _, err = d.api.OpenConversationContext(ctx, &slackgo.OpenConversationParameters{Users: []string{"U0NONE"}})
	d.refused("user_not_found", err)
	_, err = d.api.GetConversationInfoContext(ctx, &slackgo.GetConversationInfoInput{ChannelID: "C0NONE"})
	d.refused("channel_not_found", err)
}

// TestGridAccounts checks direct messages to an account of an Enterprise Grid,
// whose ID begins with W.
func TestGridAccounts(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	e := slack.New(hub, []core.Account{{Key: "wim", Name: "Wim", ID: "W0WIM00001"}}, slack.Options{})
	server := httptest.NewServer(e)
	t.Cleanup(func() { hub.Close(); server.Close() })
	api := bot(server.URL, slack.BotToken, "")
	channel, ts, err := api.PostMessageContext(t.Context(), "W0WIM00001", slackgo.MsgOptionText("hello", false))
	if err != nil || channel != "D0WIM00001" || e.Message(channel, ts) == nil {
		t.Errorf("it went to %s: %v", channel, err)
	}
}

// TestAuthorization checks which token each method takes, and what scopes the
// bot has.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	auth := func(token string) error {
		_, err := bot(d.URL, token, "").AuthTestContext(ctx)
		return err
	}
	d.refused("not_authed", auth(""))
	d.refused("invalid_auth", auth("xoxb-other"))
	d.refused("not_allowed_token_type", auth(slack.AppToken))
	_, _, err := bot(d.URL, slack.BotToken, slack.BotToken).StartSocketModeContext(ctx)
	d.refused("not_allowed_token_type", err)
	d.Fault(core.Fault{Kind: "missing_scope", Method: "users:read"})
	_, err = d.api.GetUserInfoContext(ctx, ana)
	d.refused("missing_scope", err)
	answer, _ := errors.AsType[slackgo.SlackErrorResponse](err)
	if answer.Needed != "users:read" || !strings.Contains(answer.Provided, "chat:write") ||
		strings.Contains(answer.Provided, "users:read,") {
		t.Errorf("needed %q, provided %q", answer.Needed, answer.Provided)
	}
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "revoke"})
	d.refused("token_revoked", auth(slack.BotToken))
	d.Hub.ClearFaults()
	d.Fault(core.Fault{Kind: "absent"})
	_, _, err = d.api.PostMessageContext(ctx, slack.Channel, slackgo.MsgOptionText("x", false))
	d.refused("not_in_channel", err)
	where := &slackgo.GetConversationInfoInput{ChannelID: slack.Channel}
	if c, err := d.api.GetConversationInfoContext(ctx, where); err != nil || c.IsMember {
		t.Errorf("absent: %+v %v", c, err)
	}
}

// TestRateLimits checks that a channel takes short bursts, and that the error
// says how long to wait.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, true), t.Context()
	var limited *slackgo.RateLimitedError
	for n := 0; limited == nil && n < 30; n++ {
		_, _, err := d.api.PostMessageContext(ctx, slack.Channel, slackgo.MsgOptionText("x", false))
		if err != nil && !errors.As(err, &limited) {
			t.Fatal(err)
		}
		if limited != nil && n < 5 {
			t.Errorf("limited after %d messages", n)
		}
	}
	if limited == nil || limited.RetryAfter < 1 {
		t.Errorf("not limited: %v", limited)
	}
	d.Fault(core.Fault{Kind: "rate_limit", Method: "chat.update", RetryAfter: 7})
	_, _, _, err := d.api.UpdateMessageContext(ctx, slack.Channel, "1.1", slackgo.MsgOptionText("x", false))
	if !errors.As(err, &limited) || limited.RetryAfter.Seconds() != 7 {
		t.Errorf("fault: %v", err)
	}
}

// TestLostContent checks the faults that lose content without an error.
func TestLostContent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	rich := slackgo.NewRichTextBlock("r", slackgo.NewRichTextSection(slackgo.NewRichTextSectionTextElement("rich", nil)))
	section := slackgo.NewSectionBlock(plain(strings.Repeat("x", 100)+"end"), nil, nil)
	d.Fault(core.Fault{Kind: "truncate", Count: 1})
	d.Fault(core.Fault{Kind: "strip", Count: 1})
	at := d.post(slackgo.MsgOptionBlocks(rich, section))
	if said := d.e.Sees("ana", at); strings.Contains(said, "rich") || strings.Contains(said, "end") {
		t.Errorf("shows %q", said)
	}
}
