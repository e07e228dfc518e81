package discord

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// mentionShape is allowed_mentions. Its lists are sets:
// docs.discord.com/developers/resources/message, discord/discord-api-docs#5484.
var mentionShape = shape{
	{"parse", each(mentionable)}, {"parse", set},
	{"users", between(0, maxMentions, snowflake)}, {"users", set}, exclusive("users"),
	{"roles", between(0, maxMentions, snowflake)}, {"roles", set}, exclusive("roles"),
}

var set = unique("", "", "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains this value")

var mentionable = that(func(v any) bool { return v == "users" || v == "roles" || v == "everyone" }, "", "BASE_TYPE_CHOICES",
	"Value must be one of {'users', 'roles', 'everyone'}.")

func snowflake(c *checker, at string, v any) {
	if id, _ := v.(string); !snowflakeLike.MatchString(id) {
		c.fail(at, "NUMBER_TYPE_COERCE", "Value %q is not snowflake.", fmt.Sprint(v))
	}
}

// exclusive returns the condition that a message does not name both a kind and
// members of that kind.
func exclusive(kind string) field {
	return holds(func(o raw.Object) bool {
		return len(raw.List(o, kind)) == 0 || !slices.Contains(raw.List(o, "parse"), any(kind))
	}, "", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[%q] and %s: [ids...] are mutually exclusive.", kind, kind)
}

var snowflakeLike = lazyregexp.New(`^[0-9]{1,20}$`)

// allows returns a function that reports whether a request lets a message ping
// a user or a role. Without allowed_mentions, the message may ping everyone in
// its text. Edits follow the same rule.
func allows(args raw.Object) func(kind, id string) bool {
	allowed, given := args["allowed_mentions"].(raw.Object)
	return func(kind, id string) bool {
		return !given || slices.Contains(raw.List(allowed, "parse"), any(kind)) ||
			id != "" && slices.Contains(raw.List(allowed, kind), any(id))
	}
}

// mention records the users and roles that the message pings.
func (e *Emulator) mention(m, args raw.Object) {
	may := allows(args)
	said := shownText(m)
	m["mentions"], m["mention_roles"], m["mention_everyone"] = []any{}, []any{}, false
	if may("everyone", "") && (strings.Contains(said, "@everyone") || strings.Contains(said, "@here")) {
		m["mention_everyone"] = true
	}
	original := raw.Sub(m, "referenced_message")
	allowed := raw.Sub(args, "allowed_mentions")
	answers := original != nil && (allowed == nil || allowed["replied_user"] == true)
	for _, p := range e.Members {
		named := (strings.Contains(said, "<@"+p.ID+">") || strings.Contains(said, "<@!"+p.ID+">")) && may("users", p.ID)
		if named || answers && author(original) == p.ID {
			m["mentions"] = append(raw.List(m, "mentions"), userJSON(p))
		}
	}
	for _, r := range e.roles() {
		if id := raw.Str(r, "id"); r["mentionable"] == true && strings.Contains(said, "<@&"+id+">") && may("roles", id) {
			m["mention_roles"] = append(raw.List(m, "mention_roles"), id)
		}
	}
}

// shownText returns the part of a message's text that can ping.
func shownText(m raw.Object) string {
	said := raw.Str(m, "content")
	for _, o := range components(raw.List(m, "components")) {
		if kindOf(o) == textDisplay {
			said += "\n" + raw.Str(o, "content")
		}
	}
	return said
}

// announce records the text of the notification of a new message. A message
// with components has no such text: discord/discord-api-docs#7854.
func announce(m raw.Object) {
	if flags(m)&quiet == 0 {
		m["push"] = raw.Str(m, "content")
	}
}
