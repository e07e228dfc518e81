package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// maxHomeBlocks is how many blocks a view has at most.
const maxHomeBlocks = 100

// openHome opens the app's Home tab: the app is told, and shows what it likes.
func (w *slackWorld) openHome(ctx context.Context, m Member) (Reaction, error) {
	_, err := w.deliver(ctx, object{
		"type": "event_callback", "team_id": "T0SANDBOX", "api_app_id": "A0SANDBOX", "event_id": "Ev0SANDBOX", "event_time": time.Now().Unix(),
		"event": object{"type": "app_home_opened", "user": m.Slack, "channel": "D" + m.Slack, "tab": "home", "event_ts": "1.1"},
	})
	if err != nil {
		return Reaction{Warning: "the Home tab stays as it was: " + err.Error()}, nil
	}
	return Reaction{OK: true}, nil
}

func (w *slackWorld) viewsPublish(_ *http.Request, a object) object {
	v := sub(a, "view")
	raw, err := json.Marshal(v)
	switch {
	case v == nil || str(a, "user_id") == "":
		return slackError("invalid_arguments")
	case err != nil || len(raw) > 250_000:
		return slackError("view_too_large")
	case str(v, "type") != "home":
		return object{"error": "invalid_arguments", "response_metadata": object{"messages": []string{"[ERROR] must be home [json-pointer:/view/type]"}}}
	case len(list(v, "blocks")) > maxHomeBlocks:
		return object{"error": "invalid_arguments", "response_metadata": object{"messages": []string{"[ERROR] no more than 100 items allowed [json-pointer:/view/blocks]"}}}
	}
	if problems := checkSlackBlocks(list(v, "blocks"), slackInModal); len(problems) > 0 {
		return object{"error": "invalid_arguments", "response_metadata": object{"messages": problems}}
	}
	w.homes[str(a, "user_id")] = v
	w.s.touch()
	return object{"view": object{"id": "V0HOME" + str(a, "user_id"), "type": "home"}}
}

// Home opens the Home tab of the app in Slack as the member, and returns the
// texts that it shows then.
func (p Person) Home(ctx context.Context) (string, error) {
	r, err := p.s.Act(ctx, Action{Service: "slack", As: p.key, Do: "home"})
	if err != nil || r.Warning != "" {
		return r.Warning, err
	}
	m, err := p.s.member(p.key)
	if err != nil {
		return "", err
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return Texts(p.s.slack.homes[m.Slack]), nil
}
