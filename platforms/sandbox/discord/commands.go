package discord

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// commandsAPI has the route of application commands:
// docs.discord.com/developers/interactions/application-commands.
type commandsAPI struct{ *guild }

// Kinds of options of a command.
const (
	subcommand      = 1
	subcommandGroup = 2
	stringOption    = 3
	integerOption   = 4
	booleanOption   = 5
	userOption      = 6
	channelOption   = 7
	roleOption      = 8
	numberOption    = 10
	attachmentKind  = 11
)

var commandName = lazyregexp.New(`^[-_'\p{L}\p{N}]{1,32}$`)

// registered returns the command with a name and a kind, or nil.
func (g *guild) registered(name string, kind int) raw.Object {
	for _, c := range g.commands {
		if raw.Str(c, "name") == name && raw.Int(c["type"]) == kind {
			return c
		}
	}
	return nil
}

// commandShape is a chat command, and menuShape is a menu command.
var (
	commandShape = shape{{"name", commandNamed}, whole(func(c *checker, at string, o raw.Object) { c.options(at, o, 0) })}
	menuShape    = shape{{"name", text(1, 32)}}
)

func commandNamed(c *checker, at string, v any) {
	if name, _ := v.(string); !commandName.MatchString(name) || strings.ToLower(name) != name {
		c.fail(at, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

// options checks the description and the options of a command, a group or a
// subcommand. Holder is the kind of the option that contains them, or 0.
func (c *checker) options(at string, o raw.Object, holder int) {
	optional := false
	shape{{"description", text(1, maxCommandDescription)}, {"options", atMost(maxCommandOptions, object(func(c *checker, at string, opt raw.Object) {
		kind := kindOf(opt)
		if !fits(kind, holder) {
			c.fail(at+".type", "BASE_TYPE_CHOICES", "Value must be one of the option types that fit here.")
		}
		commandNamed(c, at+".name", opt["name"])
		if opt["autocomplete"] == true && len(raw.List(opt, "choices")) > 0 {
			c.fail(at, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE", "Options with choices cannot use autocomplete")
		}
		c.options(at, opt, kind)
		if optional && opt["required"] == true {
			c.fail(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || kind > subcommandGroup && opt["required"] != true
	}))}, {"options", unique("name", "", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")}}.rule(c, at, o)
}

// fits reports whether an option of a kind may be in an option of another kind.
// The command itself has the kind 0.
func fits(kind, in int) bool {
	switch kind {
	case subcommand:
		return in == 0 || in == subcommandGroup
	case subcommandGroup:
		return in == 0
	}
	return kind >= stringOption && kind <= attachmentKind && in != subcommandGroup
}

// post creates a command, or updates the command with its name.
func (api commandsAPI) post(c *call) (int, any, *failure) {
	if c.PathValue("app") != Application {
		return 0, nil, notFound
	}
	o, shape := raw.Copy(c.args), commandShape
	if _, given := raw.Number(o, "type"); !given {
		o["type"] = 1.
	}
	if kindOf(o) != 1 { // a menu command has neither a description nor options
		o["description"], shape = "", menuShape
	}
	if bad := shape.check("", o, false); bad != nil {
		return 0, nil, bad
	}
	status, old := 200, api.registered(raw.Str(o, "name"), kindOf(o))
	switch {
	case old != nil:
		o["id"] = old["id"]
	case len(api.commands) >= maxCommands:
		return 0, nil, &failure{400, 30032, "Maximum number of application commands reached (100).", nil}
	default:
		status, o["id"] = 201, api.snowflake()
	}
	o["application_id"], o["version"] = Application, api.snowflake()
	if _, given := o["default_member_permissions"]; !given {
		o["default_member_permissions"] = nil
	}
	api.commands[raw.Str(o, "id")] = o
	return status, raw.Clone(o), nil
}
