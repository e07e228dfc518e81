package discord

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// checkMentions checks allowed_mentions: docs.discord.com/developers/resources/message.
func checkMentions(args raw.Object) *failure {
	given, set := args["allowed_mentions"]
	if !set || given == nil {
		return nil
	}
	allowed, ok := given.(raw.Object)
	if !ok {
		return invalid("allowed_mentions", "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
	}
	parse := raw.List(allowed, "parse")
	for n, v := range parse {
		if v != "users" && v != "roles" && v != "everyone" {
			return invalid("allowed_mentions.parse."+strconv.Itoa(n), "BASE_TYPE_CHOICES",
				"Value must be one of {'users', 'roles', 'everyone'}.")
		}
	}
	if bad := checkSet("allowed_mentions.parse", parse); bad != nil {
		return bad
	}
	for _, kind := range []string{"users", "roles"} {
		ids := raw.List(allowed, kind)
		if len(ids) > maxMentions {
			return invalid("allowed_mentions."+kind, "BASE_TYPE_BAD_LENGTH",
				fmt.Sprintf("Must be between 0 and %d in length.", maxMentions))
		}
		for n, id := range ids {
			if s, _ := id.(string); !snowflakeLike.MatchString(s) {
				return invalid(fmt.Sprintf("allowed_mentions.%s.%d", kind, n), "NUMBER_TYPE_COERCE",
					fmt.Sprintf("Value %q is not snowflake.", fmt.Sprint(id)))
			}
		}
		if bad := checkSet("allowed_mentions."+kind, ids); bad != nil {
			return bad
		}
		if len(ids) > 0 && slices.Contains(parse, any(kind)) {
			return invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				fmt.Sprintf("parse:[%q] and %s: [ids...] are mutually exclusive.", kind, kind))
		}
	}
	return nil
}

// checkSet refuses a list that has a value twice: discord/discord-api-docs#5484.
func checkSet(at string, values []any) *failure {
	for n, v := range values {
		if slices.Contains(values[:n], v) {
			return invalid(fmt.Sprintf("%s.%d", at, n), "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains this value")
		}
	}
	return nil
}

var snowflakeLike = lazyregexp.New(`^[0-9]{1,20}$`)

// allows returns a function that reports whether a request lets a message ping
// a user or a role. Without allowed_mentions, it may ping everyone in its text.
// This also holds for edits.
func allows(args raw.Object) func(kind, id string) bool {
	allowed, given := args["allowed_mentions"].(raw.Object)
	return func(kind, id string) bool {
		return !given || slices.Contains(raw.List(allowed, "parse"), any(kind)) ||
			id != "" && slices.Contains(raw.List(allowed, kind), any(id))
	}
}

// mention records whom the message pings.
func (g *guild) mention(m, args raw.Object) {
	may := allows(args)
	said := shownText(m)
	m["mentions"], m["mention_roles"], m["mention_everyone"] = []any{}, []any{}, false
	if may("everyone", "") && (strings.Contains(said, "@everyone") || strings.Contains(said, "@here")) {
		m["mention_everyone"] = true
	}
	original := raw.Sub(m, "referenced_message")
	allowed := raw.Sub(args, "allowed_mentions")
	answers := original != nil && (allowed == nil || allowed["replied_user"] == true)
	for _, p := range g.Members {
		named := (strings.Contains(said, "<@"+p.ID+">") || strings.Contains(said, "<@!"+p.ID+">")) && may("users", p.ID)
		if named || answers && raw.Str(raw.Sub(original, "author"), "id") == p.ID {
			m["mentions"] = append(raw.List(m, "mentions"), userJSON(p))
		}
	}
	for _, r := range g.roles() {
		if id := raw.Str(r, "id"); r["mentionable"] == true && strings.Contains(said, "<@&"+id+">") && may("roles", id) {
			m["mention_roles"] = append(raw.List(m, "mention_roles"), id)
		}
	}
}

// shownText returns the text of a message that can ping.
func shownText(m raw.Object) string {
	said := raw.Str(m, "content")
	for _, o := range components(raw.List(m, "components")) {
		if kindOf(o) == textDisplay {
			said += "\n" + raw.Str(o, "content")
		}
	}
	return said
}

// announce records what the notification of a new message says. Messages made
// of components have none: discord/discord-api-docs#7854.
func announce(m raw.Object) {
	if flags(m)&quiet == 0 {
		m["push"] = raw.Str(m, "content")
	}
}
