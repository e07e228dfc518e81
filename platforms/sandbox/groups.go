package sandbox

import (
	"net/http"
	"slices"
	"strconv"
)

// Groups of a new sandbox, which nobody is in.
const (
	SlackUserGroup = "S0SRE00001"
	DiscordRole    = "400000000000000001"
)

// SetGroup says who is in a group: of Slack a user group's id, of Discord a
// role's, of Telegram the chat whose administrators they are.
func (s *Sandbox) SetGroup(service, group string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[service+"/"+group] = members
}

// grouped reports whether a member is in a group. The caller holds s.mu.
func (s *Sandbox) grouped(service, group string, m Member) bool {
	return slices.Contains(s.groups[service+"/"+group], m.Key)
}

func (w *slackWorld) userGroup(_ *http.Request, a object) object {
	id := str(a, "usergroup")
	members, known := w.s.groups["slack/"+id]
	if !known && id != SlackUserGroup {
		return slackError("no_such_subteam")
	}
	users := []string{}
	for _, m := range w.s.members {
		if slices.Contains(members, m.Key) {
			users = append(users, m.Slack)
		}
	}
	return object{"users": users}
}

var discordUnknownMember = &discordFailure{404, 10007, "Unknown Member", nil}

func (w *discordWorld) getGuildMember(c *discordCall) (int, any, *discordFailure) {
	if c.PathValue("guild") != DiscordGuild {
		return 0, nil, &discordFailure{404, 10004, "Unknown Guild", nil}
	}
	if c.PathValue("user") == DiscordBotUser {
		return 200, object{"user": discordBot(), "roles": []string{}, "joined_at": "2026-01-01T00:00:00.000000+00:00", "deaf": false, "mute": false, "flags": 0}, nil
	}
	for _, m := range w.s.members {
		if m.Discord != c.PathValue("user") {
			continue
		}
		roles := []string{}
		for key, members := range w.s.groups {
			if role, ok := cutService(key, "discord"); ok && slices.Contains(members, m.Key) {
				roles = append(roles, role)
			}
		}
		return 200, object{"user": object{"id": m.Discord, "username": m.Key}, "roles": roles, "joined_at": "2026-01-01T00:00:00.000000+00:00", "deaf": false, "mute": false, "flags": 0}, nil
	}
	return 0, nil, discordUnknownMember
}

func cutService(key, service string) (string, bool) {
	if len(key) <= len(service) || key[:len(service)] != service {
		return "", false
	}
	return key[len(service)+1:], true
}

// telegramStatus is a member's standing in a chat.
func (w *telegramWorld) telegramStatus(chat int64, m Member) string {
	if w.s.grouped("telegram", strconv.FormatInt(chat, 10), m) {
		return "administrator"
	}
	return "member"
}
