package setup

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/deploy"
)

// SlackManifest returns the app manifest for HTTP mode at host, or for Socket
// Mode if host is empty.
func SlackManifest(host string) ([]byte, error) {
	if host == "" {
		return deploy.SlackManifest, nil
	}
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "--http: invalid URL %q", host).WithHint("use an https URL such as https://nod.example.com; Slack calls https only")
	}
	var m map[string]any
	if err := json.Unmarshal(deploy.SlackManifest, &m); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "manifest")
	}
	at := strings.TrimRight(host, "/") + "/slack/interactions"
	part := func(v any, keys ...string) map[string]any {
		o, _ := v.(map[string]any)
		for _, k := range keys {
			o, _ = o[k].(map[string]any)
		}
		return o
	}
	part(m, "settings")["socket_mode_enabled"] = false
	part(m, "settings", "interactivity")["request_url"] = at
	part(m, "settings", "event_subscriptions")["request_url"] = at
	commands, _ := part(m, "features")["slash_commands"].([]any)
	for _, c := range commands {
		part(c)["url"] = at
	}
	out, err := json.MarshalIndent(m, "", "  ")
	return append(out, '\n'), err
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
