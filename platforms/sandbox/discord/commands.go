package discord

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// commandsAPI has the routes of application commands, global ones and those of
// the guild: docs.discord.com/developers/interactions/application-commands.
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

// scope returns the commands of a route: those of the guild that it names, or
// the global ones. Commands are by ID.
func (api commandsAPI) scope(c *call) (map[string]raw.Object, *failure) {
	switch {
	case c.PathValue("app") != Application:
		return nil, notFound
	case c.PathValue("guild") == "":
		return api.commands, nil
	case c.PathValue("guild") == Guild:
		return api.guildCommands, nil
	}
	return nil, unknownGuild
}

func named(commands map[string]raw.Object, name string, kind int) raw.Object {
	for _, c := range commands {
		if raw.Str(c, "name") == name && raw.Int(c["type"]) == kind {
			return c
		}
	}
	return nil
}

// checkCommand checks a command and returns it with its defaults.
func checkCommand(at string, o raw.Object) (raw.Object, *failure) {
	if o == nil {
		return nil, invalid(strings.TrimSuffix(at, "."), "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
	}
	o = raw.Copy(o)
	if _, given := raw.Number(o, "type"); !given {
		o["type"] = 1.
	}
	name := raw.Str(o, "name")
	if raw.Int(o["type"]) != 1 { // a command of a menu has neither a description nor options
		if l := raw.Runes(name); l < 1 || l > 32 {
			return nil, badLength(at+"name", 1, 32)
		}
		o["description"] = ""
		return o, nil
	}
	if !commandName.MatchString(name) || strings.ToLower(name) != name {
		return nil, invalid(at+"name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
	return o, checkOptions(at, o, 0)
}

// checkOptions checks the description and the options of a command, a group or
// a subcommand. In is the kind of the option that holds them, or 0.
func checkOptions(at string, o raw.Object, in int) *failure {
	if d := raw.Str(o, "description"); d == "" || raw.Runes(d) > maxCommandDescription {
		return badLength(at+"description", 1, maxCommandDescription)
	}
	options := raw.Objects(o, "options")
	if len(options) > maxCommandOptions {
		return invalid(at+"options", "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxCommandOptions))
	}
	optional := false
	for n, opt := range options {
		at := fmt.Sprintf("%soptions.%d.", at, n)
		if bad := checkOption(at, opt, in); bad != nil {
			return bad
		}
		if optional && opt["required"] == true {
			return invalid(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
				"Required options must be placed before non-required options")
		}
		same := func(x raw.Object) bool { return raw.Str(x, "name") == raw.Str(opt, "name") }
		if slices.ContainsFunc(options[:n], same) {
			return invalid(at, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
		}
		optional = optional || kindOf(opt) > subcommandGroup && opt["required"] != true
	}
	return nil
}

// checkOption checks one option and those inside it.
func checkOption(at string, o raw.Object, in int) *failure {
	kind, name := kindOf(o), raw.Str(o, "name")
	switch {
	case !fits(kind, in):
		return invalid(at+"type", "BASE_TYPE_CHOICES", "Value must be one of the option types that fit here.")
	case !commandName.MatchString(name) || strings.ToLower(name) != name:
		return invalid(at+"name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	case o["autocomplete"] == true && len(raw.List(o, "choices")) > 0:
		return invalid(at, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE",
			"Options with choices cannot use autocomplete")
	}
	return checkOptions(at, o, kind)
}

// fits reports whether an option of a kind may be in one of another kind. The
// command itself has the kind 0.
func fits(kind, in int) bool {
	switch kind {
	case subcommand:
		return in == 0 || in == subcommandGroup
	case subcommandGroup:
		return in == 0
	}
	return kind >= stringOption && kind <= attachmentKind && in != subcommandGroup
}

// put stores a command under the ID of the command that it replaces.
func (api commandsAPI) put(c *call, commands map[string]raw.Object, o raw.Object) (status int) {
	status = 201
	o["id"] = api.snowflake()
	if old := named(commands, raw.Str(o, "name"), raw.Int(o["type"])); old != nil {
		status, o["id"] = 200, old["id"]
	}
	o["application_id"], o["version"] = Application, api.snowflake()
	if _, given := o["default_member_permissions"]; !given {
		o["default_member_permissions"] = nil
	}
	if id := c.PathValue("guild"); id != "" {
		o["guild_id"] = id
	}
	commands[raw.Str(o, "id")] = o
	return status
}

// post creates a command, or updates the one of its name.
func (api commandsAPI) post(c *call) (int, any, *failure) {
	commands, bad := api.scope(c)
	if bad != nil {
		return 0, nil, bad
	}
	o, bad := checkCommand("", c.args)
	if bad != nil {
		return 0, nil, bad
	}
	if len(commands) >= maxCommands && named(commands, raw.Str(o, "name"), raw.Int(o["type"])) == nil {
		return 0, nil, &failure{400, 30032, "Maximum number of application commands reached (100).", nil}
	}
	return api.put(c, commands, o), raw.Clone(o), nil
}

// overwrite replaces every command of a scope.
func (api commandsAPI) overwrite(c *call) (int, any, *failure) {
	commands, bad := api.scope(c)
	if bad != nil {
		return 0, nil, bad
	}
	var next []raw.Object
	for n, o := range raw.Objects(c.args, "") {
		o, bad := checkCommand(strconv.Itoa(n)+".", o)
		if bad != nil {
			return 0, nil, bad
		}
		next = append(next, o)
	}
	old := maps.Clone(commands)
	clear(commands)
	out := []any{}
	for _, o := range next {
		if was := named(old, raw.Str(o, "name"), raw.Int(o["type"])); was != nil {
			commands[raw.Str(was, "id")] = was
		}
		api.put(c, commands, o)
		out = append(out, raw.Clone(o))
	}
	return 200, out, nil
}

func (api commandsAPI) list(c *call) (int, any, *failure) {
	commands, bad := api.scope(c)
	if bad != nil {
		return 0, nil, bad
	}
	out := []any{}
	for _, id := range slices.Sorted(maps.Keys(commands)) {
		out = append(out, raw.Clone(commands[id]))
	}
	return 200, out, nil
}

// one finds the command of a request.
func (api commandsAPI) one(c *call) (map[string]raw.Object, raw.Object, *failure) {
	commands, bad := api.scope(c)
	if bad != nil {
		return nil, nil, bad
	}
	if o := commands[c.PathValue("command")]; o != nil {
		return commands, o, nil
	}
	return nil, nil, unknownCommand
}

func (api commandsAPI) get(c *call) (int, any, *failure) {
	_, o, bad := api.one(c)
	if bad != nil {
		return 0, nil, bad
	}
	return 200, raw.Clone(o), nil
}

func (api commandsAPI) edit(c *call) (int, any, *failure) {
	commands, old, bad := api.one(c)
	if bad != nil {
		return 0, nil, bad
	}
	next := raw.Copy(old)
	maps.Copy(next, c.args)
	o, bad := checkCommand("", next)
	if bad != nil {
		return 0, nil, bad
	}
	o["id"], o["version"] = old["id"], api.snowflake()
	commands[raw.Str(old, "id")] = o
	return 200, raw.Clone(o), nil
}

func (api commandsAPI) delete(c *call) (int, any, *failure) {
	commands, o, bad := api.one(c)
	if bad != nil {
		return 0, nil, bad
	}
	delete(commands, raw.Str(o, "id"))
	return 204, nil, nil
}
