package discord

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// applicationsAPI has the routes of the application and of its bot user.
type applicationsAPI struct{ *guild }

func (api applicationsAPI) me(*call) (int, any, *failure) { return 200, botJSON(), nil }

func (api applicationsAPI) application(c *call) (int, any, *failure) {
	var endpoint any
	if c.endpoint {
		endpoint = "https://elsewhere.example.com/interactions"
	} else if api.opts.URL != "" {
		endpoint = api.opts.URL
	}
	return 200, raw.Object{
		"interactions_endpoint_url": endpoint, "id": Application, "name": "nod", "flags": 0,
		"verify_key": fmt.Sprintf("%x", api.publicKey()), "bot": botJSON(), "description": "", "icon": nil, "summary": "",
		"bot_public": false, "bot_require_code_grant": false, "team": nil, "flags_new": "0",
	}, nil
}

var commandName = regexp.MustCompile(`^[-_a-z0-9]{1,32}$`)

// postCommand creates an application command, or updates the one of its name.
func (api applicationsAPI) postCommand(c *call) (int, any, *failure) {
	if c.PathValue("app") != Application {
		return 0, nil, notFound
	}
	name := raw.Str(c.args, "name")
	if !commandName.MatchString(name) {
		return 0, nil, invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
	if d := raw.Str(c.args, "description"); d == "" || raw.Runes(d) > maxCommandDescription {
		return 0, nil, badLength("description", 1, maxCommandDescription)
	}
	if len(raw.List(c.args, "options")) > maxCommandOptions {
		return 0, nil, invalid("options", "BASE_TYPE_BAD_LENGTH",
			fmt.Sprintf("Must be %d or fewer in length.", maxCommandOptions))
	}
	status := 201
	if api.commands[name] != nil {
		status = 200
	}
	command := raw.Copy(c.args)
	maps.Copy(command, raw.Object{
		"id": api.snowflake(), "application_id": Application, "version": api.snowflake(), "type": 1,
		"default_member_permissions": command["default_member_permissions"],
	})
	api.commands[name] = command
	return status, command, nil
}

func (api applicationsAPI) putCommands(c *call) (int, any, *failure) {
	out := []any{}
	for _, o := range raw.Objects(c.args, "") {
		if o == nil {
			return 0, nil, invalid("0", "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
		}
		o["id"], o["application_id"], o["version"] = api.snowflake(), c.PathValue("app"), "1"
		api.commands[raw.Str(o, "name")] = o
		out = append(out, o)
	}
	return 200, out, nil
}
