package sandbox

import (
	"fmt"
	"regexp"
	"strings"
)

var discordCommandName = regexp.MustCompile(`^[-_a-z0-9]{1,32}$`)

// postCommand creates an application command, or updates the one of its name.
func (w *discordWorld) postCommand(c *discordCall) (int, any, *discordFailure) {
	if c.PathValue("app") != DiscordApplication {
		return 0, nil, discordNotFound
	}
	name := str(c.args, "name")
	if !discordCommandName.MatchString(name) {
		return 0, nil, discordInvalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
	if d := str(c.args, "description"); d == "" || runes(d) > 100 {
		return 0, nil, discordInvalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	if len(list(c.args, "options")) > 25 {
		return 0, nil, discordInvalid("options", "BASE_TYPE_BAD_LENGTH", "Must be 25 or fewer in length.")
	}
	status := 201
	if w.commands[name] != nil {
		status = 200
	}
	command := cloneObject(c.args)
	command["id"], command["application_id"] = w.snowflake(), DiscordApplication
	w.commands[name] = command
	return status, command, nil
}

// command uses an application command: "/name subcommand". The caller holds mu.
func (w *discordWorld) command(m Member, a Action) (object, *discordInteraction, error) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(a.Text, "/"), " ")
	sub, value, given := strings.Cut(rest, " ")
	command, ch := w.commands[name], w.channels[a.Channel]
	if command == nil || ch == nil {
		return nil, nil, fmt.Errorf("discord: there is no command %q in %q", a.Text, a.Channel)
	}
	data := object{"id": command["id"], "name": name, "type": 1}
	if options := list(command, "options"); len(options) > 0 {
		var chosen object
		for _, o := range options {
			if oo, _ := o.(object); str(oo, "name") == sub {
				chosen = oo
			}
		}
		if chosen == nil {
			return nil, nil, fmt.Errorf("discord: /%s has no %q", name, sub)
		}
		values, wanted := []any{}, list(chosen, "options")
		if given != (len(wanted) > 0) { // one required text at most: the client sends nothing else
			return nil, nil, fmt.Errorf("discord: /%s %s takes %d values", name, sub, len(wanted))
		}
		for _, o := range wanted {
			oo, _ := o.(object)
			values = append(values, object{"name": str(oo, "name"), "type": 3, "value": value})
		}
		data["options"] = []any{object{"name": sub, "type": 1, "options": values}}
	}
	i := w.begin(m, ch.ID, "", 2)
	return w.payload(m, i, ch, data, nil), i, nil
}
