package daemon

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/webhook"
	"github.com/nodbridge/nod/config"
)

// Routes returns the routes of a config, by name.
func Routes(c config.Config) (map[string]bridge.Route, error) {
	routes := map[string]bridge.Route{}
	for name, r := range c.Routes {
		route := bridge.Route{Quorum: r.Quorum, StepUp: bridge.Assurance(r.StepUp), Must: required(c, r.Must), DenyCounts: r.Deny == "counts", AllowSelf: r.AllowSelf, Sessions: r.Sessions, Steps: buildSteps(r), Snooze: time.Duration(r.Snooze), HandOver: r.HandOver}
		route.Attention = attention(r)
		percent, after, err := r.RemindAfter()
		if err != nil {
			return nil, err
		}
		route.Remind = bridge.RemindAfter{Percent: percent, Duration: after}
		if q := r.Quiet; q != nil {
			route.Quiet = &bridge.Quiet{From: q.From, To: q.To, Zone: q.Zone, Risks: q.Risks}
		}
		for _, s := range r.To {
			t, err := config.ParseTarget(s)
			if err != nil {
				return nil, err
			}
			route.Destinations = append(route.Destinations, bridge.Destination{Platform: t.Platform, Channel: t.Channel, Thread: t.Thread})
		}
		for _, who := range r.Responders {
			if group, ok := strings.CutPrefix(who, bridge.GroupMark); ok {
				route.Groups = append(route.Groups, group)
				continue
			}
			known := false
			for _, p := range c.Platforms() {
				if id := c.People[who].Account(p); id != "" {
					route.Responders = append(route.Responders, bridge.Responder{Person: who, Platform: p, User: id})
					known = true
				}
			}
			if !known { // known by a token or a linked account
				route.Responders = append(route.Responders, bridge.Responder{Person: who, Platform: bridge.PlatformAPI, User: who})
			}
		}
		routes[name] = route
	}
	return routes, nil
}

// required returns the required approvers of a route. If the config lists one
// of them as a member of a group, that approver also satisfies the group.
func required(c config.Config, must []string) []string {
	return slices.DeleteFunc(slices.Clone(must), func(name string) bool {
		group, isGroup := strings.CutPrefix(name, bridge.GroupMark)
		return isGroup && slices.ContainsFunc(c.Groups[group].People, func(p string) bool { return slices.Contains(must, p) })
	})
}

// attention returns the settings of a route for mentions, reminders and
// previews.
func attention(r config.Route) bridge.Attention {
	a := bridge.Attention{TellRequester: r.TellRequester, Private: r.Payload == config.PayloadPrivate}
	if r.Mention != config.MentionResponders {
		a.Mention = bridge.MentionMode(r.Mention)
	}
	if r.Preview != config.PreviewFull {
		a.Preview = bridge.PreviewMode(r.Preview)
	}
	return a
}

func buildWebhooks(c config.Config) ([]bridge.Webhook, error) {
	var out []bridge.Webhook
	for _, name := range slices.Sorted(maps.Keys(c.Webhooks)) {
		w := c.Webhooks[name]
		h, err := webhook.NewHook(webhook.HookOptions{Name: name, URL: w.URL.Value(), Secret: w.Secret.Value(), Agents: w.Agents})
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// buildSteps returns the steps of an escalation. Each repetition of a reminder
// is a separate step.
func buildSteps(r config.Route) []bridge.Step {
	var out []bridge.Step
	for _, s := range r.Escalation {
		step := bridge.Step{After: bridge.Duration(s.After), Remind: s.Remind, Ask: s.Ask, Route: s.Route}
		switch s.GiveUp {
		case "expire":
			step.GiveUp = bridge.StateExpired
		case "deny":
			step.GiveUp = bridge.StateDenied
		}
		for range max(1, s.Times) {
			out = append(out, step)
			step.After *= 2
			step.Ask, step.Route = nil, "" // only the first repetition escalates
		}
	}
	return out
}
