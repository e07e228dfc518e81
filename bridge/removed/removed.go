// Package removed lists the removed settings, commands, flags and API fields of
// nod, with their replacements. It has no behavior of its own: config, the
// command line and the API look a name up before they report it as unknown.
// Rows stay for one version after the removal. Start with the table names.
package removed

import "strings"

// Kind is the kind of a removed name.
type Kind string

// Kinds of names.
const (
	Setting Kind = "setting" // the path as in docs/configuration.md, such as oncall.NAME.opsgenie
	Command Kind = "command" // the words after nod, such as "channel mute"
	Flag    Kind = "flag"    // the command and the flag, such as "hook --batch", or only the flag if every command lost it
	Field   Kind = "field"   // the path in a JSON body without indexes, or an option in a query, such as batch
	Value   Kind = "value"   // the path of the setting and its value, such as "routes.NAME.preview: action"
	Route   Kind = "route"   // method and path of the API, such as "GET /v1/coverage"
)

// A Name is one removed name.
type Name struct {
	Kind Kind
	Name string
	// Instead is an instruction that starts with a verb, such as "use nod
	// sessions stop".
	Instead string
	// Value reports whether a flag took a value.
	Value bool
	// Runs is the command that nod runs in place of a removed one, because
	// services and settings of agents start it. Most commands have none.
	Runs string
}

// names lists all removed names. A row also covers everything below a setting,
// command or field.
var names = []Name{
	{Kind: Flag, Name: "--batch", Instead: "leave it out; each approval has its own card, and a plan, a rule or a grant covers many actions", Value: true},
	{Kind: Field, Name: "batch", Instead: "leave it out; each approval has its own card, and a plan, a rule or a grant covers many actions"},
	{Kind: Setting, Name: "routes.NAME.escalate_to", Instead: "add a step with this route under routes.NAME.escalation"},
	{Kind: Value, Name: "routes.NAME.preview: action", Instead: "write preview: none"},
	{Kind: Setting, Name: "oncall.NAME.opsgenie", Instead: "use a calendar feed under ical, or pagerduty, goalert or rotation"},
	{Kind: Setting, Name: "oncall.NAME.grafana", Instead: "use a calendar feed under ical, or pagerduty, goalert or rotation"},
	{Kind: Setting, Name: "risks[].step_up.method", Instead: "write step_up: passkey"},
	{Kind: Setting, Name: "risks[].step_up.approvals", Instead: "write step_up: passkey, which applies to every approval of the quorum"},
	{Kind: Setting, Name: "risks[].step_up.fallback", Instead: "write step_up: passkey; one-time codes are not accepted"},
	{Kind: Setting, Name: "policy[].step_up.method", Instead: "write step_up: passkey"},
	{Kind: Setting, Name: "policy[].step_up.approvals", Instead: "write step_up: passkey, which applies to every approval of the quorum"},
	{Kind: Setting, Name: "policy[].step_up.fallback", Instead: "write step_up: passkey; one-time codes are not accepted"},
	{Kind: Setting, Name: "routes.NAME.step_up.method", Instead: "write step_up: passkey"},
	{Kind: Setting, Name: "routes.NAME.step_up.approvals", Instead: "write step_up: passkey, which applies to every approval of the quorum"},
	{Kind: Setting, Name: "routes.NAME.step_up.fallback", Instead: "write step_up: passkey; one-time codes are not accepted"},
	{Kind: Command, Name: "bench", Instead: "run make bench in a clone of the repository"},
	{Kind: Command, Name: "backup", Instead: "save an RDB file with redis-cli --rdb FILE; see docs/operate/backup.md"},
	{Kind: Command, Name: "restore", Instead: "start Redis with the RDB file of a backup; see docs/operate/backup.md"},
	{Kind: Command, Name: "codex", Instead: "use nod proxy codex", Runs: "proxy codex"},
	{Kind: Command, Name: "coverage", Instead: "use nod doctor --agents"},
	{Kind: Command, Name: "manifest", Instead: "use nod config manifest"},
	{Kind: Command, Name: "messages", Instead: "use nod sessions messages SESSION"},
	{Kind: Command, Name: "resume", Instead: "use nod sessions resume"},
	{Kind: Command, Name: "steer", Instead: "use nod sessions steer"},
	{Kind: Command, Name: "stop", Instead: "use nod sessions stop"},
	{Kind: Command, Name: "token", Instead: "use nod config token"},
	{Kind: Flag, Name: "proxy codex --only-chat", Instead: "omit it: answer in chat or in the editor"},
	{Kind: Route, Name: "GET /v1/coverage", Instead: "run nod doctor --json on the machine of the agent"},
	{Kind: Route, Name: "PUT /v1/coverage", Instead: "run nod doctor --json on the machine of the agent"},
	{Kind: Setting, Name: "redis.partitions", Instead: "remove it: the number is fixed"},
	{Kind: Setting, Name: "redis.addrs", Instead: "list the hosts in redis.url, such as redis://s1:26379,s2:26379"},
	{Kind: Setting, Name: "redis.master_name", Instead: "add ?master_name=NAME to redis.url"},
	{Kind: Setting, Name: "redis.username", Instead: "put the user into redis.url, such as redis://nod@127.0.0.1:6379/0"},
	{Kind: Setting, Name: "slack.pacing", Instead: "remove it: nod always keeps within the rate limits"},
	{Kind: Setting, Name: "discord.pacing", Instead: "remove it: nod always keeps within the rate limits"},
	{Kind: Setting, Name: "telegram.pacing", Instead: "remove it: nod always keeps within the rate limits"},
	{Kind: Setting, Name: "slack.api_url", Instead: "set sandbox to the URL of nod sandbox"},
	{Kind: Setting, Name: "discord.api_url", Instead: "set sandbox to the URL of nod sandbox"},
	{Kind: Setting, Name: "telegram.webhook_secret", Instead: "remove it: nod derives the secret from telegram.bot_token"},
	{Kind: Setting, Name: "people.NAME.token_hashes", Instead: "put the hashes into token, separated by commas"},
	{Kind: Setting, Name: "agents.NAME.token_hashes", Instead: "put the hashes into token, separated by commas"},
	{Kind: Setting, Name: "agents.NAME.max_bytes", Instead: "remove it: docs/limits.md has the size of a request"},
	{Kind: Setting, Name: "identity.remembered", Instead: "remove it: nod asks a platform again after 20 seconds"},
	{Kind: Setting, Name: "routes.NAME.notice_sound", Instead: "remove it: send a question or an approval to notify people"},
	{Kind: Setting, Name: "traces.sample", Instead: "set the environment variables OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG"},
	{Kind: Flag, Name: "version --sbom", Instead: "read the file nod_VERSION.cdx.json of the release, or run go version -m on the program"},
	{Kind: Command, Name: "channel", Instead: "set who answers, and where, in the route: see routes in the config"},
	{Kind: Route, Name: "PUT /v1/channels/mode", Instead: "set who answers, and where, in the route: see routes in the config"},
}

// Instead returns the replacement of the name, and reports whether the name was
// removed. For a flag, it also finds the row that applies to every command.
func Instead(kind Kind, name string) (string, bool) {
	n, ok := Find(kind, name)
	return n.Instead, ok
}

// Find returns the row of a removed name, and reports whether there is one. For
// a flag, it also finds the row that applies to every command.
func Find(kind Kind, name string) (Name, bool) {
	if kind == Flag {
		command, flag, _ := cutLast(name, " ")
		for ; command != ""; command, _, _ = cutLast(command, " ") {
			if n, ok := lookup(kind, command+" "+flag); ok {
				return n, true
			}
		}
		return lookup(kind, flag)
	}
	for ; name != ""; name = parent(kind, name) {
		if n, ok := lookup(kind, name); ok {
			return n, true
		}
	}
	return Name{}, false
}

// Cut returns the words of a command line after nod without the removed flags,
// and the rows of these flags. It leaves the words after "--" unchanged. takes
// reports whether an existing flag takes a value, which Cut then does not read
// as a flag.
func Cut(words []string, takes func(flag string) bool) (kept []string, gone []Name) {
	command := 0
	for command < len(words) && !strings.HasPrefix(words[command], "-") {
		command++
	}
	path := strings.Join(words[:command], " ")
	for n := 0; n < len(words); n++ {
		word := words[n]
		if word == "--" {
			return append(kept, words[n:]...), gone
		}
		flag, _, joined := strings.Cut(word, "=")
		follows := !joined && n+1 < len(words)
		row, old := Name{}, false
		if strings.HasPrefix(flag, "--") {
			row, old = Find(Flag, path+" "+flag)
		}
		switch {
		case old:
			gone = append(gone, row)
			if row.Value && follows && !strings.HasPrefix(words[n+1], "-") {
				n++
			}
		case follows && strings.HasPrefix(flag, "--") && takes(strings.TrimPrefix(flag, "--")):
			kept = append(kept, word, words[n+1])
			n++
		default:
			kept = append(kept, word)
		}
	}
	return kept, gone
}

// All returns every removed name of a kind, for tests and documentation.
func All(kind Kind) []Name {
	var found []Name
	for _, n := range names {
		if n.Kind == kind {
			found = append(found, n)
		}
	}
	return found
}

func lookup(kind Kind, name string) (Name, bool) {
	for _, n := range names {
		if n.Kind == kind && n.Name == name {
			return n, true
		}
	}
	return Name{}, false
}

// parent returns the name of the setting, command or field that contains the
// name, or "".
func parent(kind Kind, name string) string {
	switch kind {
	case Setting, Field:
		above, _, _ := cutLast(name, ".")
		return above
	case Command:
		above, _, _ := cutLast(name, " ")
		return above
	}
	return ""
}

// cutLast splits s at the last separator. Without one, before is empty.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}
