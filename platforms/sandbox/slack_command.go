package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// command sends a slash command. Its answer is for the member only.
func (w *slackWorld) command(ctx context.Context, m Member, a Action) (Reaction, error) {
	name, text, _ := strings.Cut(a.Text, " ")
	w.s.mu.Lock()
	c := w.channels[a.Channel]
	w.s.mu.Unlock()
	if c == nil || !strings.HasPrefix(name, "/") {
		return Reaction{}, fmt.Errorf("slack: no command %q in %q", a.Text, a.Channel)
	}
	payload := object{
		"token": "deprecated", "team_id": "T0SANDBOX", "team_domain": "sandbox", "channel_id": c.ID, "channel_name": c.Name,
		"user_id": m.Slack, "user_name": m.Key, "command": name, "text": text, "api_app_id": "A0SANDBOX", "is_enterprise_install": "false",
		"response_url": "/slack/response/none", "trigger_id": w.trigger(m.Slack),
	}
	raw, err := w.deliver(ctx, payload)
	if err != nil {
		return Reaction{Warning: name + " failed: " + err.Error()}, nil
	}
	var answer object
	if len(raw) > 0 && json.Unmarshal(raw, &answer) != nil {
		return Reaction{Warning: name + " failed with the error \"invalid_response\""}, nil
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if str(answer, "text") != "" {
		msg := object{"ts": w.stamp(), "user": SlackBotUser, "type": "message", "text": str(answer, "text")}
		if str(answer, "response_type") == "in_channel" {
			c.Messages = append(c.Messages, msg)
		} else {
			c.Private = append(c.Private, slackPrivate{m.Slack, msg})
		}
		w.s.touch()
	}
	return Reaction{OK: true}, nil
}
