package slack

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/deploy"
)

// Manifest returns the app manifest: for HTTP mode at host, or for Socket Mode
// if host is empty. With replies, the app may read the replies to cards. With
// agent, the app is an agent in Slack, which shows its sessions.
func Manifest(host string, replies, agent bool) ([]byte, error) {
	if host == "" && !replies && !agent {
		return deploy.SlackManifest, nil
	}
	var m map[string]any
	if err := json.Unmarshal(deploy.SlackManifest, &m); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "manifest")
	}
	if replies {
		readReplies(m)
	}
	if agent {
		showSessions(m)
	}
	if host != "" {
		if err := callAt(m, host); err != nil {
			return nil, err
		}
	}
	out, err := json.MarshalIndent(m, "", "  ")
	return append(out, '\n'), err
}

// part returns an object of a manifest.
func part(v any, keys ...string) map[string]any {
	o, _ := v.(map[string]any)
	for _, k := range keys {
		o, _ = o[k].(map[string]any)
	}
	return o
}

// callAt changes a manifest to HTTP mode at host.
func callAt(m map[string]any, host string) error {
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return bridge.Errorf(bridge.CodeInvalid, "--http: invalid URL %q", host).WithHint("use an https URL such as https://nod.example.com; Slack calls https only")
	}
	at := strings.TrimRight(host, "/") + "/slack/interactions"
	part(m, "settings")["socket_mode_enabled"] = false
	part(m, "settings", "interactivity")["request_url"] = at
	part(m, "settings", "event_subscriptions")["request_url"] = at
	commands, _ := part(m, "features")["slash_commands"].([]any)
	for _, c := range commands {
		part(c)["url"] = at
	}
	return nil
}

// add appends values to a list of an object.
func add(o map[string]any, key string, more ...any) {
	list, _ := o[key].([]any)
	o[key] = append(list, more...)
}

// showSessions makes the app an agent, which receives the clicks on Slack's own
// stop button.
func showSessions(m map[string]any) {
	part(m, "features")["agent_view"] = map[string]any{
		"agent_description": "Shows what your agents do, and asks you before they act",
	}
	add(part(m, "oauth_config", "scopes"), "bot", "assistant:write")
	add(part(m, "settings", "event_subscriptions"), "bot_events", "agent_session_stopped")
}

// readReplies adds the scopes and events of messages in conversations with the
// app, and lets people write in its Messages tab.
func readReplies(m map[string]any) {
	add(part(m, "oauth_config", "scopes"), "bot", "channels:history", "groups:history", "im:history")
	add(part(m, "settings", "event_subscriptions"), "bot_events", "message.channels", "message.groups", "message.im")
	part(m, "features", "app_home")["messages_tab_read_only_enabled"] = false
}

// ManifestLink returns the URL of the page that creates an app from a manifest.
func ManifestLink(manifest []byte) string {
	var compact strings.Builder
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	if enc.Encode(json.RawMessage(manifest)) != nil {
		return "https://api.slack.com/apps?new_app=1"
	}
	return "https://api.slack.com/apps?new_app=1&manifest_json=" + url.QueryEscape(strings.TrimSpace(compact.String()))
}
