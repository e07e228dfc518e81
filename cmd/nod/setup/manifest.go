package setup

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/deploy"
)

// SlackManifest is the manifest for Socket Mode, or with a host for HTTP.
func SlackManifest(host string) ([]byte, error) {
	if host == "" {
		return deploy.SlackManifest, nil
	}
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "--http: %q is not like https://nod.example.com", host).WithHint("Slack calls https only")
	}
	var m map[string]any
	if err := json.Unmarshal(deploy.SlackManifest, &m); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "the manifest")
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

// ManifestLink is the page that makes an app of a manifest.
func ManifestLink(manifest []byte) string {
	var compact strings.Builder
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	if enc.Encode(json.RawMessage(manifest)) != nil {
		return "https://api.slack.com/apps?new_app=1"
	}
	return "https://api.slack.com/apps?new_app=1&manifest_json=" + url.QueryEscape(strings.TrimSpace(compact.String()))
}
